/** Texts of the state of the forum connection. */
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

export const forum = {
  title: { en: 'Forum', zh: '论坛' },
  /** Above all: whether the connections work. */
  connected: { en: 'Connected', zh: '已连接' },
  toLookAt: (n: number) => ({ en: `${n} to look at`, zh: `${n} 项需要查看` }),
  connections: { en: 'Connections', zh: '连接' },
  names: {
    signIn: { en: 'Sign-in', zh: '登录' },
    members: { en: 'Members and groups', zh: '成员与用户组' },
    webhook: { en: 'Webhook', zh: 'Webhook' },
    wallet: { en: 'Wallet in the forum', zh: '论坛中的钱包' },
    tips: { en: 'Tips', zh: '打赏' },
  },
  states: {
    works: { en: 'works', zh: '正常' },
    unused: { en: 'not used yet', zh: '尚未使用' },
    incomplete: { en: 'incomplete', zh: '不完整' },
    missing: { en: 'not set up', zh: '未设置' },
    silent: { en: 'no response', zh: '无响应' },
    look: { en: 'needs a look', zh: '需要查看' },
    waiting: { en: 'nothing arrived yet', zh: '尚未收到' },
    off: { en: 'off', zh: '未开启' },
  },
  guide: { en: 'Guide', zh: '设置说明' },
  setUp: { en: 'Set-up', zh: '设置方法' },
  signIn: {
    last: { en: 'Last sign-in', zh: '最近登录' },
    unused: {
      en: 'Sign in at the forum once to see that it works.',
      zh: '请用论坛账号登录一次以确认可用。',
    },
  },
  webhook: {
    last: { en: 'Last received', zh: '最近收到' },
    waiting: {
      en: 'The secret is set. Send a ping at the forum: Admin, API, Webhooks.',
      zh: '密钥已设置。请在论坛后台“API → Webhooks”发送一次 ping。',
    },
    missing: {
      en: 'With it, a suspension is known here after seconds, and changes of members sooner.',
      zh: '设置后，封禁数秒内生效，成员资料的变动也更快更新。',
    },
    address: { en: 'Payload URL', zh: 'Payload URL' },
    events: {
      en: 'Its secret is DISCOURSE_WEBHOOK_SECRET. Leave on the user, user promotion, group and group user events.',
      zh: '密钥为 DISCOURSE_WEBHOOK_SECRET；只需用户、用户升级、用户组、用户组成员四类事件。',
    },
  },
  wallet: {
    last: { en: 'Last asked for by the forum', zh: '论坛最近请求' },
    waiting: {
      en: 'It is on, but the forum has not asked for a wallet. Install the theme component at the forum.',
      zh: '已开启，但论坛还没有请求过钱包。请在论坛安装主题组件。',
    },
    off: {
      en: 'Members do not see their wallet in the forum’s menu.',
      zh: '成员还不能在论坛菜单查看钱包。',
    },
  },
  tipsLast: { en: 'Last tip', zh: '最近打赏' },
  listsLate: { en: 'A list has not been read in time; see below.', zh: '有名单未按时读取，见下方。' },
  off: { en: 'No forum is connected', zh: '未连接论坛' },
  gives: {
    signIn: {
      en: 'Members sign in with their forum account, without another password.',
      zh: '成员用论坛账号登录，无需另设密码。',
    },
    members: {
      en: 'Trust levels, groups, suspensions and scores follow the forum.',
      zh: '信任等级、用户组、封禁和得分与论坛保持一致。',
    },
    webhook: { en: 'A suspension is known here after seconds.', zh: '论坛的封禁数秒内在此生效。' },
    wallet: {
      en: 'Members see their balance in the forum’s menu, and posts get “Pay” buttons.',
      zh: '成员在论坛菜单查看余额，帖子里可直接“付款”。',
    },
    tips: { en: `Members give ${POINTS} to authors of posts.`, zh: `成员可以把${POINTS}打赏给帖子作者。` },
  },
  connect: { en: 'Connect the forum', zh: '连接论坛' },
  connectText: {
    en: 'Write these lines with your own values into the environment, and start the service again. DISCOURSE_API_KEY is for members and groups.',
    zh: '请把以下几行换成你自己的值写入环境变量，然后重新启动服务。DISCOURSE_API_KEY 用于同步成员与用户组。',
  },
  offGuide: { en: 'How to connect a forum', zh: '如何连接论坛' },
  upToDate: { en: 'All up to date', zh: '全部为最新' },
  noApi: {
    en: 'DISCOURSE_API_KEY is not set, so members are updated only when they sign in.',
    zh: '未设置 DISCOURSE_API_KEY，成员资料仅在登录时更新。',
  },
  noClaims: {
    en: 'The forum’s responses at sign-in state neither roles nor groups, so members keep those that they have. Add admin, moderator and groups to “discourse connect provider claims” at the forum, or set DISCOURSE_API_KEY.',
    zh: '论坛的登录响应不含角色和用户组，成员保留现有的角色和用户组。请在论坛设置“discourse connect provider claims”中加入 admin、moderator 和 groups，或设置 DISCOURSE_API_KEY。',
  },
  lapsed: { en: 'Roles not confirmed by the forum', zh: '论坛未确认的角色' },
  lapsedText: {
    en: 'These members lost their role here. It returns when the forum confirms it: at their next update, or when they sign in.',
    zh: '这些成员在本站的角色已失效，论坛确认后恢复：下次更新或重新登录时。',
  },
  confirmed: { en: 'last confirmed', zh: '上次确认' },
  silent: { en: 'The forum did not respond. Next request:', zh: '论坛没有响应，下次请求时间' },
  suspension: (minutes: number) => ({
    en: `A suspension is known here after ${minutes} ${counted(minutes, 'minute', 'minutes')} at most.`,
    zh: `论坛的封禁最多 ${minutes} 分钟后在此生效。`,
  }),
  suspensionUnknown: {
    en: 'The list of suspended members has not been read lately, so a suspension without a webhook is known after an hour or a day.',
    zh: '近期未读到封禁名单；没有 webhook 时，封禁要一小时到一天后才在此生效。',
  },
  refused: {
    en: 'The forum refuses lists to the API key. Make a read-only key of a single administrator, such as system, and set DISCOURSE_API_KEY.',
    zh: '论坛不允许此密钥读取名单。请为某位管理员（如 system）创建只读密钥，并设置 DISCOURSE_API_KEY。',
  },
  limited: {
    en: 'The forum refused requests in the last hour, because another program uses its 60 a minute too. Lower “Requests to the forum” by as many as that program needs.',
    zh: '最近一小时论坛拒绝过请求：有其他程序也在使用每分钟 60 次的额度。请按该程序所需调低“向论坛发出的请求”。',
  },
  limitedLink: { en: 'Requests to the forum', zh: '向论坛发出的请求' },
  useless: (percent: number) => ({
    en: `In the last hours, ${percent}% of the webhooks changed nothing here. At the forum, leave only the user, user promotion, group and group user events on.`,
    zh: `近两小时有 ${percent}% 的 webhook 与本站无关。请在论坛只保留用户、用户升级、用户组、用户组成员四类事件。`,
  }),
  unusable: (n: number, shown: string) => ({
    en: `The forum’s response about ${shown} ${counted(n, 'member', 'members')} could not be used. They keep their stored data and are tried again; the list below says when.`,
    zh: `论坛对 ${shown} 名成员的响应无法使用。这些成员保留现有资料并会重试，时间见下方列表。`,
  }),
  figures: { en: 'Members from the forum', zh: '来自论坛的成员' },
  notRead: { en: 'Not read yet', zh: '尚未读取' },
  themeText: (address: string) => ({
    en: `A theme component shows members their wallet in the forum’s user menu, and adds “Pay” to payment links in posts. It comes with the address ${address}. Install the file at the forum: Customize, Themes, Install, From your device; then add it to your themes.`,
    zh: `主题组件让成员在论坛的用户菜单查看钱包，并为帖子里的收款链接加上“付款”，已填好地址 ${address}。在论坛后台“自定义 → 主题 → 安装 → 从你的设备”安装此文件，再加入正在使用的主题。`,
  }),
  themeDomain: {
    en: 'The wallet needs the forum and this service under one domain, such as forum.example.org and points.example.org. Elsewhere members see a link to sign in.',
    zh: '论坛与本站须在同一域名下（如 forum.example.org 与 points.example.org）才能显示钱包，否则成员只会看到登录链接。',
  },
  themeUntried: {
    en: 'It has not run in a real forum yet: try it with a theme that only you use first.',
    zh: '组件尚未在真实论坛中运行过，请先在仅自己使用的主题中试用。',
  },
  themeDownload: { en: 'Download the theme component', zh: '下载主题组件' },
  themeSetting: { en: 'Switch the wallet on', zh: '开启钱包' },
  tipsText: {
    en: `Members give ${POINTS} to authors of posts. A tip is an order of one payment application, the site’s own, that pays the author. Fees and limits work as for every order. Givers cannot take a tip back; only an administrator can refund one. The forum shows and counts no tips.`,
    zh: `成员可以把${POINTS}打赏给帖子作者。打赏是站点自己的一个收款应用的订单，收款人是作者，手续费和限额与其他订单相同。打赏者不能撤回，只有管理员可以退款。论坛不显示也不统计打赏。`,
  },
  tipsApp: { en: 'Application of tips', zh: '打赏应用' },
  tipsSetUp: { en: 'Set up tips', zh: '设置打赏' },
  tipsSetUpHint: {
    en: 'An approved live application without orders. Another one can take its place until the first tip.',
    zh: '选择一个已通过审核、还没有订单的正式应用；有第一笔打赏之前可以更换。',
  },
  tipsNone: {
    en: 'No application fits. Register a payment application, such as “Tips”, approve it, and name it here before its first order.',
    zh: '没有合适的应用。请先注册一个收款应用（例如“打赏”）并通过审核，在它有第一笔订单之前在这里指定。',
  },
  tipsRegister: { en: 'Register an application', zh: '注册应用' },
  tipsNamed: { en: 'The application of tips is set.', zh: '已设置打赏应用。' },
  tipsMissing: {
    en: 'Tips are on, but no application is set up for them.',
    zh: '已开启打赏，但尚未设置打赏应用。',
  },
  tipsNotYet: { en: 'No tip yet.', zh: '还没有打赏。' },
  tipsOff: {
    en: 'Tips are off until you switch them on in the settings.',
    zh: '打赏尚未开启，请在设置中开启。',
  },
  tipsSetting: { en: 'Settings of tips', zh: '打赏设置' },
  lists: { en: 'Member lists read from the forum', zh: '从论坛读取的成员名单' },
  listsText: {
    en: 'What the forum states of many members at once. A difference makes Tessera read the member.',
    zh: '论坛一次给出多名成员的状态；如有差异，会单独读取该成员。',
  },
  compared: { en: 'Members compared', zh: '比对成员' },
  differences: { en: 'differences', zh: '差异' },
  pages: { en: 'pages', zh: '页数' },
  passTook: (seconds: number) => ({ en: `duration ${seconds} s`, zh: `用时 ${seconds} 秒` }),
  late: { en: 'Late', zh: '已过期' },
  running: { en: 'Being read', zh: '读取中' },
  refusedList: {
    en: 'The forum refuses this list to the API key. Use a read-only key of a single administrator, such as system.',
    zh: '论坛不允许此密钥读取该名单。请使用某位管理员（如 system）的只读密钥。',
  },
  shrunkList: {
    en: 'Many members are missing from this list at once. It is being read again, and they are checked a few at a time.',
    zh: '该名单突然少了许多成员。将再次读取，并逐步核实这些成员。',
  },
  unreadList: {
    en: 'The last response could not be used. It is asked for again.',
    zh: '上次响应无法使用，稍后重试。',
  },
  listNames: {
    suspended: { en: 'Suspended members', zh: '被封禁的成员' },
    staff: { en: 'Administrators and moderators', zh: '管理员与版主' },
    silenced: { en: 'Silenced members', zh: '被禁言的成员' },
    groups: { en: 'Groups', zh: '用户组' },
    names: { en: 'All members, for their names', zh: '全部成员（用户名）' },
    trust_level_1: { en: 'Trust level 1 and above', zh: '信任等级 1 级及以上' },
    trust_level_2: { en: 'Trust level 2 and above', zh: '信任等级 2 级及以上' },
    trust_level_3: { en: 'Trust level 3 and above', zh: '信任等级 3 级及以上' },
    trust_level_4: { en: 'Trust level 4', zh: '信任等级 4 级' },
    scores: { en: 'Scores', zh: '得分' },
  },
  group: { en: 'Group', zh: '用户组' },
  lastEvent: { en: 'Last webhook', zh: '最近的 webhook' },
  lastChecked: { en: 'Last member updated', zh: '最近更新的成员' },
  members: { en: 'Members', zh: '成员数' },
  due: { en: 'Out of date', zh: '待更新' },
  since: { en: 'since', zh: '始于' },
  hinted: { en: 'Changed at the forum, not yet here', zh: '论坛已变动，本站待更新' },
  unchecked: { en: 'Never updated', zh: '从未更新' },
  failing: { en: 'Update failed', zh: '更新失败' },
  failures: { en: 'Failed updates', zh: '更新失败的成员' },
  again: { en: 'next attempt', zh: '重试时间' },
  groups: { en: 'Groups that came from the forum', zh: '来自论坛的用户组' },
  aliases: { en: 'Change aliases', zh: '修改别名' },
  taken: {
    en: 'Not imported, because a local group has the name:',
    zh: '以下论坛用户组与本站用户组同名，未导入：',
  },
  takenRemedy: {
    en: 'Rename the group at the forum, give it an alias, or delete the local group. Its members follow at their next update.',
    zh: '可在论坛改名、设置别名，或删除本站用户组；成员在下次更新时恢复。',
  },
  noGroupsText: { en: 'A group appears here with its first member.', zh: '有成员加入后会显示在这里。' },
  groupId: { en: 'ID at the forum', zh: '论坛编号' },
  groupName: { en: 'Name here', zh: '本站名称' },
} satisfies Texts
