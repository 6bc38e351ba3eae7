/** Texts of the team of a payment application. */
import type { Texts } from '../../web/languages.ts'
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
  invited: (owner: string, role: string) => ({
    en: `@${owner} invites you to the team, as: ${role}.`,
    zh: `@${owner} 邀请你加入团队，角色：${role}。`,
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
      en: `@${username} is invited, as: ${role}. They have no rights before they accept.`,
      zh: `已邀请 @${username}，角色：${role}。对方接受之前没有任何权限。`,
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
      en: `You are in the team of ${name}, as: ${role}.`,
      zh: `你已加入 ${name} 的团队，角色：${role}。`,
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
