/** Texts of the registered OAuth applications. */
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'

export const registeredApps = {
  title: { en: 'Sign-in applications', zh: '登录应用' },
  lead: { en: 'Applications that members sign in to.', zh: '成员用本站账号登录的应用。' },
  search: { en: 'Name, client_id or owner', zh: '名称、client_id 或所有者' },
  status: { en: 'Show', zh: '显示' },
  statuses: {
    all: { en: 'All', zh: '全部' },
    suspended: { en: 'Suspended', zh: '已停用' },
    unconfirmed: { en: 'Not confirmed', zh: '未确认' },
    unreviewed: { en: 'Not reviewed', zh: '未审核' },
    unregistered: { en: 'Not registered', zh: '未注册' },
  },
  nothing: { en: 'No results', zh: '没有结果' },
  nothingText: {
    en: 'Applications appear here when members create them.',
    zh: '成员创建应用后会显示在这里。',
  },
  owner: { en: 'Owner', zh: '所有者' },
  createdBy: (app: string) => ({ en: `by ${app}`, zh: `由 ${app} 创建` }),
  suspend: { en: 'Suspend', zh: '停用' },
  suspendQuestion: (name: string) => ({ en: `Suspend ${name}?`, zh: `停用 ${name}？` }),
  suspendText: {
    en: 'Members cannot sign in to it. It gets no tokens, and its tokens stop working at their next use. The owner sees the reason.',
    zh: '成员无法登录此应用，它无法获取令牌，已有的令牌在下次使用时失效。所有者会看到理由。',
  },
  suspendUnowned: {
    en: 'Members cannot sign in to it. It gets no tokens, and its tokens stop working at their next use. It was not registered here and has no owner. To refuse a whole host, change the list of hosts in the settings.',
    zh: '成员无法登录此应用，它无法获取令牌，已有的令牌在下次使用时失效。它未在本站注册，没有所有者。如需拒绝整个主机，请在设置中修改主机列表。',
  },
  unregistered: { en: 'Not registered', zh: '未注册' },
  documentRead: { en: 'Document read', zh: '读取文档' },
  firstAllowed: { en: 'First allowed', zh: '首次允许' },
  membersNow: { en: 'Members who use it', zh: '使用它的成员' },
  reinstate: { en: 'Reinstate', zh: '恢复' },
  reinstateText: {
    en: 'Members can sign in again. Tokens that have not expired work again.',
    zh: '成员可以再次登录，未过期的令牌恢复有效。',
  },
  reasonHint: { en: 'The owner sees it.', zh: '所有者会看到。' },
  reasonHintUnowned: { en: 'It goes to the audit log.', zh: '将记入审计日志。' },
  mark: { en: 'Mark as reviewed', zh: '标记为已审核' },
  markText: {
    en: 'Members see the mark when the application asks for access. It is removed when the owner changes the name, description, homepage, logo or redirect URIs.',
    zh: '成员在授权页面会看到此标记。所有者修改名称、简介、主页、图标或回调地址后，标记自动取消。',
  },
  unmark: { en: 'Remove the mark', zh: '取消标记' },
  reset: { en: 'Reset the secret', zh: '重置密钥' },
  resetQuestion: (name: string) => ({ en: `Reset the secret of ${name}?`, zh: `重置 ${name} 的密钥？` }),
  resetText: {
    en: 'For an owner who has lost it. All secrets stop working at once. You see the new one only once, so hand it over safely.',
    zh: '用于所有者丢失密钥的情况。所有现有密钥立即失效；新密钥只向你显示一次，请安全转交。',
  },
  secretsEnding: { en: 'Secrets that stop working', zh: '将失效的密钥' },
  liveSecrets: (n: number) => ({ en: `${n} ${counted(n, 'is', 'are')} valid now`, zh: `目前有 ${n} 个可用` }),
  done: {
    suspend: (name: string, owner: string | null) => ({
      en: `${name} is suspended.${owner === null ? '' : ` @${owner} sees your reason.`}`,
      zh: owner === null ? `已停用 ${name}。` : `已停用 ${name}，@${owner} 会看到理由。`,
    }),
    reinstate: (name: string, _owner: string | null) => ({
      en: `${name} is reinstated. Members can sign in again.`,
      zh: `已恢复 ${name}，成员可以再次登录。`,
    }),
    mark: (name: string, _owner: string | null) => ({
      en: `${name} is marked as reviewed.`,
      zh: `已将 ${name} 标记为已审核。`,
    }),
    unmark: (name: string, _owner: string | null) => ({
      en: `${name} is no longer marked as reviewed.`,
      zh: `已取消 ${name} 的审核标记。`,
    }),
  },
} satisfies Texts
