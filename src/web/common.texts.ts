/** Texts of the frame around every page, and words that pages of several areas share. */
import type { Text, Texts } from './languages.ts'
import type { Period } from './periods/periods.ts'
import { counted } from './plurals.ts'
import { POINT, POINTS, SITE } from './site-words.ts'

export const common = {
  tagline: { en: 'One sign-in and one wallet for the community', zh: `社区的统一登录与${POINTS}钱包` },
  /** Lines break between these parts only. */
  headline: [
    { en: 'One account.', zh: '一个账号，' },
    { en: 'One wallet.', zh: '一个钱包，' },
    { en: 'The whole community.', zh: '连接整个社区' },
  ],
  skipToContent: { en: 'Skip to content', zh: '跳到正文' },
  menu: { en: 'Menu', zh: '菜单' },
  shortMenu: { en: 'Short menu', zh: '快捷菜单' },
  closeMenu: { en: 'Close the menu', zh: '关闭菜单' },
  home: { en: 'Home', zh: '首页' },
  wallet: { en: 'Wallet', zh: '钱包' },
  applications: { en: 'Sign-in applications', zh: '登录应用' },
  payments: { en: 'Payment applications', zh: '收款应用' },
  docs: { en: 'Documentation', zh: '开发文档' },
  administration: { en: 'Administration', zh: '站点管理' },
  building: { en: 'Sell and build', zh: '开发与收款' },
  site: { en: 'Site', zh: '站点' },
  forum: { en: 'Forum', zh: '论坛' },
  terms: { en: 'Terms', zh: '服务条款' },
  privacy: { en: 'Privacy', zh: '隐私政策' },
  contact: { en: 'Contact', zh: '联系我们' },
  timesIn: (zone: string) => ({ en: `Times in ${zone}`, zh: `时间均为${zone}` }),
  accountMenu: { en: 'Your account', zh: '我的账号' },
  signIn: { en: 'Sign in', zh: '登录' },
  signOut: { en: 'Sign out', zh: '退出登录' },
  switchAccount: { en: 'Switch account', zh: '切换账号' },
  language: { en: 'Language', zh: '语言' },
  points: (formatted: string, amount: bigint | number) => ({
    en: `${formatted} ${counted(amount, POINT, POINTS)}`,
    zh: `${formatted} ${POINTS}`,
  }),
  pointsUnit: (amount: bigint | number) => ({ en: counted(amount, POINT, POINTS), zh: POINTS }),
  playUnit: (amount: bigint | number) => ({
    en: `play ${counted(amount, POINT, POINTS)}`,
    zh: `虚拟${POINTS}`,
  }),
  /** The mark of a review of either kind of application. */
  reviewed: { en: `Reviewed by ${SITE}`, zh: '已由本站审核' },
  unreviewed: { en: `Not reviewed by ${SITE}`, zh: '未经本站审核' },
  /** Of a shop whose present face no review has seen. */
  changedSince: { en: 'Changed since its review', zh: '审核后有修改' },
  trustLevel: (level: number) => ({ en: `Trust level ${level}`, zh: `信任等级 ${level}` }),
  cancel: { en: 'Cancel', zh: '取消' },
  backToStart: { en: 'Back to the start page', zh: '返回首页' },
  reference: { en: 'Reference', zh: '参考编号' },
  optional: { en: 'optional', zh: '选填' },
  save: { en: 'Save', zh: '保存' },
  announcement: { en: 'Announcement', zh: '公告' },
  paymentsPaused: {
    en: 'Maintenance: payments are paused. You can still view everything, and nothing is lost.',
    zh: '系统维护中，暂停支付。仍可查看所有内容，数据不受影响。',
  },
  profile: { en: 'Account and security', zh: '账号与安全' },
  alerts: { en: 'Alerts', zh: '提醒' },
  alertsCount: (n: number) => ({ en: `Alerts (${n})`, zh: `提醒（${n}）` }),
  paymentsShort: { en: 'Payments', zh: '付款' },
  appsShort: { en: 'Apps', zh: '应用' },
  myPayments: { en: 'My payments', zh: '我的付款' },
  allApps: { en: 'All apps', zh: '全部应用' },
  authorisedApps: { en: 'Authorised apps', zh: '已授权应用' },
  sessions: { en: 'Where you are signed in', zh: '登录的设备' },
  testMode: { en: 'Test mode', zh: '测试模式' },
  testModeMark: {
    en: `play ${POINTS} only, worth nothing`,
    zh: `仅用虚拟${POINTS}，没有价值`,
  },
  /** How fast activity in the forum earns points. */
  earnedDaily: {
    en: `What your forum score gains becomes ${POINTS}, once a day.`,
    zh: `论坛积分榜上的增长每天一次换成${POINTS}。`,
  },
  colon: { en: ': ', zh: '：' },
  /** What stands behind a text in brackets. */
  inBrackets: (text: string) => ({ en: ` (${text})`, zh: `（${text}）` }),
  /** Between the things of a list. */
  comma: { en: ', ', zh: '、' },
  fullStop: { en: '.', zh: '。' },
  reason: { en: 'Reason', zh: '理由' },
  copy: { en: 'Copy', zh: '复制' },
  download: { en: 'Download', zh: '下载' },
  copied: { en: 'Copied', zh: '已复制' },
  show: { en: 'Show', zh: '显示' },
  hide: { en: 'Hide', zh: '隐藏' },
  openGuide: { en: 'Open the guide with these values', zh: '打开指南（已填入以上的值）' },
  print: { en: 'Print', zh: '打印' },
  /** The figure of a day or week, in a chart. */
  figureOf: (day: string, figure: string) => ({ en: `${day}: ${figure}`, zh: `${day}：${figure}` }),
  /** In the legend of a chart whose bars consist of tiles. */
  tile: (value: string) => ({ en: `1 tile = ${value}`, zh: `每格 ${value}` }),
} satisfies Texts

