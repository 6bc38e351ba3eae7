/** Texts of handing a payment application over to another owner. */
import type { Texts } from '../../web/languages.ts'

export const handover = {
  title: { en: 'Hand the application over', zh: '移交应用' },
  lead: {
    en: 'Another member can become the owner of this application. You offer it, they accept it within seven days, and until then everything stays as it is.',
    zh: '可以让另一位成员成为此应用的所有者：由你提出，对方在七天内接受；在此之前一切照旧。',
  },
  offered: (owner: string) => ({
    en: `@${owner} offers you this application: you would be its owner.`,
    zh: `@${owner} 希望把此应用移交给你，由你成为所有者。`,
  }),
  consequences: [
    {
      en: 'From the moment it is accepted, payments go to the new owner’s wallet, and transfers through the API are paid from it.',
      zh: '自接受之时起，收款进入新所有者的钱包，接口转账也从其钱包支付。',
    },
    {
      en: 'What was paid before stays with the former owner. If an administrator gives such a payment back, it is taken from the former owner’s wallet.',
      zh: '此前的收款仍归原所有者。若管理员退还这类付款，将从原所有者的钱包扣除。',
    },
    {
      en: 'Keys stay valid, so the shop goes on. The former owner knows them: transfers through the API wait until the new owner has replaced the token. By such keys, lists and counts tell only what was before, and no balance is told. An order that is named is told, because the shop asks about its orders.',
      zh: '密钥继续有效，商店不受影响。原所有者知道这些密钥：在新所有者更换 Token 之前，接口不能转账。用这些密钥查询时，列表和统计只含移交之前的内容，也不显示余额；指明单号的订单仍可查询，因为商店要据此发货。',
    },
    {
      en: 'Events are switched off, and their secrets end. The new owner sets an address of their own.',
      zh: '事件会停用，其密钥随之失效，由新所有者另行设置地址。',
    },
    {
      en: 'The former owner has no role any more, and the team ends: the new owner invites whom they trust. Transfers follow the new owner’s trust level.',
      zh: '原所有者不再担任任何角色，团队也随之解散，由新所有者重新邀请。转账按新所有者的信任等级执行。',
    },
    {
      en: 'The pay page does not say “approved by staff” until the staff has approved it for the new owner. Sales go on meanwhile.',
      zh: '管理人员就新的所有者重新审核前，付款页不显示“已通过审核”；照常收款。',
    },
    { en: 'Its test application goes with it.', zh: '对应的测试应用随之一并移交。' },
  ],
  look: { en: 'Look at the offer', zh: '查看移交请求' },
  goodUntil: { en: 'The offer is good until', zh: '有效期至' },
  accept: { en: 'Become the owner', zh: '成为所有者' },
  waiting: (name: string) => ({
    en: `Offered to @${name}, who has not answered yet.`,
    zh: `已向 @${name} 提出，对方尚未答复。`,
  }),
  withdraw: { en: 'Take the offer back', zh: '撤回' },
  offer: { en: 'Offer the application', zh: '提出移交' },
  offerHint: {
    en: 'Who is to be the owner. An offer takes the place of an earlier one.',
    zh: '填写新的所有者。新的请求会取代之前的请求。',
  },
  suspended: { en: 'A suspended application cannot change hands.', zh: '已停用的应用不能移交。' },
  faults: {
    unknown: (_level: number) => ({
      en: 'There is no member of this name who can be asked.',
      zh: '没有可以移交的同名成员。',
    }),
    self: (_level: number) => ({ en: 'You own it already.', zh: '你已是所有者。' }),
    trust_level: (level: number) => ({
      en: `Owning one needs trust level ${level}.`,
      zh: `成为所有者需要信任等级 ${level}。`,
    }),
  },
} satisfies Texts
