/** Texts of members, for administrators. */
import type { Text, Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

export const members = {
  title: { en: 'Members', zh: '成员' },
  search: { en: 'Name, email or number', zh: '名称、邮箱或编号' },
  status: { en: 'Show', zh: '显示' },
  statuses: {
    all: { en: 'All', zh: '全部' },
    barred: { en: 'Suspended and banned', zh: '已停用和已封禁' },
    admins: { en: 'Administrators', zh: '管理员' },
    service: { en: 'Service accounts', zh: '服务账号' },
  },
  nothing: { en: 'No results', zh: '没有结果' },
  nothingText: {
    en: 'Try part of the name, or of the email address before the @.',
    zh: '试试名称的一部分，或邮箱 @ 之前的一部分。',
  },
  create: { en: 'New local account', zh: '新建本地账号' },
  createText: {
    en: 'For a person who is not on the forum. You see its one-time password once; the person changes it at the first sign-in.',
    zh: '供不在论坛的人使用。系统生成的一次性密码只显示一次，对方首次登录时须修改。',
  },
  trustLevel: { en: 'Trust level', zh: '信任等级' },
  badUsername: {
    en: '3 to 30 letters (a to z), digits, dots, hyphens and underscores.',
    zh: '3 到 30 个英文字母、数字、点、连字符或下划线。',
  },
  created: { en: 'Account created', zh: '账号已创建' },
  createdText: (username: string) => ({
    en: `This is the one-time password of @${username}. You see it only now, so hand it over safely.`,
    zh: `这是 @${username} 的一次性密码，只显示这一次，请安全转交。`,
  }),
  toMember: { en: 'See the member', zh: '查看此成员' },
  number: { en: 'Member number', zh: '成员编号' },
  member: { en: 'Member', zh: '成员' },
  wallet: { en: 'Wallet', zh: '钱包' },
  account: { en: 'Account', zh: '账号' },
  more: { en: 'More', zh: '更多' },
  sort: { en: 'Order', zh: '排序' },
  sorts: {
    newest: { en: 'Newest', zh: '最新' },
    oldest: { en: 'Oldest', zh: '最早' },
    name: { en: 'Name', zh: '用户名' },
  },
  name: { en: 'Name', zh: '名称' },
  email: { en: 'Email address', zh: '邮箱' },
  confirmed: { en: 'confirmed', zh: '已验证' },
  unconfirmed: { en: 'not confirmed', zh: '未验证' },
  groups: { en: 'Groups', zh: '用户组' },
  joined: { en: 'Joined', zh: '加入时间' },
  service: { en: 'Service account', zh: '服务账号' },
  isService: { en: 'For a program: lists of members leave it out', zh: '供程序使用，不在成员列表中显示' },
  admin: { en: 'Administrator', zh: '管理员' },
  moderator: { en: 'Moderator', zh: '版主' },
  ofForum: { en: 'Forum', zh: '论坛' },
  banned: { en: 'Banned', zh: '已封禁' },
  anonymised: { en: 'Anonymised', zh: '已匿名化' },
  suspended: { en: 'Suspended', zh: '已停用' },
  suspendedTill: { en: 'Suspended until', zh: '停用至' },
  signsIn: { en: 'Sign-in', zh: '登录方式' },
  byPassword: { en: 'with a password', zh: '密码' },
  oneTimePassword: {
    en: 'with a one-time password, to be changed at the next sign-in',
    zh: '一次性密码，下次登录时须修改',
  },
  byForum: { en: 'at the forum', zh: '论坛' },
  /** How a session was opened, by the values of `amr` (RFC 8176). */
  methods: {
    pwd: { en: 'password', zh: '密码' },
    otp: { en: 'code', zh: '验证码' },
    hwk: { en: 'passkey', zh: '通行密钥' },
    swk: { en: 'passkey', zh: '通行密钥' },
    forum: { en: 'forum', zh: '论坛' },
  } as Record<string, Text>,
  factor: { en: 'Two-step verification', zh: '两步验证' },
  factorOn: (since: string, codes: number) => ({
    en: `on since ${since}; ${codes} recovery ${counted(codes, 'code', 'codes')} left`,
    zh: `自 ${since} 起开启；剩余 ${codes} 个恢复码`,
  }),
  factorOff: { en: 'off', zh: '未开启' },
  passkeys: { en: 'Passkeys', zh: '通行密钥' },
  forum: { en: 'At the forum', zh: '论坛账号' },
  asked: { en: 'Updated from the forum', zh: '上次从论坛更新' },
  givePoints: { en: `Give or take ${POINTS}`, zh: `发放或扣除${POINTS}` },
  actsTitle: { en: 'Actions', zh: '可执行的操作' },
  self: {
    en: 'This is your own account. You cannot suspend or ban yourself.',
    zh: '这是你自己的账号，不能停用或封禁自己。',
  },
  forumActs: {
    en: 'This member comes from the forum. Your decisions apply to this site only. A suspension at the forum is lifted there.',
    zh: '此成员来自论坛。在这里的处理只在本站有效；论坛的封禁须在论坛解除。',
  },
  acts: {
    suspend: {
      label: { en: 'Suspend', zh: '停用' },
      question: (username: string) => ({ en: `Suspend @${username}?`, zh: `停用 @${username}？` }),
      text: {
        en: 'For some days: no sign-in, no access by applications, no payments from the wallet, and no sales. Sessions and tokens that have not expired work again afterwards.',
        zh: '停用若干天：不能登录，应用无法访问，钱包不能付款或转出，也不能收款。停用结束后，未过期的会话和令牌恢复有效。',
      },
    },
    ban: {
      label: { en: 'Ban', zh: '封禁' },
      question: (username: string) => ({ en: `Ban @${username}?`, zh: `封禁 @${username}？` }),
      text: {
        en: 'Until an administrator reinstates them: no sign-in, no access by applications, no payments from the wallet, and no sales.',
        zh: '直到管理员恢复为止：不能登录，应用无法访问，钱包不能付款或转出，也不能收款。',
      },
    },
    reinstate: {
      label: { en: 'Reinstate', zh: '恢复' },
      question: (username: string) => ({ en: `Reinstate @${username}?`, zh: `恢复 @${username}？` }),
      text: {
        en: 'The member can sign in again. Sessions and tokens that have not expired work again; sign the member out as well if they must not.',
        zh: '成员可以再次登录。未过期的会话和令牌恢复有效；如不希望如此，请同时让其全部退出登录。',
      },
    },
    sign_out: {
      label: { en: 'Sign out everywhere', zh: '全部退出登录' },
      question: (username: string) => ({
        en: `Sign @${username} out everywhere?`,
        zh: `让 @${username} 全部退出登录？`,
      }),
      text: {
        en: 'Ends every session, and every token and code that applications hold for this member. The member can sign in again at once.',
        zh: '结束所有会话，并撤销应用以此成员名义持有的全部令牌和授权码。成员可以立即重新登录。',
      },
    },
    anonymise: {
      label: { en: 'Anonymise', zh: '匿名化' },
      question: (username: string) => ({
        en: `Anonymise @${username} for good?`,
        zh: `永久匿名化 @${username}？`,
      }),
      text: {
        en: `This cannot be undone. The name, email address, sign-ins and keys are deleted, and payment applications stop working. The books keep the member number only. Open orders, refunds and remaining ${POINTS} must be settled first.`,
        zh: `无法恢复：删除名称、邮箱、登录方式和密钥，其收款应用停止使用，账本只保留成员编号。未了结的订单、退款和${POINTS}须先处理。`,
      },
    },
    reset_factor: {
      label: { en: 'Remove two-step verification and passkeys', zh: '移除两步验证和通行密钥' },
      question: (username: string) => ({
        en: `Remove two-step verification and all passkeys of @${username}?`,
        zh: `移除 @${username} 的两步验证和全部通行密钥？`,
      }),
      text: {
        en: 'For a member who has lost the phone, the passkeys and the recovery codes. The password alone is then enough to sign in, so verify who is asking.',
        zh: '用于成员丢失手机、通行密钥和恢复码的情况。此后仅凭密码即可登录，请先确认对方的身份。',
      },
    },
  },
  sessionCount: (count: string) => ({ en: `${count} sessions`, zh: `${count} 个会话` }),
  month: { en: 'This month', zh: '本月' },
  monthIn: { en: 'in', zh: '收入' },
  monthOut: { en: 'out', zh: '支出' },
  sessionsNow: { en: 'Signed in on', zh: '登录中的设备' },
  grantsNow: { en: 'Applications signed in to', zh: '已登录的应用' },
  balanceNow: { en: 'Balance', zh: '余额' },
  mailed: {
    en: 'The member gets the reason by email if the address is confirmed.',
    zh: '如邮箱已验证，成员会收到附有理由的邮件。',
  },
  done: {
    suspend: (username: string, till: string) => ({
      en: `@${username} is suspended until ${till}.`,
      zh: `已停用 @${username}，至 ${till}。`,
    }),
    ban: (username: string) => ({ en: `@${username} is banned.`, zh: `已封禁 @${username}。` }),
    reinstate: (username: string) => ({
      en: `@${username} can sign in again.`,
      zh: `已恢复 @${username}，可以再次登录。`,
    }),
    sign_out: (username: string, sessions: number, grants: number) => ({
      en: `@${username} is signed out: ${sessions} ${counted(sessions, 'session', 'sessions')} and the access of ${grants} ${counted(grants, 'application', 'applications')} ended.`,
      zh: `@${username} 已全部退出登录：结束 ${sessions} 个会话，撤销 ${grants} 个应用的访问。`,
    }),
    anonymise: (username: string) => ({ en: `@${username} is anonymised.`, zh: `已匿名化 @${username}。` }),
    reset_factor: (username: string) => ({
      en: `Two-step verification is off for @${username}, and the passkeys are removed.`,
      zh: `已关闭 @${username} 的两步验证，并移除通行密钥。`,
    }),
  },
  days: { en: 'Days', zh: '天数' },
  daysWrong: { en: 'Whole days, from 1 to 9999.', zh: '整数天数，1 到 9999。' },
  sessions: { en: 'Sessions', zh: '登录中的设备' },
  noSessions: { en: 'Not signed in anywhere', zh: '没有登录中的设备' },
  lastSeen: { en: 'Last seen', zh: '最近活动' },
  notSeen: { en: 'No open session', zh: '未登录' },
  ownApps: { en: 'Own applications', zh: '自己的应用' },
  noApps: { en: 'No application', zh: '没有应用' },
  shop: { en: 'takes payments', zh: '收款' },
  signInApp: { en: 'sign-in', zh: '登录' },
  orders: { en: 'Last orders', zh: '最近的订单' },
  noOrders: { en: 'No order', zh: '没有订单' },
  statement: { en: 'Statement', zh: '收支明细' },
  events: { en: 'Account history', zh: '账号记录' },
  noEvents: { en: 'No entries yet', zh: '暂无记录' },
} satisfies Texts
