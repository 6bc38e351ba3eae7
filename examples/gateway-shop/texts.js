// @ts-check
/** Every text of the shop, in English and Chinese. */

const english = {
  lang: 'en',
  product: {
    name: 'Enamel mug & spoon',
    text: 'For the desk and the tent: 350 ml, white inside, with a spoon that hangs on its rim.',
    picture: 'A blue enamel mug with a spoon',
    buy: 'Buy',
    price: (/** @type {string} */ points) => `= ${points} points`,
    terms: 'The shop sets the price in its own currency. You pay in points.',
  },
  ways: {
    title: 'For developers: choose protocol and way',
    text: 'All four lead to the same payment.',
    v1: { form: 'V1 (MD5): your browser posts the order', api: 'V1 (MD5): the shop opens the payment' },
    v2: { form: 'V2 (RSA): your browser posts the order', api: 'V2 (RSA): the shop opens the payment' },
  },
  orders: { title: 'Orders', paid: 'paid', unpaid: 'not paid yet' },
  confirm: { title: 'Pay for your order', go: 'Go to the payment' },
  order: {
    paid: 'Paid',
    thanks: 'Thank you! Your mug will be on its way soon.',
    unpaid: 'Not paid yet',
    unpaidText: 'Reload this page after paying: the shop asks the gateway each time.',
    product: 'Product',
    price: 'Price',
    number: 'Order',
    developers: 'For developers',
    version: 'Version',
    trade: 'Trade',
    heardTitle: 'How the shop heard of it:',
    heard: {
      notify: 'The gateway notified the shop.',
      return: 'Your browser returned from the payment.',
      query: 'The shop asked the gateway.',
    },
  },
  messages: {
    failed: { title: 'That did not work', text: 'Nothing was lost. Try again in a moment.' },
    nothing: { title: 'Nothing here', text: 'The address may be mistyped.' },
    forgotten: {
      title: 'The payment is proven',
      text: 'Its order is from before the shop was started. This shop keeps orders in memory alone.',
    },
    unproven: {
      title: 'Payment not accepted',
      text: 'This address does not prove a payment to us. If you have paid, open your order in the shop.',
    },
    noOrder: { title: 'No such order', text: 'The shop may have forgotten it.' },
  },
  back: 'Back to the shop',
  footer: 'An example of a shop whose plugin speaks the epay protocol. Nothing is shipped.',
}

/** @typedef {typeof english} Texts */

/** @type {Texts} */
const chinese = {
  lang: 'zh-CN',
  product: {
    name: '搪瓷杯配勺',
    text: '书桌和帐篷都用得上：350 毫升，内壁纯白，小勺可以挂在杯沿。',
    picture: '一只带小勺的蓝色搪瓷杯',
    buy: '购买',
    price: (points) => `= ${points} 积分`,
    terms: '商店用自己的货币标价，你用积分支付。',
  },
  ways: {
    title: '开发者：选择协议和下单方式',
    text: '四种方式通往同一个支付页。',
    v1: { form: 'V1（MD5）：由你的浏览器提交订单', api: 'V1（MD5）：由商店创建付款' },
    v2: { form: 'V2（RSA）：由你的浏览器提交订单', api: 'V2（RSA）：由商店创建付款' },
  },
  orders: { title: '订单', paid: '已支付', unpaid: '尚未支付' },
  confirm: { title: '支付订单', go: '前往支付' },
  order: {
    paid: '已支付',
    thanks: '谢谢！杯子很快就会寄出。',
    unpaid: '尚未支付',
    unpaidText: '付款后请刷新本页，商店每次都会向网关查询。',
    product: '商品',
    price: '价格',
    number: '订单号',
    developers: '开发者信息',
    version: '协议版本',
    trade: '交易号',
    heardTitle: '商店从哪里得知付款：',
    heard: {
      notify: '网关通知了商店。',
      return: '你的浏览器从支付页返回。',
      query: '商店向网关查询。',
    },
  },
  messages: {
    failed: { title: '操作没有成功', text: '没有任何损失，请稍后重试。' },
    nothing: { title: '这里什么都没有', text: '地址可能有误。' },
    forgotten: { title: '付款属实', text: '订单早于商店本次启动；示例商店只在内存中保存订单。' },
    unproven: { title: '付款未被接受', text: '这个地址不能证明付款。如果已经付款，请在商店打开订单。' },
    noOrder: { title: '找不到订单', text: '商店可能已经忘记了它。' },
  },
  back: '返回商店',
  footer: '这是一个使用易支付协议插件的示例商店，不会真的发货。',
}

/**
 * The texts in the language that the browser prefers: Chinese, or otherwise English.
 * @param {string | undefined} accepted the header Accept-Language
 */
export function textsFor(accepted = '') {
  return /^\s*zh\b/i.test(accepted) ? chinese : english
}
