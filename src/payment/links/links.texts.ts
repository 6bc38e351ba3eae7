/** Texts of a link's page, and of what its receipt shows. */
import type { Text, Texts } from '../../web/languages.ts'
import { counted, pointsOf } from '../../web/plurals.ts'
import { POINT, POINTS } from '../../web/site-words.ts'
import type { LinkRefusal } from './place.ts'

const refusals = {
  not_found: { en: 'There is no such page', zh: '找不到这个页面' },
  paused: {
    en: 'Payments are paused for maintenance. Please try again in a few minutes.',
    zh: '系统维护中，暂停支付，请几分钟后再试。',
  },
  unusable: { en: 'This shop cannot take payments now.', zh: '商家暂时无法收款。' },
  not_on_sale: { en: 'This is not on sale.', zh: '此商品未在售。' },
  not_yet: { en: 'The sale has not begun yet.', zh: '销售尚未开始。' },
  over: { en: 'The sale is over.', zh: '销售已结束。' },
  out_of_bounds: { en: 'Check the quantity or the amount.', zh: '请检查数量或金额。' },
  not_allowed: {
    en: 'The shop sells this to members of a higher level or of certain groups only.',
    zh: '商家仅向更高等级或指定群组的成员出售。',
  },
  sold_out: { en: 'Sold out.', zh: '已售罄。' },
  member_limit: { en: 'You have bought as many as one member may.', zh: '已达到每人限购数量。' },
  too_many_open: {
    en: 'Three of your orders here wait for payment. Pay one first, or wait until they expire.',
    zh: '你在此处已有三笔待付款订单。请先付款，或等待其过期。',
  },
} satisfies Record<LinkRefusal, Text>

/** The email with the receipt of a purchase. */
export const receiptMail = {
  subject: (shop: string, amount: string) => ({
    en: `Receipt from ${shop}: ${pointsOf(amount)}`,
    zh: `${shop}的收据：${amount} ${POINTS}`,
  }),
  text: {
    en: 'Thank you for your purchase. What the shop delivered is on the receipt.',
    zh: '感谢购买。商家交付的内容在收据上。',
  },
  textOfTip: { en: 'Thank you for your gift.', zh: '感谢你的支持。' },
  textAlone: { en: 'Thank you for your purchase.', zh: '感谢购买。' },
  shop: { en: 'Shop', zh: '商家' },
  product: { en: 'Product', zh: '商品' },
  amount: { en: 'Amount', zh: '金额' },
  points: (amount: string) => ({ en: pointsOf(amount), zh: `${amount} ${POINTS}` }),
  order: { en: 'Order number', zh: '订单号' },
  button: { en: 'Open the receipt', zh: '查看收据' },
  choice: { en: 'Get no receipts by email', zh: '不再接收收据邮件' },
  asWritten: (value: string) => ({ en: value, zh: value }),
} satisfies Texts

/** The texts of a link that only takes a tip, which is given and not bought. Each replaces the text of its name in paymentLinks. */
const tip = {
  buy: { en: 'Give', zh: '支持' },
  buyFrom: (formatted: string, amount: bigint) => ({
    en: `Give from ${formatted} ${counted(amount, POINT, POINTS)}`,
    zh: `支持，${formatted} ${POINTS}起`,
  }),
  sold: (n: string) => ({ en: `Tips so far: ${n}`, zh: `已获支持 ${n} 次` }),
  checkFirst: {
    en: 'You see the amount once more before you give.',
    zh: '付款前还会请你核对一次金额。',
  },
  about: { en: 'About it', zh: '说明' },
  said: { en: 'Messages', zh: '留言' },
  backToPage: { en: 'Back to the page', zh: '返回该页面' },
  gets: {
    none: { en: 'A receipt, at once. A tip buys nothing.', zh: '付款后立即得到收据。支持不换取商品。' },
  },
  refusals: {
    ...refusals,
    unusable: { en: 'This page cannot take tips now.', zh: '暂时无法支持。' },
    not_on_sale: { en: 'This page takes no tips now.', zh: '此页面暂不接受支持。' },
    not_yet: { en: 'This page takes no tips yet.', zh: '此页面尚未开始接受支持。' },
    over: { en: 'This page takes no more tips.', zh: '此页面已不再接受支持。' },
    not_allowed: {
      en: 'This page is for members of a higher level or of certain groups only.',
      zh: '此页面仅限更高等级或指定群组的成员。',
    },
    sold_out: { en: 'This page has all the tips that it takes.', zh: '此页面已不再接受支持。' },
    member_limit: { en: 'You have given as often as one member may.', zh: '你的支持次数已达上限。' },
  } satisfies Record<LinkRefusal, Text>,
}

