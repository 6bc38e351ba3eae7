/** Texts of a team's pages of its links. */
import type { Text, Texts } from '../../web/languages.ts'
import { counted, pointsOf } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'
import type { LinkChange, SaleFault } from './acts.ts'
import type { ShownState } from './reads.ts'

export const teamLinks = {
  lead: {
    en: 'A link sells one thing on a page of its own. You share its address; no program is needed.',
    zh: '收款链接是一个单独的商品页。分享地址即可售卖，无需编程。',
  },
  empty: { en: 'No links yet', zh: '还没有收款链接' },
  emptyText: {
    en: 'Sell codes, a text, an address or a thank-you. Buyers get it the moment they pay.',
    zh: '可出售卡密、文字、网址，也可以收打赏。买家付款后立即得到。',
  },
  add: { en: 'New link', zh: '新建收款链接' },
  link: { en: 'Link', zh: '链接' },
  state: { en: 'State', zh: '状态' },
  price: { en: 'Price', zh: '价格' },
  sold: { en: 'Sold', zh: '已售' },
  left: { en: 'Left', zh: '剩余' },
  taken: { en: 'Paid in 30 days', zh: '近 30 天付款' },
  states: {
    draft: { en: 'Draft', zh: '草稿' },
    on_sale: { en: 'On sale', zh: '在售' },
    paused: { en: 'Paused', zh: '已暂停' },
    ended: { en: 'Ended', zh: '已结束' },
    stopped: { en: 'Stopped by staff', zh: '已被管理员停售' },
    not_yet: { en: 'Not on sale yet', zh: '尚未开售' },
    over: { en: 'Sale over', zh: '销售期已过' },
    sold_out: { en: 'Sold out', zh: '已售罄' },
  } satisfies Record<ShownState, Text>,
  stoppedBecause: { en: 'Staff stopped this link', zh: '管理员已停售此链接' },
  faults: {
    off: (_level: number) => ({
      en: 'The site has switched payment links off. Nothing can be on sale now.',
      zh: '站点已关闭收款链接，暂时无法上架。',
    }),
    not_approved: (_level: number) => ({
      en: 'This application is not approved. A link can be published after its review.',
      zh: '此应用尚未通过审核。审核通过后才能发布。',
    }),
    level: (level: number) => ({
      en: `The application’s owner needs trust level ${level} to publish links.`,
      zh: `应用所有者达到信任等级 ${level} 后才能发布。`,
    }),
  } satisfies Record<SaleFault, (level: number) => Text>,
  created: {
    en: 'Saved as a draft. Look at the page, then publish it.',
    zh: '已存为草稿。请先查看页面，再发布。',
  },
  saved: {
    en: 'Saved. Orders that were placed before keep their price.',
    zh: '已保存。此前的订单价格不变。',
  },
  createdCodes: {
    en: 'Saved as a draft. Now add the codes that it sells.',
    zh: '已存为草稿。接下来请添加要出售的卡密。',
  },
  deleted: (title: string) => ({ en: `“${title}” was deleted.`, zh: `已删除“${title}”。` }),
  changed: {
    publish: { en: 'The link is on sale.', zh: '已上架。' },
    pause: { en: 'Paused. Nothing more is sold until you resume.', zh: '已暂停。恢复之前不再售出。' },
    resume: { en: 'The link is on sale again.', zh: '已恢复销售。' },
    end: { en: 'Ended. Nothing more is sold here.', zh: '已结束，不再售出。' },
  } satisfies Record<LinkChange, Text>,
  ask: {
    end: {
      title: { en: 'End this link?', zh: '结束此链接？' },
      note: {
        en: 'It can never be on sale again. Receipts keep what they show. To stop for a while, pause it instead.',
        zh: '结束后无法再次上架，收据内容不变。如只需暂停，请使用“暂停”。',
      },
      button: { en: 'End for good', zh: '永久结束' },
    },
    delete: {
      title: { en: 'Delete this draft?', zh: '删除此草稿？' },
      note: { en: 'Its unsold codes are deleted too.', zh: '未售出的卡密将一并删除。' },
      button: { en: 'Delete', zh: '删除' },
    },
  },
  back: { en: 'Links', zh: '收款链接' },
  seePage: { en: 'See the page', zh: '查看页面' },
  preview: { en: 'Preview and publish', zh: '预览并发布' },
  previewBar: {
    en: 'Preview. Only your team can see this page until you publish it.',
    zh: '预览。发布之前，只有团队成员能看到此页面。',
  },
  publish: { en: 'Publish', zh: '发布' },
  edit: { en: 'Edit', zh: '编辑' },
  pause: { en: 'Pause', zh: '暂停' },
  resume: { en: 'Resume', zh: '恢复销售' },
  end: { en: 'End', zh: '结束' },
  delete: { en: 'Delete the draft', zh: '删除草稿' },
  save: { en: 'Save the link', zh: '保存链接' },
  saveDraft: { en: 'Save as a draft', zh: '存为草稿' },
  what: { en: 'What you sell', zh: '商品' },
  title: { en: 'Title', zh: '标题' },
  titleHint: { en: '1 to 80 characters.', zh: '1 至 80 个字符。' },
  description: { en: 'Description', zh: '商品说明' },
  descriptionHint: {
    en: 'Plain text, at most 2,000 characters. Addresses in it do not become links.',
    zh: '纯文本，最多 2,000 个字符，其中的网址不会变成链接。',
  },
  fixedPrice: { en: 'A fixed price', zh: '固定价格' },
  freePrice: { en: 'The buyer chooses, as for a tip', zh: '由买家决定（如打赏）' },
  amount: { en: 'Points a unit', zh: `每份${POINTS}` },
  amountMin: { en: 'At least', zh: '最低' },
  amountMax: { en: 'At most', zh: '最高' },
  amountMaxHint: (max: string) => ({
    en: `${pointsOf(max)} at most, by the owner’s trust level.`,
    zh: `按所有者的信任等级，最多 ${max} ${POINTS}。`,
  }),
  suggestions: { en: 'Suggested amounts', zh: '建议金额' },
  suggestionsHint: { en: 'Up to 3, such as 10, 50, 200.', zh: '最多 3 个，例如 10、50、200。' },
  quantityMax: { en: 'Units in one order', zh: '每单最多份数' },
  quantityMaxHint: { en: '1 to 100.', zh: '1 至 100。' },
  delivery: { en: 'What the buyer gets', zh: '买家得到什么' },
  deliveryHint: {
    en: 'It appears on the buyer’s receipt the moment they pay. No mail, alert or list holds it.',
    zh: '付款后立即显示在买家的收据上，不会出现在邮件、提醒或列表中。',
  },
  kindFixed: {
    en: 'This link has sold, so the kind of its delivery stays.',
    zh: '此链接已有售出，交付方式不能再更改。',
  },
  deliveries: {
    none: { en: 'A receipt only', zh: '仅收据' },
    text: { en: 'A text', zh: '一段文字' },
    url: { en: 'An address', zh: '一个网址' },
    codes: { en: 'A code of a list, one for each unit', zh: '卡密，每份一个' },
  },
  text: { en: 'The text', zh: '文字内容' },
  textHint: {
    en: '1 to 4,000 characters. Buyers keep the version that they bought.',
    zh: '1 至 4,000 个字符。买家保留购买时的版本。',
  },
  url: { en: 'The address', zh: '网址' },
  urlHint: {
    en: 'It begins with https:// and holds no password. Buyers keep the one that they bought.',
    zh: '以 https:// 开头，不含密码。买家保留购买时的网址。',
  },
  codesHint: { en: 'You add the codes after saving.', zh: '保存后再添加卡密。' },
  thanks: { en: 'Thank-you on the receipt', zh: '收据上的致谢' },
  thanksHint: { en: 'At most 500 characters.', zh: '最多 500 个字符。' },
  limits: { en: 'Limits and times', zh: '限制与时间' },
  stock: { en: 'Stock', zh: '库存' },
  stockHint: {
    en: 'Units that can ever be sold, those sold included. Empty: no limit.',
    zh: '总共可售的份数，包括已售出的。留空则不限。',
  },
  memberMax: { en: 'Units a member', zh: '每人限购' },
  memberMaxHint: { en: '1 to 1,000. Empty: no limit.', zh: '1 至 1,000。留空则不限。' },
  from: { en: 'On sale from', zh: '开售时间' },
  until: { en: 'On sale until', zh: '截止时间' },
  timesHint: (zone: string) => ({ en: `In ${zone}. Empty: no limit.`, zh: `${zone}。留空则不限。` }),
  minLevel: { en: 'Buyers need at least', zh: '买家至少达到' },
  groups: { en: 'Only members of these groups', zh: '仅限以下群组的成员' },
  groupsHint: {
    en: 'Up to 10 groups of the forum, separated by commas. One of them is enough. Empty: everyone.',
    zh: '最多 10 个论坛群组，用逗号分隔，属于其一即可。留空则不限。',
  },
  showStock: { en: 'Show how many are left', zh: '显示剩余数量' },
  codes: { en: 'Codes', zh: '卡密' },
  sales: { en: 'Sales', zh: '销售' },
  codesLeft: (n: string, count: number) => ({
    en: `${n} ${counted(count, 'code', 'codes')} left`,
    zh: `剩余 ${n} 个卡密`,
  }),
  soldOf: (sold: string, all: string) => ({ en: `${sold} sold of ${all}`, zh: `共 ${all} 个，已售 ${sold}` }),
  stockReached: {
    en: 'The stock of the link is used up, so these codes are not sold.',
    zh: '链接的库存已售完，这些卡密不会售出。',
  },
  codesHow: {
    en: 'Each unit takes the oldest code. At 0 the page says “Sold out” by itself, and nobody can pay.',
    zh: '每份按添加顺序取一个卡密。剩余为 0 时页面自动显示“已售罄”，无法付款。',
  },
  soldCodes: { en: 'Sold codes', zh: '已售卡密' },
  showFull: { en: 'Show in full', zh: '显示完整卡密' },
  csv: { en: 'CSV', zh: 'CSV' },
  soldCodesHint: {
    en: 'Showing codes in full and the CSV ask you to sign in again, and are in the audit log. A refunded code stays with its buyer.',
    zh: '查看完整卡密和下载 CSV 需要重新登录，并会记入审计日志。退款后卡密仍归买家。',
  },
  noSales: { en: 'Nothing sold yet', zh: '尚无销售' },
  noSalesText: { en: 'Share the address of the page.', zh: '把页面地址分享出去吧。' },
  buyer: { en: 'Buyer', zh: '买家' },
  code: { en: 'Code', zh: '卡密' },
  time: { en: 'Time', zh: '时间' },
  units: { en: 'Units', zh: '份数' },
  moreCodes: (n: number) => ({ en: `and ${n} more`, zh: `另有 ${n} 个` }),
  addCodes: { en: 'Add codes', zh: '添加卡密' },
  oneALine: { en: 'One code a line', zh: '每行一个卡密' },
  codesFieldHint: {
    en: '1 to 500 characters. Empty lines are skipped.',
    zh: '1 至 500 个字符，空行会跳过。',
  },
  orFile: { en: 'Or a text file', zh: '或选择文本文件' },
  fileHint: { en: 'UTF-8, 10,000 lines, 2 MiB.', zh: 'UTF-8 编码，最多 10,000 行、2 MiB。' },
  pasteOrFile: { en: 'Paste codes or choose a file, not both.', zh: '粘贴和文件请二选一。' },
  imported: (added: number, known: number, empty: number) => ({
    en: `${added} added, ${known} already known, ${empty} empty.`,
    zh: `新增 ${added} 条，重复 ${known} 条，空行 ${empty} 条。`,
  }),
  knownLines: (lines: string, count: number) => ({
    en: `Known ${counted(count, 'line', 'lines')}: ${lines}${count > 20 ? ' …' : ''}.`,
    zh: `重复的行：${lines}${count > 20 ? '……' : ''}。`,
  }),
  importFaults: {
    too_large: {
      en: 'The list is larger than 2 MiB. Nothing was added.',
      zh: '列表超过 2 MiB，未添加任何卡密。',
    },
    too_many_lines: {
      en: 'The list has more than 10,000 lines. Nothing was added.',
      zh: '列表超过 10,000 行，未添加任何卡密。',
    },
    not_text: {
      en: 'The list is not UTF-8 text. Nothing was added.',
      zh: '列表不是 UTF-8 文本，未添加任何卡密。',
    },
    no_codes: { en: 'There is no code in it.', zh: '其中没有卡密。' },
    line_too_long: (line: number) => ({
      en: `Line ${line} has more than 500 characters. Nothing was added.`,
      zh: `第 ${line} 行超过 500 个字符，未添加任何卡密。`,
    }),
    line_controls: (line: number) => ({
      en: `Line ${line} has control characters. Nothing was added.`,
      zh: `第 ${line} 行含有控制字符，未添加任何卡密。`,
    }),
    too_many_unsold: (max: string) => ({
      en: `A link has at most ${max} unsold codes. Nothing was added.`,
      zh: `一个链接最多有 ${max} 个未售卡密，未添加任何卡密。`,
    }),
  },
  takeBack: { en: 'Take back', zh: '撤回卡密' },
  takeBackText: {
    en: 'Withdraws unsold codes and gives them to you once, as a text file. Asks you to sign in again.',
    zh: '撤下未售出的卡密，并以文本文件交给你一次。需要重新登录。',
  },
  takeBackCount: { en: 'How many', zh: '数量' },
  takeBackHint: { en: 'The next ones to be sold. Empty: all.', zh: '从最先售出的开始。留空则全部撤回。' },
  takeBackWrong: { en: 'A whole number from 1, or empty.', zh: '大于 0 的整数，或留空。' },
  takeBackButton: { en: 'Take back unsold codes', zh: '撤回未售卡密' },
  noneUnsold: { en: 'There are no unsold codes.', zh: '没有未售出的卡密。' },
  readOnly: {
    en: 'Only the owner and managers can change this link.',
    zh: '只有所有者和应用管理员可以修改此链接。',
  },
  amountMaxWrong: (max: string) => ({
    en: `At least the least amount, and ${pointsOf(max)} at most.`,
    zh: `不低于最低金额，且不超过 ${max} ${POINTS}。`,
  }),
  problems: {
    title: {
      en: 'A title has 1 to 80 visible characters on one line.',
      zh: '标题为 1 至 80 个可见字符，不能换行。',
    },
    description: { en: 'At most 2,000 characters of plain text.', zh: '最多 2,000 个字符的纯文本。' },
    thanks: { en: 'At most 500 characters of plain text.', zh: '最多 500 个字符的纯文本。' },
    price: { en: 'Choose one.', zh: '请选择一项。' },
    delivery: { en: 'Choose one.', zh: '请选择一项。' },
    amount: {
      en: 'A whole number of points from 1. Times the units of one order, it may not pass the limit of an amount.',
      zh: '须为大于 0 的整数，且与每单最多份数的乘积不能超过金额上限。',
    },
    amount_min: { en: 'A whole number of points from 1.', zh: '须为大于 0 的整数。' },
    suggestions: {
      en: 'Up to 3 whole numbers between the least and the most.',
      zh: '最多 3 个整数，且在最低与最高金额之间。',
    },
    quantity_max: { en: '1 to 100.', zh: '1 至 100。' },
    stock: { en: '1 to 1,000,000, or empty.', zh: '1 至 1,000,000，或留空。' },
    member_max: { en: '1 to 1,000, or empty.', zh: '1 至 1,000，或留空。' },
    sells_from: {
      en: 'A day and a time, such as 2027-01-31T08:00.',
      zh: '日期和时间，例如 2027-01-31T08:00。',
    },
    sells_until: {
      en: 'A day and a time after the beginning of the sale.',
      zh: '日期和时间，须晚于开售时间。',
    },
    min_level: { en: '0 to 4.', zh: '0 至 4。' },
    allow_groups: { en: 'Up to 10 names of groups.', zh: '最多 10 个群组名称。' },
    delivered_text: { en: '1 to 4,000 characters of plain text.', zh: '1 至 4,000 个字符的纯文本。' },
    delivered_url: {
      en: 'An address that begins with https://, without a user name or password, of at most 1,000 characters.',
      zh: '以 https:// 开头的网址，不含用户名和密码，最多 1,000 个字符。',
    },
  },
} satisfies Texts
