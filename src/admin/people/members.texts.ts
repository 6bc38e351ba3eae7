/** Texts of members, for administrators. */
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

export const members = {
  title: { en: 'Members', zh: '成员' },
  search: { en: 'Name, e-mail address or member number', zh: '名称、邮箱或成员编号' },
  standing: { en: 'Show', zh: '显示' },
  standings: {
    all: { en: 'all', zh: '全部' },
    barred: { en: 'suspended and banned', zh: '已停用和已封禁' },
    admins: { en: 'administrators', zh: '管理员' },
  },
  find: { en: 'Find', zh: '查找' },
  nothing: { en: 'No member fits.', zh: '没有符合条件的成员。' },
  older: { en: 'Older', zh: '更早的' },
  backToList: { en: 'All members', zh: '全部成员' },
  create: { en: 'New local account', zh: '新建本地账号' },
  createText: {
    en: 'For somebody who is not on the forum. It gets a one-time password, shown once, which has to be changed at the first sign-in.',
    zh: '用于不在论坛的人。系统会生成一次性密码，只显示一次，首次登录时必须修改。',
  },
  trustLevel: { en: 'Trust level', zh: '信任等级' },
  badUsername: {
    en: '3 to 30 letters (a to z), digits, dots, hyphens and underscores.',
    zh: '3 到 30 个英文字母、数字、点、连字符或下划线。',
  },
  created: { en: 'The account was made', zh: '账号已创建' },
  createdText: (username: string) => ({
    en: `This is the one-time password of @${username}. It is shown this once: hand it over safely.`,
    zh: `这是 @${username} 的一次性密码，只显示这一次，请安全地转交。`,
  }),
  toMember: { en: 'To the member', zh: '查看此成员' },
  number: { en: 'No.', zh: '编号' },
  name: { en: 'Name', zh: '名称' },
  email: { en: 'E-mail address', zh: '邮箱' },
  confirmed: { en: 'confirmed', zh: '已验证' },
  unconfirmed: { en: 'not confirmed', zh: '未验证' },
  groups: { en: 'Groups', zh: '用户组' },
  joined: { en: 'Joined', zh: '加入时间' },
  admin: { en: 'Administrator', zh: '管理员' },
  moderator: { en: 'Moderator', zh: '版主' },
  ofForum: { en: 'Forum', zh: '论坛' },
  banned: { en: 'Banned', zh: '已封禁' },
  anonymised: { en: 'Anonymised', zh: '已匿名化' },
  suspended: { en: 'Suspended', zh: '已停用' },
  suspendedTill: { en: 'Suspended until', zh: '停用至' },
  signsIn: { en: 'Signs in', zh: '登录方式' },
  byPassword: { en: 'with a password', zh: '密码' },
  oneTimePassword: {
    en: 'with a one-time password, to be changed at the next sign-in',
    zh: '一次性密码，下次登录时须修改',
  },
  byForum: { en: 'at the forum', zh: '论坛' },
  factor: { en: 'Second factor', zh: '两步验证' },
  factorOn: (since: string, codes: number) => ({
    en: `on since ${since}; ${codes} recovery ${counted(codes, 'code', 'codes')} left`,
    zh: `自 ${since} 起开启；剩余 ${codes} 个恢复码`,
  }),
  factorOff: { en: 'off', zh: '未开启' },
  forum: { en: 'At the forum', zh: '论坛账号' },
  asked: { en: 'Forum last asked', zh: '上次向论坛查询' },
  actsTitle: { en: 'What you can do', zh: '可执行的操作' },
  self: { en: 'This is you: you cannot suspend or ban yourself.', zh: '这是你自己：不能停用或封禁自己。' },
  forumActs: {
    en: 'This member comes from the forum. What is decided here holds here alone; a suspension at the forum is lifted there.',
    zh: '此成员来自论坛。在这里的处理只在本站有效；论坛的停用须在论坛解除。',
  },
  acts: {
    suspend: {
      label: { en: 'Suspend', zh: '停用' },
      text: {
        en: 'For some days: no sign-in, open sessions stop at the next request, tokens of applications fail, the wallet pays nothing out, and payment applications are as if suspended. What has not expired by then works again afterwards.',
        zh: `停用若干天：不能登录，已有会话在下次请求时失效，应用持有的令牌无法使用，钱包不能付出${POINTS}，其收款应用视同停用。停用结束后，未过期的会恢复有效。`,
      },
    },
    ban: {
      label: { en: 'Ban', zh: '封禁' },
      text: {
        en: 'For good, until an administrator reinstates them: no sign-in, open sessions stop at the next request, tokens of applications fail, the wallet pays nothing out, and payment applications are as if suspended.',
        zh: `永久封禁，直到管理员恢复：不能登录，已有会话在下次请求时失效，应用持有的令牌无法使用，钱包不能付出${POINTS}，其收款应用视同停用。`,
      },
    },
    reinstate: {
      label: { en: 'Reinstate', zh: '恢复' },
      text: {
        en: 'The member can sign in again. Sessions and tokens that have not expired work again; sign them out as well if they must not.',
        zh: '成员可以再次登录。未过期的会话和令牌恢复有效；如不希望如此，请同时让其全部退出登录。',
      },
    },
    sign_out: {
      label: { en: 'Sign out everywhere', zh: '全部退出登录' },
      text: {
        en: 'Every session ends, and every token and code that applications hold in this member’s name. The member can sign in again at once.',
        zh: '结束所有会话，并撤销应用以此成员名义持有的全部令牌和授权码。成员可以立即重新登录。',
      },
    },
    anonymise: {
      label: { en: 'Anonymise', zh: '匿名化' },
      text: {
        en: `For good, and nobody can undo it: name, address, sign-ins, keys and everything that opens the account are removed, its payment applications stop working, and the books stay as they are with the number alone. Open orders, refunds and ${POINTS} have to be settled first.`,
        zh: `永久生效，任何人都无法恢复：删除名称、邮箱、登录、密钥以及能打开账号的一切，其收款应用停止使用，账本只保留账号编号。未了结的订单、退款和${POINTS}须先处理。`,
      },
    },
    reset_factor: {
      label: { en: 'Turn off the second factor', zh: '关闭两步验证' },
      text: {
        en: 'For a member who has lost the phone and the recovery codes: from then on the password alone opens the account. Be sure who is asking.',
        zh: '用于成员丢失手机和恢复码的情况：此后仅凭密码即可登录。请先确认对方的身份。',
      },
    },
  },
  days: { en: 'Days', zh: '天数' },
  confirm: { en: 'Confirm', zh: '确认' },
  sessions: { en: 'Signed in', zh: '登录中的设备' },
  noSessions: { en: 'In no browser.', zh: '没有。' },
  grants: { en: 'Applications that hold tokens', zh: '持有令牌的应用' },
  noGrants: { en: 'None.', zh: '没有。' },
  times: (formatted: string) => ({ en: `${formatted} ×`, zh: `${formatted} 次` }),
  events: { en: 'What happened to the account', zh: '账号记录' },
  noEvents: { en: 'Nothing yet.', zh: '暂无记录。' },
} satisfies Texts
