// @ts-check
/** Every text of the shop, in English and Chinese. */

/** @param {number} points */
const figure = (points) => points.toLocaleString('en')
/** @param {number} points */
const inPoints = (points) => `${figure(points)} ${points === 1 ? 'point' : 'points'}`
/** @param {number} points */
const inChinese = (points) => `${figure(points)} 积分`

/**
 * Returns a name for a Chinese text, with a space beside a Latin letter or a digit.
 * @param {string} name
 */
const amidChinese = (name) => name.replace(/^(?=[\p{Script=Latin}\d])|(?<=[\p{Script=Latin}\d])$/gu, ' ')

/** @param {string} site the name of the site where its members have their accounts and points */
const english = (site) => ({
  lang: 'en',
  points: inPoints,
  signOut: 'Sign out',
  footer: `An example of a shop that sells for ${site} points. Nothing is shipped. Times in China Standard Time.`,
  picture: 'Three overlapping stickers: a star, a speech bubble and a cat',
  back: 'Back to the shop',
  product: {
    name: 'Sticker pack',
    text: 'Twelve weatherproof stickers, cut to shape, for laptops, bottles and bicycles.',
    unit: 'points',
    buy: (/** @type {number} */ amount) => `Buy for ${inPoints(amount)}`,
    buyAtOnce: (/** @type {number} */ amount) => `Buy with one click: ${inPoints(amount)}`,
    signIn: `Sign in with ${site}`,
    signInText: `Use your forum account. Your password stays with ${site}.`,
  },
  orders: { title: 'Your orders', paid: 'paid', unpaid: 'not paid yet' },
  order: {
    paid: 'Paid',
    thanks: 'Thank you! Your stickers will be on their way soon.',
    tipThanks: 'Thank you! The shop passes your tip on to the artist.',
    unpaid: 'Not paid yet',
    unpaidText: 'No points have been taken. Reload this page after paying, and it will find your payment.',
    product: 'Product',
    amount: 'Amount',
    paidAt: 'Paid at',
    order: 'Order',
    transaction: 'Transaction',
    shares: (/** @type {number} */ points, /** @type {number} */ fee) =>
      `Of these, the shop receives ${inPoints(points)}, and ${inPoints(fee)} ${fee === 1 ? 'is' : 'are'} ${site}'s fee.`,
    receipt: `Receipt at ${site}`,
    resume: 'Continue to payment',
    byHand: 'Pay by hand',
  },
  plans: {
    club: {
      name: 'Sticker club',
      purpose: 'Sticker club: a new sheet every month',
      text: (/** @type {Caps} */ { amount = 0 }) =>
        `A new sheet every month for ${inPoints(amount)}. The shop charges you by itself. Cancel at any time.`,
      begin: 'Join the club',
      beginSignedOut: 'Sign in and join the club',
      ordered: 'Sticker club, one month',
      charge: () => 'Try the next charge now',
      chargeText: 'The shop charges by itself when a month begins. This button is for the demonstration.',
      end: 'Cancel the membership',
      ended: 'The member cancelled the membership at the shop',
    },
    one_click: {
      name: 'One click',
      purpose: 'Sticker packs and tips that you buy with one click',
      text: (/** @type {Caps} */ { charge_max = 0, period_max = 0 }) =>
        `Buy without a payment page: up to ${inPoints(charge_max)} each time and ${inPoints(period_max)} a week. Turn it off at any time.`,
      begin: 'Buy, and use one click from now on',
      beginSignedOut: 'Sign in and buy with one click',
      charge: (/** @type {number} */ amount) => `Buy with one click: ${inPoints(amount)}`,
      chargeText: '',
      end: 'Turn one click off',
      ended: 'The member turned one click off at the shop',
    },
  },
  tip: {
    name: 'Tip for the artist',
    give: (/** @type {number} */ amount, /** @type {string} */ artist) =>
      `Tip @${artist} ${inPoints(amount)}`,
  },
  mandate: {
    manage: 'Open',
    states: {
      pending: 'Not allowed yet',
      active: 'Active',
      not_started: 'Not begun',
      member_paused: `Paused by you at ${site}`,
      owner_changed: 'Paused: the shop has a new owner',
      member: `Revoked by you at ${site}`,
      merchant: 'Ended at the shop',
      staff: `Ended by ${site}'s staff`,
      ended: 'Ended',
    },
    state: 'State',
    limits: 'Limits',
    fixed: (/** @type {number} */ amount) => `${inPoints(amount)} every month`,
    upTo: (/** @type {number} */ each, /** @type {number} */ all) =>
      `up to ${inPoints(each)} each, ${inPoints(all)} a week`,
    thisPeriod: 'This period',
    spent: (/** @type {number} */ spent, /** @type {number} */ left) =>
      `${inPoints(spent)} charged, ${figure(left)} left`,
    resets: 'Begins again',
    next: 'Next charge',
    until: 'Last day',
    charges: 'Last charges',
    noCharges: 'No charges yet.',
    atSite: `See, lower or revoke it at ${site}`,
    others: 'You have this already, so the shop ended the second one without charging it.',
  },
  refused: {
    title: 'Nothing was charged',
    mandate: 'What you have allowed',
    inactive: {
      not_accepted: 'You have not allowed it yet.',
      not_started: 'What you allowed has not begun yet.',
      member: `You have paused or revoked it at ${site}.`,
      owner_changed: `The shop has a new owner. Resume it at ${site} if you agree.`,
      merchant: 'It was ended at the shop.',
      other: 'What you allowed has ended.',
    },
    tooLarge: (/** @type {number} */ limit, /** @type {boolean} */ isExact) =>
      `You have allowed ${isExact ? 'exactly' : 'at most'} ${inPoints(limit)} each time.`,
    limit: (/** @type {number} */ left, /** @type {string} */ day) =>
      left > 0
        ? `It is more than is left for this period (${inPoints(left)}). The next one begins on ${day}.`
        : `Everything that you allowed for this period is charged. The next one begins on ${day}.`,
    points: (/** @type {number} */ amount) => `You have too few points: it costs ${inPoints(amount)}.`,
    daily: 'The shop may not charge more today. Try again tomorrow, or pay by hand.',
    paused: `Payments are paused at ${site}. Try again in a few minutes.`,
    frozen: `${site} does not let your wallet pay now. Its pages say why.`,
    unavailable: 'The shop may not charge now. Pay by hand.',
    tooOften: 'The shop has tried too often. Try again in an hour.',
    other: (/** @type {string} */ reason) => `${site} answered: ${reason}.`,
  },
  messages: {
    denied: {
      title: 'You are not signed in',
      text: `You, or a rule of ${site}, did not let us know who you are. You can try again at any time.`,
    },
    failed: {
      title: 'The sign-in did not work',
      text: (/** @type {string} */ reason) => `${reason}. Please start again.`,
    },
    signInOnly: {
      title: 'You are signed in',
      text: 'You did not allow the shop to charge you. Nothing was charged, and you can pay by hand.',
    },
    declined: {
      title: 'You did not allow it',
      text: 'Nothing was charged. You can pay by hand, or change your mind at any time.',
    },
    forgotten: {
      title: 'The payment is proven',
      text: 'Its order is from before the shop was started. This shop keeps orders in memory alone.',
    },
    unproven: {
      title: 'Payment not accepted',
      text: 'This address does not prove a payment to us. If you have paid, open your order in the shop.',
    },
    noOrder: { title: 'No such order', text: 'There is no such order of yours. Are you signed in?' },
    noMandate: {
      title: 'Nothing of yours',
      text: 'There is no such permission of yours. Are you signed in?',
    },
    expired: { title: 'This form has expired', text: 'Go back, reload the page and try again.' },
    nothing: { title: 'Nothing here', text: 'The address may be mistyped.' },
    broken: {
      title: 'That did not work',
      text: (/** @type {string} */ reason) => `Nothing was lost. Try again in a moment. (${reason})`,
    },
  },
})

