/** Texts of the mandate page. */
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'
import { POINT, POINTS } from '../../web/site-words.ts'

type FirstCharge = [formatted: string, amount: bigint, isFixed: boolean, from: string | undefined]

function firstOf(...[formatted, amount, isFixed, from]: FirstCharge) {
  const points = { en: `${formatted} ${counted(amount, POINT, POINTS)}`, zh: `${formatted} ${POINTS}` }
  const most = { en: `${isFixed ? '' : 'up to '}${points.en}`, zh: `${isFixed ? '' : '最多 '}${points.zh}` }
  return from === undefined
    ? { en: `${most.en}, at once or later`, zh: `${most.zh}，允许后即可扣` }
    : { en: `${most.en}, from ${from} on`, zh: `${from} 起，${most.zh}` }
}

export const mandateOffer = {
  title: (shop: string) => ({ en: `Let ${shop} charge you`, zh: `允许 ${shop} 扣款` }),
  lead: { en: 'wants to charge you later, without asking again:', zh: '希望以后直接扣款，不再逐次询问：' },
  /** Heads the terms on the consent page of a sign-in. */
  mayCharge: {
    en: 'It may charge you without asking',
    zh: '它可以直接扣款，不再询问',
  },
  /** The most of the first charge, and when it can come. */
  first: (...charge: FirstCharge) => {
    const { en, zh } = firstOf(...charge)
    return { en: `First charge: ${en}`, zh: `首次扣款：${zh}` }
  },
  firstCharge: { en: 'First charge', zh: '首次扣款' },
  /** The most of each charge, and when the first one can come. */
  eachFrom: (formatted: string, from: string | undefined) => ({
    en: `up to ${formatted}, ${from === undefined ? 'at once or later' : `from ${from} on`}`,
    zh: `最多 ${formatted}，${from === undefined ? '允许后即可扣' : `${from} 起`}`,
  }),
  eachCharge: { en: 'Each charge', zh: '每次扣款' },
  upToEach: (formatted: string) => ({ en: `up to ${formatted}`, zh: `最多 ${formatted}` }),
  firstOf,
  days: { en: 'Valid', zh: '有效期' },
  until: (day: string) => ({ en: `until ${day}`, zh: `至 ${day}` }),
  /** The name of the row with the most in total, where charges may come at once. */
  untilThen: (day: string) => ({ en: `Until ${day}`, zh: `至 ${day}` }),
  most: { en: 'Most in total', zh: '累计最多' },
  /** Play points have no name. A mandate of any number of charges has no count. */
  mostOf: (formatted: string, amount: bigint, charges: bigint | undefined, isTest: boolean) => {
    const sum = {
      en: `${formatted} ${isTest ? 'play ' : ''}${counted(amount, POINT, POINTS)}`,
      zh: `${formatted} ${isTest ? '虚拟' : ''}${POINTS}`,
    }
    if (charges === undefined) return sum
    return {
      en: `${sum.en} in ${charges} ${counted(charges, 'charge', 'charges')}`,
      zh: `${sum.zh}，共 ${charges} 次`,
    }
  },
  balance: { en: 'Balance', zh: '当前余额' },
  playBalance: { en: 'Play balance', zh: '虚拟余额' },
  /** The title of the fold that holds the rest of the sums. */
  balanceOf: (formatted: string, amount: bigint) => ({
    en: `Balance ${formatted} ${counted(amount, POINT, POINTS)}`,
    zh: `当前余额 ${formatted} ${POINTS}`,
  }),
  playBalanceOf: (formatted: string) => ({ en: `Play balance ${formatted}`, zh: `虚拟余额 ${formatted}` }),
  /** What all mandates of the member could take in a month, and how much is allowed. */
  month: { en: 'Your monthly limit', zh: '每月限额' },
  ofAllowed: (all: string, allowed: string) => ({
    en: `${all} of ${allowed} used`,
    zh: `已用 ${all}，共 ${allowed}`,
  }),
  as: { en: 'You pay as', zh: '付款账号' },
  withToken: {
    en: 'Each charge also needs your sign-in at the shop.',
    zh: '每次扣款还需要你在商家处于登录状态。',
  },
  learns: {
    en: 'The shop learns your member number and username, not your balance.',
    zh: '商家会得知你的成员编号和用户名，不会得知余额。',
  },
  /** The name of the page follows. */
  revoke: {
    en: 'If your balance is too low, a charge is refused, and you owe nothing. Pause or revoke this at any time under',
    zh: '余额不足时扣款会被拒绝，你不会欠款。可随时暂停或撤销：',
  },
  /** The first sentence of `revoke`. */
  owesNothing: {
    en: 'If your balance is too low, a charge is refused, and you owe nothing.',
    zh: '余额不足时扣款会被拒绝，你不会欠款。',
  },
  lower: { en: 'Allow less', zh: '调低限额' },
  lowerText: { en: 'You can allow less than the shop asks for.', zh: '你可以只允许更少的额度。' },
  chargeMax: { en: 'Most each time', zh: '每次最多' },
  periodMax: { en: 'Most in a period', zh: '每期最多' },
  endsOn: { en: 'Last day', zh: '最后一天' },
  upTo: (formatted: string) => ({ en: `1 to ${formatted}`, zh: `1 至 ${formatted}` }),
  untilDay: (day: string) => ({ en: `At the latest ${day}`, zh: `最晚 ${day}` }),
  chargeMaxWrong: (formatted: string) => ({
    en: `Enter a whole number from 1 to ${formatted}, not above the most in a period.`,
    zh: `请填写 1 至 ${formatted} 的整数，且不超过每期上限。`,
  }),
  periodMaxWrong: (formatted: string) => ({
    en: `Enter a whole number from 1 to ${formatted}.`,
    zh: `请填写 1 至 ${formatted} 的整数。`,
  }),
  endsOnWrong: (from: string, until: string) => ({
    en: `Enter a day from ${from} to ${until}.`,
    zh: `请填写 ${from} 至 ${until} 的日期。`,
  }),
  lowered: {
    en: 'The shop asks for more than you may allow. The amounts below are the most that you may allow now.',
    zh: '商家要求的额度超过了你的上限。下面是你目前最多可以允许的额度。',
  },
  allow: { en: 'Allow', zh: '允许' },
  refuse: { en: 'Deny', zh: '拒绝' },
  signInAgain: {
    en: 'Confirm with a new sign-in that it is you. Then you can allow it.',
    zh: '请重新登录，确认是你本人，然后即可允许。',
  },
  replaces: { en: 'This replaces a mandate of yours', zh: '此项将取代你现有的预授权' },
  before: { en: 'Until now', zh: '现在' },
  after: { en: 'Then', zh: '之后' },
  spent: (formatted: string, amount: bigint) => ({
    en: `${formatted} ${counted(amount, POINT, POINTS)} charged in the running period`,
    zh: `本期已扣 ${formatted} ${POINTS}`,
  }),
  back: (shop: string) => ({ en: `Back to ${shop}`, zh: `返回 ${shop}` }),
  /** Each state in which the offer cannot be accepted, with its text. */
  states: {
    not_found: {
      title: { en: 'No such offer', zh: '找不到这份邀请' },
      text: {
        en: 'Nothing was allowed. The address may be incomplete. Please start again from the shop.',
        zh: '没有允许任何扣款。地址可能不完整，请从商家重新开始。',
      },
    },
    off: {
      title: { en: 'Mandates are switched off', zh: '预授权功能已关闭' },
      text: {
        en: 'Nothing was allowed. Please pay the shop by hand.',
        zh: '没有允许任何扣款。请在商家手动付款。',
      },
    },
    payments_paused: {
      title: { en: 'Payments are paused', zh: '暂停支付' },
      text: {
        en: 'The site is under maintenance. Nothing was allowed. Try again in a few minutes.',
        zh: '系统维护中，没有允许任何扣款。请几分钟后再试。',
      },
    },
    app_unusable: {
      title: { en: 'This shop cannot take payments', zh: '商家暂时无法收款' },
      text: { en: 'Nothing was allowed. Please ask the shop.', zh: '没有允许任何扣款，详情请咨询商家。' },
    },
    no_right: {
      title: { en: 'This shop may not hold mandates', zh: '商家不能使用预授权' },
      text: {
        en: 'Nothing was allowed. The staff has not given the shop this right.',
        zh: '没有允许任何扣款。管理员没有授予商家这项权限。',
      },
    },
    app_changed: {
      title: { en: 'The shop waits for a review', zh: '商家正在等待审核' },
      text: {
        en: 'The shop has changed, and the staff reviews it first. Nothing was allowed. Try again later.',
        zh: '商家信息有变化，需要先由管理员审核。没有允许任何扣款，请稍后再试。',
      },
    },
    taken: {
      title: { en: 'Accepted by another member', zh: '已被其他成员接受' },
      text: {
        en: 'Nothing was allowed in your name. Please start again from the shop.',
        zh: '没有以你的名义允许任何扣款。请从商家重新开始。',
      },
    },
    other_member: {
      title: { en: 'This offer is for another member', zh: '这份邀请属于其他成员' },
      text: {
        en: 'Nothing was allowed. Use the account that you have at the shop.',
        zh: '没有允许任何扣款。请换用你在商家使用的账号。',
      },
    },
    accepted: {
      title: { en: 'You have allowed this', zh: '你已允许' },
      text: { en: 'The shop may charge you within these limits.', zh: '商家可以在以下限额内扣款。' },
    },
    lapsed: {
      title: { en: 'This offer has lapsed', zh: '邀请已失效' },
      text: {
        en: 'Nothing was allowed. You can start again at the shop.',
        zh: '没有允许任何扣款。可以回到商家重新发起。',
      },
    },
    ended: {
      title: { en: 'This mandate has ended', zh: '预授权已结束' },
      text: { en: 'The shop cannot charge you under it.', zh: '商家不能再据此扣款。' },
    },
    wallet_frozen: {
      title: { en: 'Your wallet is frozen', zh: '钱包已冻结' },
      text: {
        en: 'Nothing was allowed. The page of your wallet says why.',
        zh: '没有允许任何扣款。原因见钱包页面。',
      },
    },
    charge_max: {
      title: { en: 'Above your limit', zh: '超过你的上限' },
      text: {
        en: 'The shop asks for more each time than you may allow.',
        zh: '商家要求的单次金额超过了你的上限。',
      },
    },
    month_max: {
      title: { en: 'Above your monthly limit', zh: '超过你的每月上限' },
      text: {
        en: 'With it, your mandates could take more in a month than you may allow. Revoke or lower another mandate first.',
        zh: '加上此项，你的预授权每月可扣总额将超过上限。请先撤销或调低其他预授权。',
      },
    },
    too_many: {
      title: { en: 'Too many mandates at this shop', zh: '在该商家的预授权过多' },
      text: {
        en: 'Nothing was allowed. Revoke one of them first.',
        zh: '没有允许任何扣款。请先撤销其中一份。',
      },
    },
    replaced_gone: {
      title: { en: 'The mandate to replace has ended', zh: '要取代的预授权已结束' },
      text: {
        en: 'Nothing was allowed. Please start again from the shop.',
        zh: '没有允许任何扣款。请从商家重新开始。',
      },
    },
  },
  /** In place of `charge_max` where the trust level of the member allows no charges. */
  noneAtLevel: (level: number) => ({
    en: `You cannot allow charges at trust level ${level}`,
    zh: `信任等级 ${level} 不能允许扣款`,
  }),
  noneAtLevelText: { en: 'Nothing was allowed.', zh: '没有允许任何扣款。' },
  /** The same on the consent page of a sign-in. */
  canSignIn: { en: 'You can still sign in.', zh: '你仍可以登录。' },
  limit: (formatted: string) =>
    formatted === '0'
      ? { en: 'You cannot allow any charges now.', zh: '你目前不能允许任何扣款。' }
      : { en: `You may allow up to ${formatted}.`, zh: `你最多可以允许 ${formatted}。` },
} satisfies Texts