export const paymentLinks = {
  left: (n: string) => ({ en: `${n} left`, zh: `剩余 ${n} 份` }),
  inStock: { en: 'In stock', zh: '有货' },
  soldOut: { en: 'Sold out', zh: '已售罄' },
  sold: (n: string) => ({ en: `${n} sold`, zh: `已售 ${n} 份` }),
  perMember: (n: number) => ({ en: `at most ${n} for each member`, zh: `每人限购 ${n} 份` }),
  quantity: { en: 'Quantity', zh: '数量' },
  upTo: (n: number) => ({ en: `1 to ${n}`, zh: `1 至 ${n}` }),
  fewer: { en: 'One fewer', zh: '减少一份' },
  more: { en: 'One more', zh: '增加一份' },
  amount: { en: 'Amount', zh: '金额' },
  between: (least: string, most: string, isTest: boolean) => ({
    en: `${least} to ${isTest ? `${most} play ${POINTS}` : pointsOf(most)}`,
    zh: `${least} 至 ${most} ${isTest ? '虚拟' : ''}${POINTS}`,
  }),
  /** The amount of a free price is missing or out of its bounds. */
  amountWrong: (least: string, most: string) => ({
    en: `Enter a whole amount from ${least} to ${most}.`,
    zh: `请填写 ${least} 至 ${most} 之间的整数。`,
  }),
  quantityWrong: (most: number) => ({
    en: most === 1 ? 'One at a time.' : `Enter a whole number from 1 to ${most}.`,
    zh: most === 1 ? '每次只能购买 1 份。' : `请填写 1 至 ${most} 之间的整数。`,
  }),
  /** The quantity is more than there is, or than one member may still buy. */
  fewerLeft: {
    en: 'There are not so many left. Enter a smaller quantity.',
    zh: '剩余数量不足，请减少数量。',
  },
  fewerForMember: {
    en: 'That is more than one member may buy. Enter a smaller quantity.',
    zh: '超过每人限购数量，请减少数量。',
  },
  addMessage: { en: 'Add a message', zh: '写留言' },
  otherAmount: { en: 'Another amount', zh: '其他金额' },
  buy: { en: 'Buy', zh: '购买' },
  buyFor: (formatted: string, amount: bigint, isTest: boolean) => ({
    en: `Buy for ${formatted} ${isTest ? 'play ' : ''}${counted(amount, POINT, POINTS)}`,
    zh: `购买，${formatted} ${isTest ? '虚拟' : ''}${POINTS}`,
  }),
  /** Of a link that sells several units at once. The script shows the total instead. */
  buyEach: (formatted: string, amount: bigint, isTest: boolean) => ({
    en: `Buy, ${formatted} ${isTest ? 'play ' : ''}${counted(amount, POINT, POINTS)} each`,
    zh: `购买，每份 ${formatted} ${isTest ? '虚拟' : ''}${POINTS}`,
  }),
  buyFrom: (formatted: string, amount: bigint) => ({
    en: `From ${formatted} ${counted(amount, POINT, POINTS)}`,
    zh: `${formatted} ${POINTS}起`,
  }),
  checkFirst: {
    en: 'You see everything once more before you pay.',
    zh: '付款前还会请你核对一次。',
  },
  signInFirst: {
    en: 'You sign in first, then you see everything once more before you pay.',
    zh: '需要先登录；付款前还会请你核对一次。',
  },
  gets: {
    none: { en: 'A receipt, at once.', zh: '付款后立即得到收据。' },
    text: {
      en: 'You get it at once. It stays on your receipt.',
      zh: '付款后立即得到，并一直保留在收据里。',
    },
    url: {
      en: 'You get the address at once. It stays on your receipt.',
      zh: '付款后立即得到网址，并一直保留在收据里。',
    },
    codes: {
      en: 'You get your code at once. It stays on your receipt.',
      zh: '付款后立即得到卡密，并一直保留在收据里。',
    },
  },
  until: { en: 'On sale until', zh: '销售截止' },
  fromLevel: (level: number) => ({
    en: `For members of trust level ${level} or above.`,
    zh: `仅限信任等级 ${level} 及以上的成员。`,
  }),
  ofGroups: (groups: string) => ({
    en: `For members of one of these groups: ${groups}.`,
    zh: `仅限以下任一群组的成员：${groups}。`,
  }),
  said: { en: 'What buyers say', zh: '买家留言' },
  anonymous: { en: 'anonymous', zh: '匿名' },
  saidName: { en: 'Name beside the message', zh: '留言署名' },
  saidNameHint: {
    en: 'At most 30 characters. Empty: anonymous. The shop always sees your username.',
    zh: '最多 30 个字符，留空则匿名。商家始终能看到你的用户名。',
  },
  saidWithout: { en: 'Show no name beside the message', zh: '留言不署名' },
  saidMessage: { en: 'Message', zh: '留言' },
  saidMessageHints: {
    private: {
      en: 'At most 200 characters. Only the shop reads it.',
      zh: '最多 200 个字符，只有商家能看到。',
    },
    public: {
      en: 'At most 200 characters, without addresses. This page shows it once the shop approves it.',
      zh: '最多 200 个字符，不能含网址。商家批准后显示在本页。',
    },
  },
  saidWrong: {
    name: { en: 'At most 30 visible characters.', zh: '最多 30 个可见字符。' },
    message: {
      en: 'At most 200 characters of plain text, without addresses.',
      zh: '最多 200 个字符的纯文本，不能含网址。',
    },
  },
  yourMessage: { en: 'Your message', zh: '你的留言' },
  yourMessageAs: (name: string) => ({ en: `As ${name}`, zh: `署名：${name}` }),
  removeMessage: { en: 'Remove the message', zh: '删除留言' },
  messageRemoved: { en: 'Your message is removed.', zh: '留言已删除。' },
  about: { en: 'About it', zh: '商品说明' },
  madeByMember: (site: string) => ({
    en: `This page was made by a member, not by ${site}.`,
    zh: `本页面由成员创建，并非${site}官方页面。`,
  }),
  report: {
    title: { en: 'Report this page', zh: '举报本页' },
    label: { en: 'What is wrong with it?', zh: '有什么问题？' },
    hint: {
      en: 'The staff reads it with your username. The shop learns that its page was reported, not by whom.',
      zh: '管理员会看到举报内容和你的用户名。商家只会得知本页被举报，不会知道举报人。',
    },
    wrong: { en: 'Write 10 to 500 characters of plain text.', zh: '请填写 10 至 500 个字符的纯文本。' },
    button: { en: 'Send to the staff', zh: '提交给管理员' },
    sent: { en: 'Thank you. The staff will look at this page.', zh: '谢谢，管理员会查看本页。' },
    done: { en: 'You reported this page:', zh: '你已举报本页：' },
  },
  /** In place of the button. */
  refusals,
  begins: { en: 'It begins', zh: '开始时间' },
  got: { en: 'What you got', zh: '购得内容' },
  copyAll: { en: 'Copy all', zh: '全部复制' },
  /** From a link that sells no more to this member, to the receipt of the last purchase. */
  seeLast: {
    none: { en: 'See your receipt', zh: '查看收据' },
    text: { en: 'See your purchase', zh: '查看已购内容' },
    url: { en: 'See your purchase', zh: '查看已购内容' },
    codes: { en: 'See your code', zh: '查看卡密' },
  },
  copyCode: { en: 'Copy the code', zh: '复制卡密' },
  copyText: { en: 'Copy the text', zh: '复制内容' },
  onlyYou: {
    en: 'Only you can see this, here on your receipt, for as long as you like.',
    zh: '只有你能在这里看到，收据会一直保留。',
  },
  backToPage: { en: 'Back to the page', zh: '返回商品页' },
  use: {
    one: (shop: string) => ({ en: `Use this code at ${shop}.`, zh: `在 ${shop} 使用此卡密。` }),
    many: (shop: string) => ({
      en: `One code for each item. Use them at ${shop}.`,
      zh: `每份一个卡密，在 ${shop} 使用。`,
    }),
  },
  /** The merchant's thanks, as a message of the shop. */
  from: { en: 'Message from', zh: '来自商家的消息：' },
  tip,
  tipPay: {
    submit: (formatted: string, amount: bigint, isTest: boolean) => ({
      en: `Give ${formatted} ${isTest ? 'play ' : ''}${counted(amount, POINT, POINTS)}`,
      zh: `支持 ${formatted} ${isTest ? '虚拟' : ''}${POINTS}`,
    }),
    payee: { en: 'To', zh: '收款方' },
    product: { en: 'For', zh: '用途' },
    paid: { en: 'Thank you for giving', zh: '感谢你的支持' },
  },
  open: (host: string) => ({ en: `Open ${host}`, zh: `打开 ${host}` }),
  refunded: {
    en: 'Refunded. The shop may have revoked this code.',
    zh: '已退款，商家可能已停用此卡密。',
  },
} satisfies Texts