/** @typedef {ReturnType<typeof english>} Texts */
/** @typedef {{ amount?: number, charge_max?: number, period_max?: number }} Caps */

/**
 * @param {string} name of the site
 * @returns {Texts}
 */
function chinese(name) {
  const site = amidChinese(name)
  const first = site.trimStart()
  return {
    lang: 'zh-CN',
    points: inChinese,
    signOut: '退出登录',
    footer: `这是一家用${site}积分售卖的示例商店，不会真的发货。时间均为中国标准时间。`,
    picture: '三张叠放的贴纸：星星、对话框和猫',
    back: '返回商店',
    product: {
      name: '贴纸包',
      text: '12 张防水异形贴纸，可贴在电脑、水杯和自行车上。',
      unit: '积分',
      buy: (amount) => `购买，${inChinese(amount)}`,
      buyAtOnce: (amount) => `一键购买，${inChinese(amount)}`,
      signIn: `使用${site}登录`,
      signInText: '使用你的论坛账号登录，本店不会得到密码。',
    },
    orders: { title: '你的订单', paid: '已付款', unpaid: '未付款' },
    order: {
      paid: '已付款',
      thanks: '谢谢！贴纸很快寄出。',
      tipThanks: '谢谢！商店会把打赏转给画师。',
      unpaid: '未付款',
      unpaidText: '没有扣除积分。付款后刷新本页即可看到结果。',
      product: '商品',
      amount: '金额',
      paidAt: '付款时间',
      order: '订单',
      transaction: '交易号',
      shares: (points, fee) => `其中商店实收 ${inChinese(points)}，${first}手续费 ${inChinese(fee)}。`,
      receipt: `在${site}查看收据`,
      resume: '继续付款',
      byHand: '手动付款',
    },
    plans: {
      club: {
        name: '贴纸俱乐部',
        purpose: '贴纸俱乐部：每月一张新贴纸',
        text: ({ amount = 0 }) => `每月一张新贴纸，${inChinese(amount)}，由商店自动扣款。随时可以取消。`,
        begin: '加入俱乐部',
        beginSignedOut: '登录并加入俱乐部',
        ordered: '贴纸俱乐部，1 个月',
        charge: () => '现在试扣下一次',
        chargeText: '每月开始时商店会自动扣款。这个按钮仅用于演示。',
        end: '取消会员',
        ended: '成员在商店取消了会员',
      },
      one_click: {
        name: '一键购买',
        purpose: '一键购买贴纸包和打赏',
        text: ({ charge_max = 0, period_max = 0 }) =>
          `购买时不再打开付款页：每次最多 ${inChinese(charge_max)}，每周最多 ${inChinese(period_max)}。随时可以关闭。`,
        begin: '购买，并开通一键购买',
        beginSignedOut: '登录并一键购买',
        charge: (amount) => `一键购买，${inChinese(amount)}`,
        chargeText: '',
        end: '关闭一键购买',
        ended: '成员在商店关闭了一键购买',
      },
    },
    tip: { name: '打赏画师', give: (amount, artist) => `打赏 @${artist} ${inChinese(amount)}` },
    mandate: {
      manage: '查看',
      states: {
        pending: '尚未允许',
        active: '有效',
        not_started: '尚未开始',
        member_paused: `你已在${site}暂停`,
        owner_changed: '已暂停：商店所有者变更',
        member: `你已在${site}撤销`,
        merchant: '已在商店终止',
        staff: `${first}管理员已终止`,
        ended: '已结束',
      },
      state: '状态',
      limits: '限额',
      fixed: (amount) => `每月 ${inChinese(amount)}`,
      upTo: (each, all) => `每次最多 ${inChinese(each)}，每周最多 ${inChinese(all)}`,
      thisPeriod: '本期',
      spent: (spent, left) => `已扣 ${inChinese(spent)}，剩余 ${figure(left)}`,
      resets: '下期开始',
      next: '下次扣款',
      until: '最后一天',
      charges: '最近扣款',
      noCharges: '暂无扣款。',
      atSite: `在${site}查看、调低或撤销`,
      others: '你已经开通过，商店终止了重复的一份，没有扣款。',
    },
    refused: {
      title: '没有扣款',
      mandate: '查看你允许的内容',
      inactive: {
        not_accepted: '你还没有允许。',
        not_started: '你允许的扣款尚未开始。',
        member: `你已在${site}暂停或撤销。`,
        owner_changed: `商店的所有者已变更。如果同意，请在${site}恢复。`,
        merchant: '已在商店终止。',
        other: '你允许的扣款已结束。',
      },
      tooLarge: (limit, isExact) => `你允许的单次金额${isExact ? '为' : '最多为'} ${inChinese(limit)}。`,
      limit: (left, day) =>
        left > 0
          ? `超过本期剩余额度（${inChinese(left)}）。下期从 ${day} 开始。`
          : `本期允许的额度已全部扣完。下期从 ${day} 开始。`,
      points: (amount) => `你的积分不足：需要 ${inChinese(amount)}。`,
      daily: '商店今天不能再扣款。请明天再试，或手动付款。',
      paused: `${first}暂停支付，请几分钟后再试。`,
      frozen: `${first}目前不允许你的钱包付款，原因见${site}的页面。`,
      unavailable: '商店目前不能扣款，请手动付款。',
      tooOften: '商店尝试过于频繁，请 1 小时后再试。',
      other: (reason) => `${first}的答复：${reason}。`,
    },
    messages: {
      denied: { title: '未登录', text: `你或${site}的规则没有允许本店得知你的身份。可以随时重试。` },
      failed: { title: '登录失败', text: (reason) => `${reason}。请重新开始。` },
      signInOnly: { title: '已登录', text: '你没有允许商店扣款。没有扣除积分，你可以手动付款。' },
      declined: { title: '你没有允许', text: '没有扣除积分。你可以手动付款，也可以随时重新开通。' },
      forgotten: { title: '付款属实', text: '订单早于商店本次启动；示例商店只在内存中保存订单。' },
      unproven: { title: '付款未被接受', text: '这个地址不能证明付款。如果已经付款，请在商店打开订单。' },
      noOrder: { title: '找不到订单', text: '你没有这份订单。登录了吗？' },
      noMandate: { title: '找不到', text: '你没有这份许可。登录了吗？' },
      expired: { title: '表单已过期', text: '请返回并刷新页面，然后重试。' },
      nothing: { title: '这里什么都没有', text: '地址可能有误。' },
      broken: { title: '操作没有成功', text: (reason) => `没有任何损失，请稍后重试。（${reason}）` },
    },
  }
}

/**
 * The texts in the language that the browser prefers: Chinese, or otherwise English. They call the site by its name.
 * @param {string | undefined} accepted the header Accept-Language
 * @param {{ SITE_NAME_EN?: string, SITE_NAME_ZH?: string }} names
 * @returns {Texts}
 */
export function textsFor(
  accepted = '',
  { SITE_NAME_EN = 'Tessera', SITE_NAME_ZH = SITE_NAME_EN } = process.env,
) {
  return /^\s*zh\b/i.test(accepted) ? chinese(SITE_NAME_ZH) : english(SITE_NAME_EN)
}
