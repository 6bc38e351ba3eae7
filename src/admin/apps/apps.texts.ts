/** Texts of the registered OAuth applications. */
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'

export const registeredApps = {
  title: { en: 'Registered applications', zh: '已登记的应用' },
  search: { en: 'Name, client_id or owner', zh: '名称、client_id 或所有者' },
  find: { en: 'Find', zh: '查找' },
  standing: { en: 'Show', zh: '显示' },
  standings: {
    all: { en: 'all', zh: '全部' },
    suspended: { en: 'suspended', zh: '已停用' },
    unreviewed: { en: 'not reviewed', zh: '未审核' },
  },
  nothing: { en: 'No application fits.', zh: '没有符合条件的应用。' },
  older: { en: 'Older', zh: '更早的' },
  backToList: { en: 'All applications', zh: '全部应用' },
  owner: { en: 'Owner', zh: '所有者' },
  suspend: { en: 'Suspend', zh: '停用' },
  suspendText: {
    en: 'Nobody can sign in to it, it gets no tokens, and those it has stop working at their next use. The owner reads the reason.',
    zh: '任何人都无法用它登录，它无法获取令牌，已有的令牌在下次使用时失效。所有者会看到原因。',
  },
  reinstate: { en: 'Reinstate', zh: '恢复' },
  reinstateText: {
    en: 'People can sign in again. Tokens that have not expired meanwhile work again.',
    zh: '成员可以再次登录。期间未过期的令牌恢复有效。',
  },
  reasonMissing: { en: 'Say why: the owner reads it.', zh: '请说明原因：所有者会看到。' },
  mark: { en: 'Mark as reviewed by staff', zh: '标记为“已由管理人员审核”' },
  markText: {
    en: 'People see the mark when they are asked to allow it. It goes away when the owner changes the name, description, homepage, logo or redirect addresses.',
    zh: '成员在授权页面会看到此标记。所有者修改名称、描述、主页、图标或回调地址后，标记会被取消。',
  },
  unmark: { en: 'Take the mark away', zh: '取消标记' },
  reset: { en: 'Reset the secret', zh: '重置密钥' },
  resetText: {
    en: 'For an owner who has lost it. Every secret ends at once; the new one is shown once, to you: hand it over safely. The owner sees the reset in the history.',
    zh: '用于所有者丢失密钥的情况。所有现有密钥立即失效；新密钥只向你显示一次，请安全地转交。所有者会在历史记录中看到此次重置。',
  },
  liveSecrets: (n: number) => ({ en: `${n} ${counted(n, 'works', 'work')} now`, zh: `目前有 ${n} 个可用` }),
} satisfies Texts
