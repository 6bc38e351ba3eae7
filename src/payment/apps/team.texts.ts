/** Texts of the team of a payment application, and of its next owner. */
import { common } from '../../web/common.texts.ts'
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

export const team = {
  title: { en: 'Team', zh: '团队' },
  lead: {
    en: 'Members who work on this application. An invited member has no rights before accepting.',
    zh: '参与管理此应用的成员。受邀者接受之前没有任何权限。',
  },
  yourRole: { en: 'Your role', zh: '你的角色' },
  role: { en: 'Role', zh: '角色' },
  roles: {
    owner: { en: 'Owner', zh: '所有者' },
    manager: { en: 'Manager', zh: '应用管理员' },
    operator: { en: 'Operator', zh: '操作员' },
    viewer: { en: 'Viewer', zh: '查看者' },
  },
  whoMayDo: { en: 'What each role can do', zh: '各角色的权限' },
  mayDo: {
    owner: {
      en: `Everything. Payments go to the owner’s wallet. Only the owner can transfer ${POINTS} on these pages, manage the team and hand over the application.`,
      zh: '全部权限。收款进入所有者的钱包；只有所有者能在页面上转账、管理团队和移交应用。',
    },
    manager: {
      en: `Everything that an operator can do, and also change settings, see and replace keys. Anyone with the keys can transfer the owner’s ${POINTS} through the API.`,
      zh: `操作员的权限，并可修改设置、查看和更换密钥。持有密钥者可通过接口转出所有者的${POINTS}。`,
    },
    operator: {
      en: 'See orders, transfers, notifications and statistics. Notify the shop again, ask for refunds, check signatures and addresses.',
      zh: '查看订单、转账、通知与统计；重新通知商店、申请退款、检查签名与地址。',
    },
    viewer: {
      en: 'See orders, transfers, notifications and statistics.',
      zh: '查看订单、转账、通知与统计。',
    },
  },
  since: { en: 'Joined', zh: '加入时间' },
  asked: { en: 'Invited', zh: '邀请时间' },
  open: { en: 'Not accepted yet', zh: '尚未接受' },
  change: { en: 'Change', zh: '更改' },
  save: { en: 'Change the role', zh: '更改角色' },
  remove: { en: 'Remove from the team', zh: '移出团队' },
  withdraw: { en: 'Withdraw the invitation', zh: '撤回邀请' },
  knowsKeys: {
    en: 'Managers know the keys. Replace them after you remove a manager or change the role.',
    zh: '应用管理员知道密钥。移出应用管理员或更改其角色后，请更换密钥。',
  },
  leave: { en: 'Leave the team', zh: '退出团队' },
  username: { en: 'Username', zh: '用户名' },
  invite: { en: 'Invite', zh: '邀请' },
  inviteTitle: { en: 'Invite a member', zh: '邀请成员' },
  inviteHint: {
    en: 'A member of this site, by username.',
    zh: '本站成员的用户名。',
  },
  /** What a member of a team is, within a sentence. */
  as: {
    owner: { en: 'the owner', zh: '所有者' },
    manager: { en: 'a manager', zh: '应用管理员' },
    operator: { en: 'an operator', zh: '操作员' },
    viewer: { en: 'a viewer', zh: '查看者' },
  },
  invited: (owner: string, role: string) => ({
    en: `@${owner} invites you to the team as ${role}.`,
    zh: `@${owner} 邀请你加入团队，担任${role}。`,
  }),
  accept: { en: 'Accept', zh: '接受' },
  decline: { en: 'Decline', zh: '拒绝' },
  ask: {
    remove: (username: string) => ({
      en: `Remove @${username} from the team?`,
      zh: `将 @${username} 移出团队？`,
    }),
    removeNote: {
      en: 'They lose every right in this application at once. You can invite them again.',
      zh: '对方立即失去此应用的全部权限。之后可以重新邀请。',
    },
    withdraw: (username: string) => ({
      en: `Withdraw the invitation to @${username}?`,
      zh: `撤回对 @${username} 的邀请？`,
    }),
    withdrawNote: {
      en: 'The invitation can no longer be accepted. You can invite them again.',
      zh: '对方无法再接受此邀请。之后可以重新邀请。',
    },
    leave: (name: string) => ({ en: `Leave the team of ${name}?`, zh: `退出 ${name} 的团队？` }),
    leaveNote: {
      en: 'You lose every right in this application at once. Only the owner can invite you again.',
      zh: '你立即失去此应用的全部权限，只有所有者能重新邀请你。',
    },
  },
  done: {
    invited: (username: string, role: string) => ({
      en: `@${username} is invited as ${role}. Rights begin when they accept.`,
      zh: `已邀请 @${username} 担任${role}，接受后权限才生效。`,
    }),
    changed: (username: string, role: string) => ({
      en: `The role of @${username} is now: ${role}.`,
      zh: `@${username} 的角色已改为${role}。`,
    }),
    removed: (username: string) => ({
      en: `@${username} is no longer in the team.`,
      zh: `@${username} 已移出团队。`,
    }),
    withdrawn: (username: string) => ({
      en: `The invitation to @${username} is withdrawn.`,
      zh: `已撤回对 @${username} 的邀请。`,
    }),
    left: { en: 'You have left the team.', zh: '你已退出团队。' },
    joined: (name: string, role: string) => ({
      en: `You are in the team of ${name} as ${role}.`,
      zh: `你已加入 ${name} 的团队，担任${role}。`,
    }),
    declined: { en: 'You have declined the invitation.', zh: '你已拒绝邀请。' },
  },
  faults: {
    unknown: (_max: number) => ({
      en: 'There is no member with this username.',
      zh: '没有这个用户名的成员。',
    }),
    known: (_max: number) => ({
      en: 'This member is in the team already, or has been invited.',
      zh: '该成员已在团队中，或已受到邀请。',
    }),
    full: (max: number) => ({ en: `A team has at most ${max} members.`, zh: `团队最多 ${max} 人。` }),
  },
} satisfies Texts

