/** Texts of the team of a payment application. */
import type { Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

export const team = {
  title: { en: 'Team', zh: '团队' },
  application: { en: 'Application', zh: '应用' },
  lead: {
    en: 'Who works on this application. Those who are invited have no right before they accept.',
    zh: '参与管理此应用的成员。受邀者接受之前没有任何权限。',
  },
  yourRole: { en: 'Your role', zh: '你的角色' },
  role: { en: 'Role', zh: '角色' },
  roles: {
    owner: { en: 'Owner', zh: '所有者' },
    manager: { en: 'Manager', zh: '管理员' },
    operator: { en: 'Operator', zh: '操作员' },
    viewer: { en: 'Viewer', zh: '查看者' },
  },
  whoMayDo: { en: 'Who may do what', zh: '各角色的权限' },
  mayDo: {
    owner: {
      en: `Everything. Payments go to the owner’s wallet; only the owner transfers ${POINTS} on these pages, chooses the team and hands the application over.`,
      zh: '全部权限。收款进入所有者的钱包；只有所有者能在页面上转账、管理团队和移交应用。',
    },
    manager: {
      en: `What an operator may; change settings, see and replace keys. Whoever has the keys can transfer ${POINTS} of the owner through the API.`,
      zh: `操作员的权限，并可修改设置、查看和更换密钥。持有密钥者可通过接口转出所有者的${POINTS}。`,
    },
    operator: {
      en: 'Look at orders, transfers, notifications and statistics, tell the shop of payments again, and check signatures.',
      zh: '查看订单、转账、通知与统计，重新通知商店，检查签名。',
    },
    viewer: {
      en: 'Look at orders, transfers, notifications and statistics.',
      zh: '查看订单、转账、通知与统计。',
    },
  },
  since: { en: 'In the team since', zh: '加入时间' },
  asked: { en: 'Invited on', zh: '邀请时间' },
  open: { en: 'not answered yet', zh: '尚未答复' },
  change: { en: 'Change', zh: '更改' },
  save: { en: 'Change the role', zh: '更改角色' },
  remove: { en: 'Remove from the team', zh: '移出团队' },
  knowsKeys: {
    en: 'Managers know the keys. Replace these after you remove one or give them another role.',
    zh: '管理员知道密钥。移出管理员或更改其角色后，请更换密钥。',
  },
  leave: { en: 'Leave the team', zh: '退出团队' },
  username: { en: 'User name', zh: '用户名' },
  invite: { en: 'Invite', zh: '邀请' },
  inviteHint: {
    en: 'A member of this site, by the name they sign in with.',
    zh: '本站成员登录时使用的用户名。',
  },
  invited: (owner: string, role: string) => ({
    en: `@${owner} invites you to the team, as: ${role}.`,
    zh: `@${owner} 邀请你加入团队，角色：${role}。`,
  }),
  accept: { en: 'Accept', zh: '接受' },
  decline: { en: 'Decline', zh: '拒绝' },
  faults: {
    unknown: (_max: number) => ({ en: 'There is no member of this name.', zh: '没有这个用户名的成员。' }),
    known: (_max: number) => ({
      en: 'This member is in the team, or has been asked already.',
      zh: '该成员已在团队中，或已受到邀请。',
    }),
    full: (max: number) => ({ en: `A team has at most ${max} people.`, zh: `团队最多 ${max} 人。` }),
  },
} satisfies Texts
