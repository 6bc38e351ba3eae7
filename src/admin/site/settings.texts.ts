/** Texts of the page of site settings. The settings themselves are in setting-names.texts.ts. */
import type { Unit } from '../../core/setting-kinds.ts'
import type { Group, Section } from '../../core/setting-values.ts'
import { common } from '../../web/common.texts.ts'
import type { Text, Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'
import { POINT, POINTS } from '../../web/site-words.ts'
import { names } from '../wording/setting-names.texts.ts'
import type { PRESETS } from './brand-sample.ts'

type Bounds = { min: string; max: string }

export const settings = {
  title: { en: 'Site settings', zh: '站点设置' },
  lead: {
    en: 'Changes take effect within 2 seconds and are recorded in the audit log.',
    zh: '保存后 2 秒内生效，并记入审计日志。',
  },
  logo: {
    upload: { en: 'Upload a picture', zh: '上传图片' },
    hint: {
      en: 'A square PNG of at most 512 pixels a side. It replaces the address above.',
      zh: '方形 PNG，边长不超过 512 像素。上传后替换上面的地址。',
    },
    button: { en: 'Upload', zh: '上传' },
  },
  colour: {
    show: { en: 'Show', zh: '预览' },
    pick: { en: 'Pick a colour', zh: '选取颜色' },
    presets: { en: 'Or start from one of these', zh: '或从这些颜色开始' },
    names: {
      green: { en: 'Green', zh: '绿色' },
      indigo: { en: 'Indigo', zh: '靛蓝' },
      plum: { en: 'Plum', zh: '梅紫' },
      brick: { en: 'Brick', zh: '砖红' },
      blue: { en: 'Blue', zh: '蓝色' },
      graphite: { en: 'Graphite', zh: '石墨' },
    } satisfies Record<keyof typeof PRESETS, Text>,
    modes: { light: { en: 'Light', zh: '浅色' }, dark: { en: 'Dark', zh: '深色' } },
    shop: { en: 'Sticker shop', zh: '贴纸小店' },
    pay: { en: `Pay 120 ${POINTS}`, zh: `支付 120 ${POINTS}` },
    contrasts: {
      button: { en: 'Text on the button', zh: '按钮上的文字' },
      link: { en: 'Links on the page', zh: '页面上的链接' },
      dark: { en: 'The same, dark', zh: '深色模式' },
    },
    contrast: (least: string) => ({
      en: `Contrast of text: ${least} or more`,
      zh: `文字对比度不低于 ${least}`,
    }),
    contrastHint: {
      en: 'The contrast of text is at least 4.5 : 1. Where your colour has less, its text takes a lighter or darker tone.',
      zh: '文字的对比度至少为 4.5 : 1。达不到时，文字改用更浅或更深的色调。',
    },
    tooLight: (nearest: string) => ({
      en: `Too light for a button on a light page. The nearest readable colour is ${nearest}.`,
      zh: `颜色太浅，在浅色页面上看不清按钮。最接近的可用颜色是 ${nearest}。`,
    }),
    use: (nearest: string) => ({ en: `Use ${nearest}`, zh: `使用 ${nearest}` }),
    tried: { en: 'Nothing was saved yet', zh: '尚未保存' },
    triedText: (colour: string) => ({
      en: `The sample shows ${colour}. Save your changes to use it on every page.`,
      zh: `下方示例使用 ${colour}。保存后才会用于所有页面。`,
    }),
  },
  logoUploaded: { en: 'Every page now shows the new logo.', zh: '所有页面已使用新图标。' },
  history: { en: 'History', zh: '修改历史' },
  find: { en: 'Search settings', zh: '搜索设置' },
  found: (q: string) => ({ en: `Settings for “${q}”`, zh: `“${q}”的搜索结果` }),
  notFound: { en: 'No results', zh: '没有结果' },
  notFoundText: {
    en: 'Try another word, or the key of the setting.',
    zh: '换一个词，或输入设置的键名。',
  },
  groups: {
    brand: { en: 'Brand', zh: '品牌' },
    payments: { en: 'Payments', zh: '付款' },
    transfers: { en: 'Transfers', zh: '转账' },
    mandates: { en: 'Mandates', zh: '预授权扣款' },
    links: { en: 'Payment links', zh: '收款链接' },
    signIn: { en: 'Sign-in and security', zh: '登录与安全' },
    forum: { en: 'Forum', zh: '论坛' },
    limits: { en: 'Rate limits', zh: '频率限制' },
    notices: { en: 'Announcement', zh: '公告' },
  } satisfies Record<Group, Text>,
  sections: {
    name: { en: 'Name', zh: '站名' },
    points: { en: `What ${POINTS} are called`, zh: `${POINTS}的叫法` },
    look: { en: 'Logo and colour', zh: '图标与颜色' },
    links: { en: 'Links in the footer', zh: '页脚链接' },
    time: { en: 'Time', zh: '时间' },
    setUp: { en: 'First steps', zh: '开站清单' },
    payments: { en: 'Payments', zh: '付款' },
    approval: { en: 'Two administrators', zh: '双人审批' },
    gateway: { en: 'Gateway', zh: '支付网关' },
    accessKeys: { en: 'Programs of merchants', zh: '商户的程序' },
    alerts: { en: 'Alerts to merchants', zh: '对商户的提醒' },
    suspicion: { en: 'Suspicious activity', zh: '可疑活动' },
    transfers: { en: 'Transfers', zh: '转账' },
    transferFees: { en: 'Fee', zh: '手续费' },
    transferBounds: { en: 'Limits', zh: '限额' },
    mandates: { en: 'Charges that members permit in advance', zh: '成员事先允许的扣款' },
    mandateLimits: { en: 'Limits', zh: '限额' },
    sale: { en: 'Who may sell', zh: '谁可以出售' },
    linkLimits: { en: 'Largest free price', zh: '自选金额上限' },
    accounts: { en: 'Accounts', zh: '账号' },
    applications: { en: 'Who can create applications', zh: '谁可以创建应用' },
    metadata: { en: 'Unregistered programs', zh: '未注册的程序' },
    tokens: { en: 'Tokens and keys', zh: '令牌与密钥' },
    sync: { en: 'Members of the forum', zh: '论坛成员' },
    shown: { en: 'In the forum', zh: '在论坛中' },
    tips: { en: 'Tips', zh: '打赏' },
    tipLimits: { en: 'Limits of tips', zh: '打赏限额' },
    scores: { en: `Forum scores as ${POINTS}`, zh: `论坛得分换${POINTS}` },
    visitors: { en: 'Sign-in and pages', zh: '登录与页面' },
    members: { en: 'Per member', zh: '每位成员' },
    programs: { en: 'Per application', zh: '每个应用' },
    announcement: { en: 'On every page', zh: '每页顶部' },
  } satisfies Record<Section, Text>,
  units: {
    percent: { en: '%', zh: '%' },
    points: { en: POINTS, zh: POINTS },
    minutes: { en: 'minutes', zh: '分钟' },
    seconds: { en: 'seconds', zh: '秒' },
    hours: { en: 'hours', zh: '小时' },
    days: { en: 'days', zh: '天' },
    times: { en: 'times', zh: '次' },
    perMinute: { en: 'per minute', zh: '次/分钟' },
    perHour: { en: 'per hour', zh: '次/小时' },
  } satisfies Record<Unit, Text>,
  choices: {
    on: { en: 'on', zh: '开启' },
    off: { en: 'off', zh: '关闭' },
    open: { en: 'open', zh: '开放' },
    closed: { en: 'closed', zh: '关闭' },
    draft: { en: 'only for their owner until confirmed', zh: '确认前仅限所有者' },
    listed: { en: 'only the listed hosts', zh: '仅允许所列主机' },
    any: { en: 'any host', zh: '任何主机' },
  },
  ofLevel: (label: string, level: string) => ({ en: `${label} (${level})`, zh: `${label}（${level}）` }),
  empty: { en: 'empty', zh: '空' },
  byDefault: (value: string) => ({ en: `Default: ${value}`, zh: `默认：${value}` }),
  changedBy: (username: string) => ({ en: `Changed by @${username}`, zh: `由 @${username} 修改` }),
  changed: { en: 'Changed', zh: '修改于' },
  /** What the value of a setting must be, by how it is entered. */
  must: {
    choice: () => ({ en: 'Choose one of these.', zh: '请从所列选项中选择。' }),
    number: ({ min, max }: Bounds) => ({
      en: `Enter a whole number from ${min} to ${max}.`,
      zh: `请填 ${min} 至 ${max} 之间的整数。`,
    }),
    rate: () => ({
      en: 'Enter a percentage from 0 to 100, such as 5 or 0.5.',
      zh: '请填 0 到 100 之间的百分数，例如 5 或 0.5。',
    }),
    points: () => ({ en: 'Enter digits only, such as 50000.', zh: '请只填数字，例如 50000。' }),
    pointsOrNone: () => ({
      en: 'Enter digits only, such as 50000, or leave it empty.',
      zh: '请只填数字，例如 50000；不限则留空。',
    }),
    idOrNone: () => ({
      en: 'Enter a number such as 3, or leave it empty.',
      zh: '请填编号，例如 3，或留空。',
    }),
    text: ({ max }: Bounds) => ({ en: `At most ${max} characters.`, zh: `最多 ${max} 个字符。` }),
    pairs: () => ({
      en: 'Enter pairs such as 开发者 = developers, one per line.',
      zh: '请填“开发者 = developers”这样的对应关系，每行一组。',
    }),
    hosts: () => ({
      en: 'Enter names of hosts such as app.example.com, one per line.',
      zh: '请填主机名，例如 app.example.com，每行一个。',
    }),
    line: ({ max }: Bounds) => ({
      en: `One line of at most ${max} characters.`,
      zh: `一行文字，最多 ${max} 个字符。`,
    }),
    link: () => ({
      en: 'Enter an address that begins with https:// or mailto:, or leave it empty.',
      zh: '请填以 https:// 或 mailto: 开头的地址，或留空。',
    }),
    picture: () => ({
      en: 'Enter the https address of a picture, or leave it empty.',
      zh: '请填图片的 https 地址，或留空。',
    }),
    colour: () => ({
      en: 'Enter a colour that keeps text readable, such as #0e6a5f, or leave it empty.',
      zh: '请填能看清文字的颜色，例如 #0e6a5f，或留空。',
    }),
    timeZone: () => ({
      en: 'Enter a time zone such as Asia/Shanghai.',
      zh: '请填时区，例如 Asia/Shanghai。',
    }),
  },
  crossed: {
    en: 'The smallest transfer must not exceed the largest one of this trust level.',
    zh: '单笔转账下限不能高于该信任等级的上限。',
  },
  crossedLater: {
    en: 'With the changes that wait for their approval, the smallest transfer would exceed the largest one of this trust level. Decide those proposals first.',
    zh: '加上等待批准的更改，单笔转账下限将高于该信任等级的上限。请先处理这些审批。',
  },
  changedMeanwhile: (value: string) => ({
    en: `Another administrator has just set this to ${value}. Nothing was saved; check it and save again.`,
    zh: `另一位管理员刚刚将此项改为 ${value}。没有保存任何更改，请核对后再保存。`,
  }),
  wrong: (n: number) => ({
    en: `${n} ${counted(n, 'field needs', 'fields need')} correcting`,
    zh: `${n} 处需要更正`,
  }),
  nothingSaved: { en: 'Nothing was saved.', zh: '没有保存任何更改。' },
  careful: {
    en: 'Important changes ask for confirmation before they are saved.',
    zh: '重要更改在保存前会请你再次确认。',
  },
  /** What the bar says of the fields that differ. The script puts the number for `#`, and names between the separators. */
  changes: {
    one: { en: '1 change: ', zh: '1 处更改：' },
    many: { en: '# changes: ', zh: '# 处更改：' },
    separator: { en: ', ', zh: '、' },
  },
  reset: { en: 'Undo', zh: '还原' },
  save: { en: 'Save changes', zh: '保存更改' },
  savedOne: (what: string) => ({ en: `Saved: ${what}`, zh: `已保存：${what}` }),
  savedAll: (n: number, what: string) => ({
    en: `Saved ${n} settings: ${what}`,
    zh: `已保存 ${n} 项设置：${what}`,
  }),
  change: (name: string, before: string, after: string) => ({
    en: `${name} ${before} → ${after}`,
    zh: `${name} ${before} → ${after}`,
  }),
  proposed: (what: string) => ({
    en: `Proposed, not in effect yet: ${what}. Another administrator has to approve.`,
    zh: `已提交，尚未生效：${what}。需由另一位管理员批准。`,
  }),
  /** Between changes in a sentence. */
  separator: { en: '; ', zh: '；' },
  nothingChanged: { en: 'There were no changes to save.', zh: '没有需要保存的更改。' },
  confirm: {
    title: (group: string) => ({ en: `Save changes to “${group}”?`, zh: `保存对“${group}”的更改？` }),
    lead: { en: 'They take effect for the whole site within 2 seconds.', zh: '更改将在 2 秒内对全站生效。' },
    button: (n: number) => ({
      en: `Save ${n} ${counted(n, 'change', 'changes')}`,
      zh: `保存 ${n} 项更改`,
    }),
  },
  /** The effects of important changes. */
  effects: {
    payments_read_only: {
      on: {
        en: 'Orders, payments and transfers are refused until you switch this off. Sign-in, refunds, lists and notifications continue.',
        zh: '在关闭此项之前，不能下单、付款或转账；登录、退款、查询和通知照常。',
      },
      off: { en: 'Members can pay and transfer again at once.', zh: '成员可立即恢复付款和转账。' },
    },
    second_approver: {
      on: {
        en: 'From now on, refunds, adjustments, fees and terms wait until a second administrator approves them. Switching this off also needs a second one.',
        zh: '此后退款、积分调整、手续费和应用条款须由第二位管理员批准才生效；关闭此项也需要第二位管理员。',
      },
      off: {
        en: 'One administrator alone can then refund, adjust and change fees.',
        zh: '此后一位管理员即可单独退款、调整和修改手续费。',
      },
    },
    feeOfPayments: (before: string, after: string) => ({
      en: `For every 1,000 ${POINTS} paid, the platform takes ${after} instead of ${before}. This applies to every payment from now on. Applications with their own rate keep it.`,
      zh: `每付款 1,000 ${POINTS}，平台收取 ${after}（原为 ${before}）。对此后的每笔付款生效；有专属费率的应用不受影响。`,
    }),
    feeOfTransfers: {
      en: 'Senders pay the new fee for every transfer from now on.',
      zh: '此后每笔转账都按新的手续费由转出方支付。',
    },
    points_transfers: {
      on: { en: 'Applications can transfer again at once.', zh: '应用可立即恢复转账。' },
      off: {
        en: 'Applications cannot transfer until you switch this on.',
        zh: '在开启之前，应用无法转账。',
      },
    },
    payouts: {
      on: { en: 'Payouts that rest go on at once.', zh: '暂停中的批量付款会立即继续。' },
      off: {
        en: 'No payout can be created, and those that run rest until you switch this on.',
        zh: '在开启之前不能新建批量付款，进行中的会暂停。',
      },
    },
    mandates: {
      on: {
        en: 'Shops to which you give the right can then charge members who allow it, without asking each time.',
        zh: '此后获得你授权的商户，可以在成员允许后直接扣款，不再逐次询问。',
      },
      off: {
        en: 'No charge and no new mandate is possible until you switch this on. Members can still pause and revoke theirs.',
        zh: '在开启之前不能扣款，也不能新建预授权。成员仍可暂停或撤销已有的预授权。',
      },
    },
    links: {
      on: {
        en: 'Links that are on sale sell again at once.',
        zh: '在售的收款链接会立即恢复出售。',
      },
      off: {
        en: 'No link sells until you switch this on. Buyers keep what they have paid for.',
        zh: '在开启之前，所有收款链接都不能出售。买家已购得的内容不受影响。',
      },
    },
    access_keys: {
      on: {
        en: 'Programs with an access key can act for their payment applications again.',
        zh: '使用访问密钥的程序可以重新代表其收款应用操作。',
      },
      off: {
        en: 'Every program with an access key is refused until you switch this on. Requests that are signed go on.',
        zh: '在开启之前，所有使用访问密钥的程序都会被拒绝。签名请求不受影响。',
      },
    },
    registration: {
      open: {
        en: 'Anyone can create an account here. This has no effect while a forum is connected.',
        zh: '任何人都可以注册账号。已连接论坛时此项不起作用。',
      },
      closed: {
        en: 'Visitors can no longer create an account by themselves.',
        zh: '此后访客无法自行注册账号。',
      },
    },
    client_id_metadata_documents: {
      any: {
        en: `Any website can then ask members for consent without anyone having registered it. Its consent page shows its host and “${common.unreviewed.en}”.`,
        zh: `此后任何网站无需注册即可向成员请求授权。授权页面会显示其主机名，并注明“${common.unreviewed.zh}”。`,
      },
      off: {
        en: 'These programs can no longer sign members in, and their tokens stop working at the next use.',
        zh: '此后这些程序无法再登录成员，已有的令牌在下次使用时失效。',
      },
    },
    gateway_at_root: {
      on: {
        en: 'The gateway is also available at /submit.php, /mapi.php and /api.php of this host.',
        zh: '支付网关同时在本域名的 /submit.php、/mapi.php、/api.php 提供服务。',
      },
      off: {
        en: 'Shops that use only this host as their gateway address can no longer take payments.',
        zh: '只填写了域名的商店将无法再收款。',
      },
    },
    admins_need_second_factor: {
      on: {
        en: 'Administrators with a local account cannot open these pages until they turn on two-step verification.',
        zh: '未开启两步验证的本地管理员将无法进入管理后台，须先开启。',
      },
      off: {
        en: 'A password alone is then enough to open these pages.',
        zh: '此后仅凭密码即可进入管理后台。',
      },
    },
    forum_points_bridge: {
      on: {
        en: `Once a day, gains in forum scores become ${POINTS}. This issues new ${POINTS}.`,
        zh: `论坛得分的增长每天换成${POINTS}发放，会增加${POINTS}总量。`,
      },
      off: { en: `Forum scores no longer become ${POINTS}.`, zh: `论坛得分不再换成${POINTS}。` },
    },
    tips: {
      on: {
        en: `Members can give ${POINTS} to authors within the limits below. Gifts cannot be taken back.`,
        zh: `成员可在限额内把${POINTS}打赏给作者，打赏不能撤回。`,
      },
      off: {
        en: 'Tips are no longer given. Unpaid ones cannot be paid.',
        zh: '不再能打赏，未付款的打赏也不能再付款。',
      },
    },
    forum_points_for_past_score: {
      on: {
        en: `At a member’s first import, the whole score becomes ${POINTS}, not only later gains.`,
        zh: `成员首次导入时，全部历史得分都换成${POINTS}。`,
      },
      off: {
        en: `Only gains after the first import become ${POINTS}.`,
        zh: `只有首次导入之后的增长才换成${POINTS}。`,
      },
    },
    time_zone: {
      en: 'Times, filters and figures on all pages use this zone. Daily limits and the daily close always follow China time (UTC+8).',
      zh: '所有页面的时间、筛选和统计改用此时区。每日限额与账本结账仍按北京时间（UTC+8）。',
    },
    point: {
      en: `Every page and email then uses this word instead of “${POINT}”.`,
      zh: `所有页面和邮件都将改用这个叫法，不再称“${POINT}”。`,
    },
  },
  names,
} satisfies Texts
