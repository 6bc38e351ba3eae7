/** Texts of handing a payment application over to another owner. */
import type { Texts } from '../../web/languages.ts'

export const handover = {
  title: { en: 'Hand over the application', zh: '移交应用' },
  lead: {
    en: 'Another member can become the owner of this application. You offer it, and they have seven days to accept. Until then nothing changes.',
    zh: '可以让另一位成员成为此应用的所有者：由你提出，对方在七天内接受；在此之前一切照旧。',
  },
  offered: (owner: string) => ({
    en: `@${owner} offers you this application: you would be its owner.`,
    zh: `@${owner} 希望把此应用移交给你，由你成为所有者。`,
  }),
  happens: { en: 'What happens', zh: '移交的影响' },
  consequences: [
    {
      en: 'From then on, payments go to the new owner’s wallet, and transfers through the API are paid from it.',
      zh: '自接受之时起，收款进入新所有者的钱包，接口转账也从其钱包支付。',
    },
    {
      en: 'Earlier payments stay with the former owner. If an administrator refunds one of them, it is taken from the former owner’s wallet.',
      zh: '此前的收款仍归原所有者。若管理员退还这类付款，将从原所有者的钱包扣除。',
    },
    {
      en: 'The keys stay valid, so the shop keeps working. The former owner knows them, so transfers through the API wait until the new owner has replaced the token. With those keys, lists and counts end at the hand-over, and no balance is shown. A query that names an order is still answered, because the shop needs it to deliver.',
      zh: '密钥继续有效，商店不受影响。原所有者知道这些密钥：在新所有者更换 Token 之前，接口不能转账。用这些密钥查询时，列表和统计只含移交之前的内容，也不显示余额；指明订单号的查询仍会返回结果，因为商店要据此发货。',
    },
    {
      en: 'Events are switched off, and their secrets end. The new owner enters an address of their own.',
      zh: '事件会停用，其密钥随之失效，由新所有者另行设置地址。',
    },
    {
      en: 'The former owner no longer has a role, and the team is dissolved. The new owner invites a new team. Transfers follow the new owner’s trust level.',
      zh: '原所有者不再担任任何角色，团队也随之解散，由新所有者重新邀请。转账按新所有者的信任等级执行。',
    },
    {
      en: 'The pay page no longer shows “Approved by staff” until an administrator approves the application again. Sales continue.',
      zh: '管理员重新审核前，付款页不显示“已通过审核”；照常收款。',
    },
    { en: 'Its test application is handed over too.', zh: '对应的测试应用随之一并移交。' },
  ],
  look: { en: 'View the offer', zh: '查看移交请求' },
  goodUntil: { en: 'The offer expires', zh: '有效期至' },
  accept: { en: 'Become the owner', zh: '成为所有者' },
  waiting: (name: string) => ({
    en: `Offered to @${name}, who has not accepted yet.`,
    zh: `已向 @${name} 提出，对方尚未接受。`,
  }),
  withdraw: { en: 'Withdraw the offer', zh: '撤回' },
  offer: { en: 'Offer the application', zh: '提出移交' },
  offerHint: {
    en: 'The username of the new owner. A new offer replaces an earlier one.',
    zh: '填写新所有者的用户名。新的请求会取代之前的请求。',
  },
  ask: {
    title: (app: string, name: string) => ({
      en: `Offer ${app} to @${name}?`,
      zh: `将 ${app} 移交给 @${name}？`,
    }),
    owner: { en: 'New owner', zh: '新所有者' },
    answer: { en: 'Time to accept', zh: '接受期限' },
    days: { en: '7 days', zh: '7 天' },
  },
  done: {
    offered: (name: string) => ({
      en: `Offered to @${name}. Nothing changes before they accept.`,
      zh: `已向 @${name} 提出移交。对方接受之前一切照旧。`,
    }),
    withdrawn: { en: 'The offer is withdrawn. You stay the owner.', zh: '已撤回，你仍是所有者。' },
    accepted: (app: string) => ({
      en: `You are the owner of ${app}. Replace its token now: the former owner knows it.`,
      zh: `你已成为 ${app} 的所有者。请立即更换 Token：原所有者知道它。`,
    }),
    declined: (app: string) => ({
      en: `You have declined to take over ${app}.`,
      zh: `你已拒绝接手 ${app}。`,
    }),
  },
  suspended: { en: 'A suspended application cannot be handed over.', zh: '已停用的应用不能移交。' },
  faults: {
    unknown: (_level: number) => ({
      en: 'There is no member with this username who can own it.',
      zh: '没有可以移交的同名成员。',
    }),
    self: (_level: number) => ({ en: 'You already own it.', zh: '你已是所有者。' }),
    trust_level: (level: number) => ({
      en: `Owning it needs trust level ${level}.`,
      zh: `成为所有者需要信任等级 ${level}。`,
    }),
  },
} satisfies Texts
