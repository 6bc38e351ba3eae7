/** Texts of the site settings. */
import type { SettingName } from '../../core/setting-values.ts'
import type { Text, Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

type NumberBounds = { min: string; max: string }
type TextBounds = { max: string }
/** A setting's name without its trust level: every one has a text. */
type SettingBaseName = SettingName extends infer Name
  ? Name extends `${infer Base}_tl${number}`
    ? Base
    : Name
  : never

export const settings = {
  title: { en: 'Site settings', zh: '站点设置' },
  lead: {
    en: 'A change is in force at once, and in every process within seconds. Each is kept with who made it.',
    zh: '更改立即生效，各进程数秒内同步；每次更改都会记录操作人。',
  },
  save: { en: 'Save', zh: '保存' },
  logoUploaded: { en: 'Every page now shows the new logo.', zh: '所有页面已使用新标志。' },
  history: { en: 'History', zh: '历史' },
  isDefault: { en: 'default', zh: '默认值' },
  choices: {
    on: { en: 'on', zh: '开启' },
    off: { en: 'off', zh: '关闭' },
    open: { en: 'open', zh: '开放' },
    closed: { en: 'closed', zh: '关闭' },
  },
  /** What the value of a setting must be, by how it is entered. */
  must: {
    choice: () => ({ en: 'One of these.', zh: '请从所列选项中选择。' }),
    number: ({ min, max }: NumberBounds) => ({
      en: `A whole number from ${min} to ${max}.`,
      zh: `须为 ${min} 至 ${max} 之间的整数。`,
    }),
    rate: () => ({
      en: 'A share between 0 and 1, like 0.05, with at most 6 decimals.',
      zh: '须为 0 到 1 之间的小数，如 0.05，最多 6 位小数。',
    }),
    points: () => ({ en: `A whole number of ${POINTS}.`, zh: `须为整数${POINTS}。` }),
    pointsOrNone: () => ({
      en: `A whole number of ${POINTS}, or nothing.`,
      zh: `须为整数${POINTS}，或留空。`,
    }),
    text: ({ max }: TextBounds) => ({ en: `At most ${max} characters.`, zh: `最多 ${max} 个字符。` }),
    line: ({ max }: TextBounds) => ({
      en: `One line of at most ${max} characters.`,
      zh: `一行，最多 ${max} 个字符。`,
    }),
    link: () => ({
      en: 'An address that begins with https:// or mailto:, or nothing.',
      zh: '以 https:// 或 mailto: 开头的地址，可留空。',
    }),
    picture: () => ({
      en: 'The address of a picture that begins with https://, or nothing.',
      zh: '以 https:// 开头的图片地址，可留空。',
    }),
    colour: () => ({
      en: 'A colour like #0e695f, dark enough to be seen on a white page, or nothing.',
      zh: '形如 #0e695f、在白底上清晰可见的颜色，可留空。',
    }),
    timeZone: () => ({ en: 'A time zone like Asia/Shanghai.', zh: '时区名称，如 Asia/Shanghai。' }),
    pairs: () => ({
      en: 'Pairs like 开发者 = developers, separated by commas or lines.',
      zh: '须为“开发者 = developers”这样的对应关系，以逗号或换行分隔。',
    }),
  },
  areas: {
    site: { en: 'Maintenance', zh: '维护' },
    payments: { en: 'Payments', zh: '付款' },
    transfers: { en: 'Transfers', zh: '转账' },
    signIn: { en: 'Sign-in and applications', zh: '登录与应用' },
    limits: { en: 'Limits', zh: '频率限制' },
    forum: { en: 'Forum', zh: '论坛' },
  },
  names: {
    site_name_en: { en: 'Site name in English', zh: '英文站名' },
    site_name_zh_cn: { en: 'Site name in Chinese', zh: '中文站名' },
    point_one_en: { en: 'One point in English', zh: '积分的英文单数' },
    point_many_en: { en: 'Several points in English', zh: '积分的英文复数' },
    point_zh_cn: { en: 'Points in Chinese', zh: '积分的中文名称' },
    site_logo: { en: 'Logo', zh: '标志' },
    site_accent: { en: 'Accent colour', zh: '主题色' },
    link_forum: { en: 'Forum', zh: '论坛地址' },
    link_terms: { en: 'Terms of service', zh: '服务条款地址' },
    link_privacy: { en: 'Privacy policy', zh: '隐私政策地址' },
    link_contact: { en: 'Contact', zh: '联系方式' },
    time_zone: { en: 'Time zone', zh: '时区' },
    payments_read_only: { en: 'Payments read-only', zh: '暂停支付' },
    second_approver: {
      en: 'Corrections, fees, terms, transfer rates and limits, and the forum bridge need a second administrator, and so does switching this off',
      zh: '更正、手续费、应用条款、转账费率与限额、论坛得分导入需第二位管理员批准，关闭此项亦然',
    },
    announcement_en: { en: 'Announcement on every page, in English', zh: '每页顶部的英文公告' },
    announcement_zh_cn: { en: 'Announcement on every page, in Chinese', zh: '每页顶部的中文公告' },
    points_payment_fee_rate: { en: 'Fee of a payment, as a share', zh: '付款手续费比例' },
    points_transfers: { en: 'Transfers', zh: '转账功能' },
    points_transfer_fee_rate: { en: 'Fee of a transfer, as a share', zh: '转账手续费比例' },
    points_transfer_min_amount: { en: `Least ${POINTS} of a transfer`, zh: '单笔转账下限' },
    points_transfer_max_amount: { en: `Most ${POINTS} of a transfer`, zh: '单笔转账上限' },
    points_transfer_daily_limit: {
      en: `Most ${POINTS} transferred in a day; empty: no limit`,
      zh: '每日转账上限；留空为不限',
    },
    order_expiry_minutes: { en: 'Minutes in which an order can be paid', zh: '订单有效分钟数' },
    apps_min_trust_level: { en: 'Trust level to register an application', zh: '登记应用所需信任等级' },
    refresh_grace_seconds: {
      en: 'Seconds in which an application may repeat a refresh whose answer it lost; 0: a token used twice counts as stolen',
      zh: '应用未收到刷新结果时可重试的秒数；0 表示重复使用即视为被盗',
    },
    alert_failed_attempts: {
      en: 'Failed attempts of a notification after which its shop’s owner is told',
      zh: '通知失败多少次后提醒商店所有者',
    },
    alert_key_hours: {
      en: 'Hours before a replaced key ends at which its owner is told',
      zh: '旧密钥失效前多少小时提醒所有者',
    },
    signing_key_days: { en: 'Days a key signs ID tokens', zh: '签名密钥使用天数' },
    limit_token_failures: {
      en: 'Failures a minute of one application and address at the token endpoint; 0: no limit',
      zh: '每个应用和地址每分钟在令牌端点可失败的次数；0 表示不限',
    },
    limit_refreshes: {
      en: 'Refreshes of one grant’s tokens; each minute of its age allows one more; 0: no limit',
      zh: '每次授权可刷新令牌的次数，授权后每过一分钟再加一次；0 表示不限',
    },
    limit_api_requests: {
      en: 'Requests a minute of one payment application; 0: no limit',
      zh: '每个收款应用每分钟的请求数；0 表示不限',
    },
    limit_refused_requests: {
      en: 'Refused requests a minute that are kept for the owner of a payment application; 0: no limit',
      zh: '每分钟为收款应用所有者保留的被拒请求数；0 表示不限',
    },
    limit_pages: {
      en: 'Pages a minute for one address; 0: no limit',
      zh: '每个地址每分钟的页面数；0 表示不限',
    },
    limit_exports: {
      en: 'Times an hour that a member may take out their data; 0: no limit',
      zh: '每位成员每小时可导出数据的次数；0 表示不限',
    },
    limit_order_files: {
      en: 'Files of orders that a member may download in an hour; 0: no limit',
      zh: '每位成员每小时可下载订单文件的次数；0 表示不限',
    },
    limit_test_orders: {
      en: 'Test orders that a member’s applications may create in an hour; 0: no limit',
      zh: '每位成员的应用每小时可创建的测试订单数；0 表示不限',
    },
    limit_address_tries: {
      en: 'Tries an hour of a payment application’s addresses; 0: no limit',
      zh: '每个收款应用每小时可测试地址的次数；0 表示不限',
    },
    limit_key_pairs: {
      en: 'Payment applications and pairs of keys that are made for a member in an hour; 0: no limit',
      zh: '每位成员每小时可新建的收款应用与密钥对的总数；0 表示不限',
    },
    limit_invitations: {
      en: 'Times an hour that a member may invite to a team or offer an application; 0: no limit',
      zh: '每位成员每小时可邀请团队成员或移交应用的次数；0 表示不限',
    },
    limit_apps_created: {
      en: 'Applications a member may register in an hour; 0: no limit',
      zh: '每位成员每小时可注册的应用数；0 表示不限',
    },
    limit_registrations: {
      en: 'Accounts that may be made from one address in an hour, while registration is open; 0: no limit',
      zh: '开放注册时每个地址每小时可创建的账号数；0 表示不限',
    },
    limit_sign_in_failures_per_account: {
      en: 'Failed sign-ins after which an account has to wait; 0: no limit',
      zh: '账号登录失败多少次后须等待；0 表示不限',
    },
    limit_sign_in_failures_per_address: {
      en: 'Failed sign-ins after which an address has to wait; 0: no limit',
      zh: '地址登录失败多少次后须等待；0 表示不限',
    },
    gateway_at_root: {
      en: 'Payment gateway at the root of the host too',
      zh: '在域名根路径同时提供支付网关',
    },
    payment_apps_min_trust_level: {
      en: 'Trust level to apply for a payment application',
      zh: '申请收款应用所需信任等级',
    },
    registration: {
      en: 'Anybody may make a local account; while a forum is configured nobody may, whatever is set here',
      zh: '任何人都可以注册本地账号；已配置论坛时，无论如何设置都不开放注册',
    },
    admins_need_second_factor: { en: 'Administrators need a second factor', zh: '管理员必须启用两步验证' },
    reauthenticate_minutes: { en: 'Minutes a sign-in counts as fresh', zh: '登录视为近期的分钟数' },
    reauthenticate_above_points: {
      en: `${POINTS} above which paying needs a fresh sign-in; 0: never`,
      zh: `超过此${POINTS}付款须重新登录；0 为从不`,
    },
    forum_requests_per_minute: { en: 'Requests a minute to the forum', zh: '每分钟论坛接口请求数' },
    forum_group_aliases: { en: 'Names of forum groups here', zh: '论坛用户组别名' },
    forum_points_bridge: { en: `Import forum scores as ${POINTS}`, zh: `将论坛得分导入为${POINTS}` },
    forum_points_for_past_score: {
      en: 'Grant the score from before the first import',
      zh: '首次导入时发放历史得分',
    },
  } satisfies Record<SettingBaseName, Text>,
} satisfies Texts