/** Texts of handing a payment application over to another owner. */
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
      en: 'A link with a sign-in application ends. That application stays with the former owner. Both keep their name and logo until their owners change them.',
      zh: '与登录应用的关联会结束，登录应用仍归原所有者。两个应用都保留名称和图标，直到各自的所有者修改。',
    },
    {
      en: 'The former owner no longer has a role, and the team is dissolved. The new owner invites a new team. Transfers follow the new owner’s trust level.',
      zh: '原所有者不再担任任何角色，团队也随之解散，由新所有者重新邀请。转账按新所有者的信任等级执行。',
    },
    {
      en: `The pay page no longer shows “${common.reviewed.en}” until an administrator approves the application again. Sales continue.`,
      zh: `管理员重新审核前，付款页不显示“${common.reviewed.zh}”；照常收款。`,
    },
    {
      en: 'Links pause, and their unsold codes go to the new owner. Access keys are revoked, and payouts are cancelled.',
      zh: '收款链接会暂停，未售卡密归新所有者；访问密钥全部撤销，批量付款取消。',
    },
    { en: 'Its test application is handed over too.', zh: '对应的测试应用随之一并移交。' },
  ],
  codes: (count: string, n: bigint) => ({
    en: `Its links hold ${count} unsold ${counted(n, 'code', 'codes')}. ${counted(n, 'It goes', 'They go')} to the new owner.`,
    zh: `收款链接中有 ${count} 个未售卡密，将归新所有者。`,
  }),
  others: { en: 'All that changes', zh: '全部变化' },
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
    codes: { en: 'Unsold codes that go with it', zh: '随之移交的未售卡密' },
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
    unknown: (_level: number, _member: { username: string; trust_level: number }) => ({
      en: 'There is no member with this username who can own it.',
      zh: '没有可以移交的同名成员。',
    }),
    self: (_level: number, _member: { username: string; trust_level: number }) => ({
      en: 'You already own it.',
      zh: '你已是所有者。',
    }),
    trust_level: (level: number, { username, trust_level }: { username: string; trust_level: number }) => ({
      en: `@${username} has trust level ${trust_level}. An owner needs trust level ${level}.`,
      zh: `@${username} 的信任等级为 ${trust_level}，所有者需要信任等级 ${level}。`,
    }),
  },
} satisfies Texts
