/** The site settings in words: what each is called, and what it does. */
import type { SettingBaseName } from '../../core/setting-values.ts'
import type { Text } from '../../web/languages.ts'
import { POINT, POINTS } from '../../web/site-words.ts'

type Named = { label: Text; hint: Text }

const noLimit = (en: string, zh: string): Text => ({
  en: `${en} 0 means no limit.`.trimStart(),
  zh: `${zh}0 表示不限。`,
})

export const names = {
  site_name_zh_cn: {
    label: { en: 'Name in Chinese', zh: '中文站名' },
    hint: { en: 'Shown on every page, email and document.', zh: '显示在所有页面、邮件和文档中。' },
  },
  site_name_en: {
    label: { en: 'Name in English', zh: '英文站名' },
    hint: { en: 'If you enter only one name, both languages use it.', zh: '只填一个时，两种语言都用它。' },
  },
  point_zh_cn: {
    label: { en: 'In Chinese', zh: '中文名称' },
    hint: { en: 'For example 金币. Empty: 积分.', zh: '例如“金币”；留空为“积分”。' },
  },
  point_one_en: {
    label: { en: 'In English, singular', zh: '英文单数' },
    hint: { en: 'For example coin. Empty: point.', zh: '例如 coin；留空为 point。' },
  },
  point_many_en: {
    label: { en: 'In English, plural', zh: '英文复数' },
    hint: { en: 'For example coins. Empty: points.', zh: '例如 coins；留空为 points。' },
  },
  site_logo: {
    label: { en: 'Logo', zh: '图标' },
    hint: {
      en: 'The https address of a square picture, or upload one below.',
      zh: '方形图片的 https 地址，也可以在下方上传。',
    },
  },
  site_accent: {
    label: { en: 'Colour', zh: '主题色' },
    hint: {
      en: 'For buttons, links and the plate of the wallet, such as #0e6a5f. Empty: the green of the service.',
      zh: '用于按钮、链接和钱包卡片，例如 #0e6a5f；留空为默认的绿色。',
    },
  },
  link_forum: {
    label: { en: 'Forum', zh: '论坛' },
    hint: { en: `Also where members earn ${POINTS}.`, zh: `也是成员赚取${POINTS}的地方。` },
  },
  link_terms: {
    label: { en: 'Terms of service', zh: '服务条款' },
    hint: { en: 'Empty: no link.', zh: '留空则不显示。' },
  },
  link_privacy: {
    label: { en: 'Privacy policy', zh: '隐私政策' },
    hint: { en: 'Empty: no link.', zh: '留空则不显示。' },
  },
  link_contact: {
    label: { en: 'Contact', zh: '联系方式' },
    hint: { en: 'An https or mailto: address.', zh: 'https 或 mailto: 地址。' },
  },
  time_zone: {
    label: { en: 'Time zone', zh: '时区' },
    hint: {
      en: 'For every time, filter and figure on pages. Daily limits and the daily close always follow China time.',
      zh: '用于所有页面的时间、筛选和统计。每日限额与账本结账仍按北京时间。',
    },
  },
  set_up_finished: {
    label: { en: 'The set-up is finished', zh: '开站已完成' },
    hint: {
      en: 'Administrators begin at the overview. Otherwise they begin at the first steps.',
      zh: '管理员从总览开始；关闭时从开站清单开始。',
    },
  },
  points_payment_fee_rate: {
    label: { en: 'Payment fee', zh: '付款手续费' },
    hint: {
      en: `Taken from what the merchant receives, unless the application has a rate of its own.`,
      zh: `从商户收到的${POINTS}中扣除；有专属费率的应用除外。`,
    },
  },
  order_expiry_minutes: {
    label: { en: 'Time to pay an order', zh: '订单有效时间' },
    hint: { en: 'An order that is not paid by then expires.', zh: '到时仍未支付的订单自动过期。' },
  },
  reauthenticate_above_points: {
    label: { en: 'Sign in again for large payments', zh: '大额付款需重新登录' },
    hint: {
      en: 'Above this amount, the buyer must have signed in recently. 0 means never.',
      zh: '超过此金额时，买家须近期登录过。0 表示从不要求。',
    },
  },
  payments_read_only: {
    label: { en: 'Pause payments', zh: '暂停付款' },
    hint: {
      en: 'For maintenance: no orders, payments or transfers. Everything else works.',
      zh: '维护时使用：不能下单、付款或转账，其余照常。',
    },
  },
  second_approver: {
    label: { en: 'Refunds and adjustments need two administrators', zh: '退款与积分调整需双人审批' },
    hint: {
      en: 'This includes fees, terms of applications, transfer fees and limits, and the import of forum scores. Switching this off also needs two.',
      zh: '手续费、应用条款、转账手续费与限额、论坛得分导入也在其中。关闭此项同样需要两位管理员。',
    },
  },
  gateway_at_root: {
    label: { en: 'Gateway at the root of this host', zh: '在域名根路径提供网关' },
    hint: {
      en: 'For shop systems whose gateway address cannot have a path.',
      zh: '供网关地址不能带路径的商店系统使用。',
    },
  },
  access_keys: {
    label: { en: 'Access keys', zh: '访问密钥' },
    hint: {
      en: 'Programs of merchants get tokens with them and need no signature. Off, no such token is issued or accepted.',
      zh: '商户的程序用它换取令牌，无需签名。关闭后不再发放也不接受这类令牌。',
    },
  },
  alert_failed_attempts: {
    label: { en: 'Alert after failed notifications', zh: '通知失败提醒' },
    hint: {
      en: 'The shop’s team is alerted after this many failed attempts.',
      zh: '失败达到这个次数时提醒商店团队。',
    },
  },
  alert_key_hours: {
    label: { en: 'Alert before an old key expires', zh: '旧密钥到期提醒' },
    hint: { en: 'How long before a replaced key stops working.', zh: '在被替换的密钥失效前提前提醒。' },
  },
  suspicious_points_min: {
    label: { en: 'Smallest sum of a finding', zh: '可疑活动的最小数额' },
    hint: {
      en: `Sums below it are not listed as suspicious. 0 lists every sum.`,
      zh: `低于此数额的往来不列入可疑活动；填 0 则全部列出。`,
    },
  },
  points_transfers: {
    label: { en: 'Allow transfers by applications', zh: '允许应用转账' },
    hint: {
      en: `Payment applications can send ${POINTS} to members.`,
      zh: `收款应用可以向成员转出${POINTS}。`,
    },
  },
  payouts: {
    label: { en: 'Allow payouts by applications', zh: '允许应用批量付款' },
    hint: {
      en: 'An owner can make many transfers at once, from a file.',
      zh: '应用所有者可以上传文件，一次完成多笔转账。',
    },
  },
  points_transfer_fee_rate: {
    label: { en: 'Transfer fee', zh: '转账手续费' },
    hint: { en: 'The sender pays it in addition, by trust level.', zh: '由转出方另付，按其信任等级计算。' },
  },
  points_transfer_min_amount: {
    label: { en: 'Smallest transfer', zh: '单笔转账下限' },
    hint: { en: 'By the sender’s trust level.', zh: '按转出方的信任等级。' },
  },
  points_transfer_max_amount: {
    label: { en: 'Largest transfer', zh: '单笔转账上限' },
    hint: { en: 'By the sender’s trust level.', zh: '按转出方的信任等级。' },
  },
  points_transfer_daily_limit: {
    label: { en: 'All transfers of a day', zh: '每日转账总额' },
    hint: {
      en: 'Empty means no limit. Days begin at midnight in China (UTC+8).',
      zh: '留空表示不限。每天从北京时间零点算起。',
    },
  },
  mandates: {
    label: { en: 'Mandates', zh: '预授权扣款' },
    hint: {
      en: `Members can permit shops to charge ${POINTS} later, within limits. Each shop also needs the right from you.`,
      zh: `成员可以允许商户日后在限额内扣取${POINTS}。每个商户还需要你授予资格。`,
    },
  },
  mandate_charge_max: {
    label: { en: 'Largest charge', zh: '单次扣款上限' },
    hint: {
      en: 'By the level of the charged member, when agreeing and at each charge. 0 means no charge at all.',
      zh: '按被扣款成员的等级，同意时和每次扣款时都会检查。0 表示不能扣款。',
    },
  },
  mandate_month_max: {
    label: { en: 'All charges of a month', zh: '每月扣款总额' },
    hint: {
      en: 'What all mandates of a member may take in a month together. A lower figure ends none, but no more can be agreed to.',
      zh: '一名成员的全部预授权每月合计最多可扣。调低不会结束已有的预授权，但不能再同意更多。',
    },
  },
  mandates_fresh_sign_in_above: {
    label: { en: 'Sign in again to agree', zh: '同意扣款需重新登录' },
    hint: {
      en: `Above this many ${POINTS} a period. 0 means always, empty means never.`,
      zh: `每期超过这么多${POINTS}时。0 表示总是，留空表示从不。`,
    },
  },
  links: {
    label: { en: 'Payment links', zh: '收款链接' },
    hint: {
      en: 'Shops can sell by sharing the address of a page, without a program of their own.',
      zh: '商户无需自己的程序，分享一个页面地址即可出售。',
    },
  },
  links_min_trust_level: {
    label: { en: 'Trust level to publish links', zh: '发布收款链接所需等级' },
    hint: { en: 'Of the owner of the shop.', zh: '指商户所有者的等级。' },
  },
  links_free_max: {
    label: { en: 'Largest free price', zh: '自选金额上限' },
    hint: {
      en: 'The most that a buyer may choose to pay, by the level of the owner. 0 means fixed prices only.',
      zh: '买家自选金额的上限，按所有者的等级。0 表示只能使用固定价格。',
    },
  },
  registration: {
    label: { en: 'Open registration', zh: '开放注册' },
    hint: {
      en: 'Anyone can create a local account. This has no effect while a forum is connected.',
      zh: '任何人都可以注册本地账号；已连接论坛时此项不起作用。',
    },
  },
  reauthenticate_minutes: {
    label: { en: 'A sign-in counts as recent for', zh: '近期登录的时限' },
    hint: { en: 'After that, sensitive acts require another sign-in.', zh: '超过后，敏感操作须重新登录。' },
  },
  admins_need_second_factor: {
    label: { en: 'Administrators need two-step verification', zh: '管理员必须启用两步验证' },
    hint: {
      en: 'For local accounts. Forum members set it up at the forum.',
      zh: '适用于本地账号；论坛账号在论坛设置。',
    },
  },
  apps_min_trust_level: {
    label: { en: 'Trust level for sign-in applications', zh: '创建登录应用所需信任等级' },
    hint: { en: 'From 0 to 4.', zh: '0 到 4。' },
  },
  payment_apps_min_trust_level: {
    label: { en: 'Trust level for payment applications', zh: '申请收款应用所需信任等级' },
    hint: { en: 'From 1 to 4. Each one is reviewed as well.', zh: '1 到 4。每个申请仍须审核。' },
  },
  apps_by_any_token: {
    label: { en: 'Applications created by applications', zh: '由应用创建的登录应用' },
    hint: {
      en: 'An application may create others in a member’s name, who confirms or deletes them.',
      zh: '应用可以以成员名义创建登录应用，由该成员确认或删除。',
    },
  },
  client_id_metadata_documents: {
    label: { en: 'Sign-in without registration', zh: '免注册登录' },
    hint: {
      en: 'Programs, such as AI agents, that publish their name and addresses in a client metadata document.',
      zh: '适用于自行发布客户端元数据文档（名称与地址）的程序，例如 AI 智能体。',
    },
  },
  client_id_metadata_hosts: {
    label: { en: 'Listed hosts', zh: '允许的主机' },
    hint: {
      en: 'One per line, such as app.example.com. Used while only these hosts are allowed.',
      zh: '每行一个，例如 app.example.com；仅在只允许所列主机时使用。',
    },
  },
  refresh_grace_seconds: {
    label: { en: 'Retry window of a token refresh', zh: '刷新令牌的重试时间' },
    hint: {
      en: 'An application that lost the response may repeat the refresh. 0: a token that is used twice counts as stolen.',
      zh: '应用未收到刷新响应时可在此时间内重试。0 表示重复使用即视为被盗。',
    },
  },
  signing_key_days: {
    label: { en: 'Replace signing keys after', zh: '签名密钥轮换周期' },
    hint: { en: 'The key that signs ID tokens.', zh: '用于签发 ID 令牌的密钥。' },
  },
  forum_requests_per_minute: {
    label: { en: 'Requests to the forum', zh: '向论坛发出的请求' },
    hint: {
      en: 'In all: for updates three fifths of them, for sign-ins the rest. The forum counts all administrators’ keys together and allows 60.',
      zh: '总数：后台更新最多占五分之三，其余用于登录。论坛把所有管理员密钥合并计数，共允许 60 次。',
    },
  },
  forum_group_aliases: {
    label: { en: 'Aliases of forum groups', zh: '论坛用户组别名' },
    hint: { en: 'One per line, such as 开发者 = developers.', zh: '每行一个，例如：开发者 = developers' },
  },
  forum_wallet: {
    label: { en: 'Wallet in the forum', zh: '在论坛显示钱包' },
    hint: {
      en: 'Forum and service need one domain. Any script on the forum’s pages can then read the balance and the newest movements of a signed-in member, and never act.',
      zh: '论坛与本站须在同一域名下。此后论坛页面上的任何脚本都能读取已登录成员的余额和最近几笔记录，但不能代为操作。',
    },
  },
  tips: {
    label: { en: 'Tips', zh: '打赏' },
    hint: {
      en: `Members can give ${POINTS} to authors of the forum. Set tips up on the page of the forum first. Scripts of the forum’s pages learn whether tips are on, and never act.`,
      zh: `成员可以把${POINTS}打赏给论坛作者。请先在论坛页面设置打赏。论坛页面上的脚本能看到是否开启打赏，但不能代为操作。`,
    },
  },
  tip_amounts: {
    label: { en: 'Amounts to choose from', zh: '可选金额' },
    hint: {
      en: 'One to six, the smallest first, such as 10,50,100. Members may enter another amount, from the smallest on.',
      zh: '一到六个，从小到大，例如 10,50,100。成员也可以填写不低于最小值的其他金额。',
    },
  },
  tip_receive_min_trust_level: {
    label: { en: 'Trust level to receive tips', zh: '收打赏所需等级' },
    hint: { en: 'Of the author.', zh: '指作者的等级。' },
  },
  tip_min_age_days: {
    label: { en: 'Age of the account to give tips', zh: '打赏所需账号年龄' },
    hint: { en: 'Since the first sign-in here.', zh: '从首次登录本站算起。' },
  },
  tip_max: {
    label: { en: 'Largest tip', zh: '单次打赏上限' },
    hint: { en: 'By the level of the giver. 0 means no tips.', zh: '按打赏者的等级。0 表示不能打赏。' },
  },
  tip_day_max: {
    label: { en: 'Given a day', zh: '每日打赏上限' },
    hint: {
      en: 'By one member, by level. A refund gives nothing of it back.',
      zh: '每位成员，按等级。退款不返还额度。',
    },
  },
  tip_received_day_max: {
    label: { en: 'Received a day', zh: '每日收打赏上限' },
    hint: { en: 'By one author.', zh: '每位作者。' },
  },
  tip_pair_week_max: {
    label: { en: 'Tips between two members', zh: '两位成员之间的打赏次数' },
    hint: { en: 'In seven days, in both directions together.', zh: '七天内，双向合计。' },
  },
  forum_points_bridge: {
    label: { en: `Turn forum scores into ${POINTS}`, zh: `论坛得分换${POINTS}` },
    hint: {
      en: `Once a day, one ${POINT} for each point of the score gained.`,
      zh: `每天一次，得分每增长 1 发放 1 ${POINTS}。`,
    },
  },
  forum_points_for_past_score: {
    label: { en: 'Include earlier scores', zh: '包括以往得分' },
    hint: {
      en: 'A member’s first import counts the whole score.',
      zh: '成员首次导入时，以往的得分也计入。',
    },
  },
  forum_leaderboard_id: {
    label: { en: 'Leaderboard', zh: '排行榜' },
    hint: {
      en: 'Its number in the forum’s address. Empty: the default leaderboard. Gains since the last import count, so another leaderboard may grant more.',
      zh: '论坛地址中的排行榜编号，留空为默认排行榜。按上次导入后的增长计算，更换排行榜可能多发。',
    },
  },
  limit_sign_in_failures_per_account: {
    label: { en: 'Failed sign-ins per account', zh: '单个账号登录失败次数' },
    hint: noLimit('Within 15 minutes. Further attempts must wait.', '15 分钟内达到此次数后须等待。'),
  },
  limit_sign_in_failures_per_address: {
    label: { en: 'Failed sign-ins per address', zh: '单个地址登录失败次数' },
    hint: noLimit('Within 15 minutes. Further attempts must wait.', '15 分钟内达到此次数后须等待。'),
  },
  limit_registrations: {
    label: { en: 'Registrations per address', zh: '单个地址注册次数' },
    hint: noLimit('While registration is open.', '开放注册时适用。'),
  },
  limit_pages: {
    label: { en: 'Pages per address', zh: '单个地址的页面请求' },
    hint: noLimit('', ''),
  },
  limit_apps_created: {
    label: { en: 'Sign-in applications created', zh: '创建登录应用' },
    hint: noLimit('', ''),
  },
  limit_key_pairs: {
    label: { en: 'Payment applications and key pairs created', zh: '创建收款应用与密钥对' },
    hint: noLimit('Each takes some computing time.', '每次都需要一定计算时间。'),
  },
  limit_invitations: {
    label: { en: 'Invitations and hand-overs', zh: '团队邀请与应用移交' },
    hint: noLimit('', ''),
  },
  limit_payouts: {
    label: { en: 'Payouts created', zh: '新建批量付款' },
    hint: noLimit('For each application.', '每个应用分别计算。'),
  },
  limit_links_created: {
    label: { en: 'Payment links created', zh: '创建收款链接' },
    hint: noLimit('For each application.', '每个应用分别计算。'),
  },
  limit_link_orders: {
    label: { en: 'Orders at payment links', zh: '在收款链接下单' },
    hint: noLimit('', ''),
  },
  limit_link_reports: {
    label: { en: 'Reports of payment links', zh: '举报收款链接' },
    hint: noLimit('', ''),
  },
  limit_tips: {
    label: { en: 'Tips begun', zh: '发起打赏' },
    hint: noLimit('', ''),
  },
  limit_metadata_fetches: {
    label: { en: 'Client metadata documents fetched', zh: '读取客户端元数据文档' },
    hint: noLimit('A document is kept for up to a day.', '读取后最多保留一天。'),
  },
  limit_test_orders: {
    label: { en: 'Test orders', zh: '测试订单' },
    hint: noLimit(
      'Across all test applications of a member. Test orders are kept permanently.',
      '一位成员的所有测试应用合计；测试订单永久保留。',
    ),
  },
  limit_exports: {
    label: { en: 'Exports of personal data', zh: '导出个人数据' },
    hint: noLimit('', ''),
  },
  limit_order_files: {
    label: { en: 'Downloads of order files', zh: '下载订单文件' },
    hint: noLimit('', ''),
  },
  limit_token_failures: {
    label: { en: 'Failures at the token endpoint', zh: '令牌端点失败次数' },
    hint: noLimit('Per application and address.', '按应用和地址计。'),
  },
  limit_refreshes: {
    label: { en: 'Refreshes per grant', zh: '每次授权的刷新次数' },
    hint: noLimit('One more for each minute of its age.', '授权后每过一分钟再加一次。'),
  },
  limit_device_requests: {
    label: { en: 'Codes for devices', zh: '设备登录代码' },
    hint: noLimit('Per application and network.', '按应用和网络计。'),
  },
  limit_api_requests: {
    label: { en: 'API requests', zh: '接口请求' },
    hint: noLimit('Per payment application.', '按收款应用计。'),
  },
  limit_access_tokens: {
    label: { en: 'Tokens of an access key', zh: '单个访问密钥的令牌' },
    hint: noLimit('A token works for an hour.', '一个令牌一小时内有效。'),
  },
  limit_refused_requests: {
    label: { en: 'Refused requests kept', zh: '保留的被拒请求' },
    hint: noLimit('The owner of the application can view them.', '应用所有者可以查看。'),
  },
  limit_address_tries: {
    label: { en: 'Address tests', zh: '测试地址' },
    hint: noLimit('Per payment application.', '按收款应用计。'),
  },
  announcement_zh_cn: {
    label: { en: 'In Chinese', zh: '中文公告' },
    hint: { en: 'Empty: no announcement.', zh: '留空则不显示。' },
  },
  announcement_en: {
    label: { en: 'In English', zh: '英文公告' },
    hint: {
      en: 'If you enter only one text, both languages show it.',
      zh: '只填一种语言时，两种语言都显示它。',
    },
  },
} satisfies Record<SettingBaseName, Named>