/** Texts of sheets for paper: receipts and statements. */
export const paper = {
  number: { en: 'No.', zh: '编号' },
  member: (id: string) => ({ en: `member ${id}`, zh: `成员 ${id}` }),
  asOf: { en: 'As of', zh: '截至' },
} satisfies Texts

/** Texts of searching and turning pages in a list. */
export const lists = {
  search: { en: 'Search', zh: '搜索' },
  find: { en: 'Search', zh: '搜索' },
  all: { en: 'All', zh: '全部' },
  older: { en: 'Older', zh: '更早' },
  newest: { en: 'Back to the newest', zh: '回到最新' },
  clear: { en: 'Show everything', zh: '显示全部' },
  nothing: { en: 'No results', zh: '没有结果' },
  nothingYet: { en: 'No results so far', zh: '目前没有结果' },
  lookedBackTo: { en: 'Searched back to', zh: '已搜索至' },
  lookOn: { en: 'Search further back', zh: '继续往前搜索' },
  shown: (first: string, last: string, of: string | undefined, isMore: boolean) => ({
    en: `${first}–${last}${of === undefined ? '' : ` of ${isMore ? 'at least ' : ''}${of}`}`,
    zh: `第 ${first}–${last} 条${of === undefined ? '' : `，共 ${of} 条${isMore ? '以上' : ''}`}`,
  }),
  fileRows: (formatted: string, { rows, isMore }: { rows: number; isMore: boolean }, max: string) => ({
    en: isMore
      ? `The CSV file will have at least ${formatted} rows, at most ${max}, the newest first.`
      : `The CSV file will have ${formatted} ${counted(rows, 'row', 'rows')}, the newest first.`,
    zh: isMore
      ? `CSV 文件将至少有 ${formatted} 行，最多 ${max} 行，从新到旧。`
      : `CSV 文件将有 ${formatted} 行，从新到旧。`,
  }),
} satisfies Texts

/** Texts of refused forms, which their pages show. */
export const forms = {
  missing: { en: 'Fill this in.', zh: '请填写此项。' },
  tooLong: (max: number) => ({ en: `At most ${max} characters.`, zh: `最多 ${max} 个字符。` }),
  wrong: { en: 'This cannot be used. Check it.', zh: '此项无法使用，请检查。' },
  correct: {
    en: 'Nothing was changed. Correct what is marked, and send the form again.',
    zh: '没有任何更改。请修改标出的内容后重新提交。',
  },
  logoRefused: {
    en: 'Nothing was changed. Choose a PNG of at most 512 pixels a side.',
    zh: '没有任何更改。请选择边长不超过 512 像素的 PNG 图片。',
  },
  kept: { en: 'Nothing was changed yet', zh: '尚未更改任何内容' },
  sendAgain: {
    en: 'Check the form and send it again. Passwords, codes, keys and files must be entered again.',
    zh: '请核对表单后重新提交。密码、验证码、密钥和文件需要重新填写。',
  },
} satisfies Texts

/** Texts of the time that a list is limited to. */
export const periods = {
  title: { en: 'Time', zh: '时间' },
  any: { en: 'Any time', zh: '全部时间' },
  ownDays: { en: 'Custom dates', zh: '自选日期' },
  names: {
    today: { en: 'Today', zh: '今天' },
    week: { en: 'Last 7 days', zh: '最近 7 天' },
    days30: { en: 'Last 30 days', zh: '最近 30 天' },
    days90: { en: 'Last 90 days', zh: '最近 90 天' },
    month: { en: 'This month', zh: '本月' },
    lastMonth: { en: 'Last month', zh: '上月' },
    year: { en: 'This year', zh: '今年' },
  } satisfies Record<Period, Text>,
  from: { en: 'From', zh: '从' },
  until: { en: 'To', zh: '至' },
  noDay: (text: string) => ({ en: `There is no day ${text}.`, zh: `没有 ${text} 这一天。` }),
  wrongOrder: { en: 'The first day is after the last one.', zh: '开始日期晚于结束日期。' },
  daysIn: (zone: string) => ({ en: `Days begin at midnight, ${zone}.`, zh: `日期以${zone}的零点为界。` }),
} satisfies Texts
