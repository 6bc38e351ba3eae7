/** Describes the rules that no field shows: the life of an order, rounding, fees and bounds, by the settings in force. */

import type { SettingValues } from '../core/setting-values.ts'
import { CODE_SECONDS } from '../identity/grants/codes.ts'
import { ACCESS_TOKEN_SECONDS, FAMILY_LIFE, IDLE_LIFE } from '../identity/grants/tokens.ts'
import { ORDER_MINUTES_MIN } from '../payment/apps/own-app.ts'
import { percentOf } from '../payment/wire-fields/money.ts'
import type { Text } from '../web/languages.ts'
import { BODY_BYTES_MAX, NAME_LENGTH_MAX, PARAMETERS_MAX, VALUE_BYTES_MAX } from '../web/parameters.ts'

type Rules = { id: string; title: string; lines: string[]; table?: { head: string[]; rows: string[][] } }

const LEVELS = [0, 1, 2, 3, 4] as const

type Say = (en: string, zh: string) => string

/** All rules in one language, in the order of the page. */
export function rulesOf(settings: SettingValues, language: keyof Text): Rules[] {
  const say: Say = (en, zh) => (language === 'zh' ? zh : en)
  const all = [orderRules, roundingRules, transferRules, mandateRules, tipRules, limitRules, gatewayRules]
  return all.map((rules) => rules(settings, say))
}

const percent = (rate: string) => `${percentOf(rate)}%`
/** A number with separators of thousands, which both languages write alike. */
const grouped = (figure: string | number) => String(figure).replaceAll(/\B(?=(\d{3})+$)/g, ',')

function orderRules(settings: SettingValues, say: Say): Rules {
  const window = settings.order_expiry_minutes
  return {
    id: 'orders',
    title: say('The life of an order', '订单的生命周期'),
    lines: [
      say(
        `A new order can be paid for ${window} minutes. An application may set less in its settings, from ${ORDER_MINUTES_MIN} minutes.`,
        `新订单可在 ${window} 分钟内付款。应用可在设置中缩短期限，最短 ${ORDER_MINUTES_MIN} 分钟。`,
      ),
      say(
        'The same order number with the same amount, sent again before the payment, is the same order. Nothing changes.',
        '付款前用同一订单号、相同金额再次提交，得到同一笔订单，不作任何改变。',
      ),
      say(
        'An expired order that is sent again reopens: it keeps its transaction_id or trade_no, and the time to pay starts from the beginning. A gateway order keeps its points. Until then, the HMAC API answers status pending with expired: true, and the gateway answers status 0.',
        '过期订单再次提交会重新打开：transaction_id 或 trade_no 不变，重新计时；网关订单的积分数不变。在此之前，HMAC 接口的 status 仍为 pending 且 expired 为 true，网关的 status 为 0。',
      ),
      say(
        'A closed or refunded order that is sent again is refused (1006; -1 at the gateway). Another amount under the same order number is refused too (1005; -1).',
        '已关闭或已退款的订单再次提交会被拒绝（1006；网关为 -1）；同一订单号换了金额也会被拒绝（1005；网关为 -1）。',
      ),
      say(
        'A paid order that is sent again gets 1006 with data.status completed from the HMAC API, and code 1 from the gateway.',
        '已付款的订单再次提交：HMAC 接口返回 1006，data.status 为 completed；网关返回 code 1。',
      ),
      say(
        'A transfer that is sent again gets its first result, and moves nothing. This works even while transfers are off, payments are paused or the application is suspended. Another recipient or amount is refused (1005). A reversed transfer is refused too (1006).',
        '同一转账再次提交返回最初的结果，不会再次扣款；转账关闭、支付暂停或应用停用时也一样。收款人或金额不同会被拒绝（1005），已冲正的转账也会被拒绝（1006）。',
      ),
      say(
        'Orders of the HMAC API and of the gateway are separate. V1 and V2 share their orders.',
        'HMAC 接口与网关的订单各自独立；V1 与 V2 共用。',
      ),
      say(
        'Only administrators refund. The refund endpoints of the gateway answer -1.',
        '退款由管理员处理；网关的退款接口返回 -1。',
      ),
    ],
  }
}

function roundingRules(settings: SettingValues, say: Say): Rules {
  return {
    id: 'rounding',
    title: say('Fees and rounding', '手续费与取整'),
    lines: [
      say(
        `The platform keeps ${percent(settings.points_payment_fee_rate)} of a payment, unless the application has its own rate. A refund returns the fee, unless the administrator decides otherwise.`,
        `平台从每笔付款中收取 ${percent(settings.points_payment_fee_rate)}，应用另有约定的除外。退款时手续费一并退回，管理员另行决定的除外。`,
      ),
    ],
    table: {
      head: [say('Amount', '金额'), say('Rounding', '取整')],
      rows: [
        [say('Transfer fee', '转账手续费'), say('up to a whole point', '向上取整到整数积分')],
        [say('Payment fee', '付款手续费'), say('down to a whole point', '向下取整到整数积分')],
        [
          say('Gateway money in points', '网关金额换算成积分'),
          say(
            'half up to a whole point; less than one point is refused',
            '四舍五入到整数积分；不足 1 积分则拒绝',
          ),
        ],
        [
          say('Balance and income in money', '余额与收入换算成货币'),
          say('down to two decimals', '向下取整到两位小数'),
        ],
      ],
    },
  }
}

function transferRules(settings: SettingValues, say: Say): Rules {
  const none = say('no limit', '不限')
  return {
    id: 'transfers',
    title: say('Transfers, by the trust level of the owner', '转账：按所有者的信任等级'),
    lines: [
      settings.points_transfers === 'on'
        ? say('Transfers are on.', '转账已开放。')
        : say('Transfers are off on this site (1015).', '本站已关闭转账（1015）。'),
      say(
        'The owner of the application pays the amount and the fee. The daily limit counts days of China (UTC+8).',
        '应用所有者支付金额与手续费。每日限额按北京时间计算。',
      ),
    ],
    table: {
      head: [
        say('Trust level', '信任等级'),
        say('Fee', '手续费'),
        say('Smallest', '单笔下限'),
        say('Largest', '单笔上限'),
        say('All of a day', '每日总额'),
      ],
      rows: LEVELS.map((level) => [
        String(level),
        percent(settings[`points_transfer_fee_rate_tl${level}`]),
        grouped(settings[`points_transfer_min_amount_tl${level}`]),
        grouped(settings[`points_transfer_max_amount_tl${level}`]),
        grouped(settings[`points_transfer_daily_limit_tl${level}`]) || none,
      ]),
    },
  }
}

function mandateRules(settings: SettingValues, say: Say): Rules {
  return {
    id: 'mandates',
    title: say('Mandates, by the trust level of the member', '预授权：按成员的信任等级'),
    lines: [
      settings.mandates === 'on'
        ? say('Mandates are on.', '预授权已开启。')
        : say(
            'Mandates are off on this site (1020). An administrator switches them on.',
            '本站未开启预授权（1020），由管理员开启。',
          ),
      say(
        'A live application needs the right to hold mandates, which has a limit for all charges of a day. Days are those of China (UTC+8).',
        '正式应用需要预授权资格，资格含每日扣款合计的上限。日期按北京时间计算。',
      ),
      say(
        'The limit of one charge applies when the member agrees and at each charge, by the trust level at that moment. The limit of a month covers all mandates of the member, and applies when the member agrees. A daily period counts 31 times, a weekly period 5 times.',
        '单次上限在成员同意时和每次扣款时检查，按当时的等级。每月上限是该成员全部预授权的合计，在同意时检查：日周期按 31 次计，周周期按 5 次计。',
      ),
    ],
    table: {
      head: [
        say('Trust level', '信任等级'),
        say('One charge', '单次'),
        say('All charges of a month', '每月合计'),
      ],
      rows: LEVELS.map((level) => [
        String(level),
        grouped(settings[`mandate_charge_max_tl${level}`]),
        grouped(settings[`mandate_month_max_tl${level}`]),
      ]),
    },
  }
}

function tipRules(settings: SettingValues, say: Say): Rules {
  return {
    id: 'tips',
    title: say('Tips, by the trust level of the giver', '打赏：按打赏者的信任等级'),
    lines: [
      settings.tips === 'on'
        ? say('Tips are on.', '打赏已开启。')
        : say(
            'Tips are off on this site. An administrator switches them on.',
            '本站未开启打赏，由管理员开启。',
          ),
      say(
        `A giver’s account is at least ${settings.tip_min_age_days} days old. An author has signed in here, has trust level ${settings.tip_receive_min_trust_level}, and accepts tips.`,
        `打赏者的账号至少 ${settings.tip_min_age_days} 天。作者须在本站登录过、达到信任等级 ${settings.tip_receive_min_trust_level}，并接收打赏。`,
      ),
      say(
        `An author receives at most ${grouped(settings.tip_received_day_max)} in a day, and two members give each other at most ${settings.tip_pair_week_max} tips in seven days. Days are those of China (UTC+8). Limits are judged again at the payment, and a refund gives nothing of them back.`,
        `每位作者每天最多收 ${grouped(settings.tip_received_day_max)}，两位成员七天内互相打赏最多 ${settings.tip_pair_week_max} 次。日期按北京时间计算。付款时会再次检查限额，退款不返还额度。`,
      ),
    ],
    table: {
      head: [say('Trust level', '信任等级'), say('One tip', '单次'), say('Given in a day', '每日合计')],
      rows: LEVELS.map((level) => [
        String(level),
        grouped(settings[`tip_max_tl${level}`]),
        grouped(settings[`tip_day_max_tl${level}`]),
      ]),
    },
  }
}

function limitRules(settings: SettingValues, say: Say): Rules {
  const perMinute = settings.limit_api_requests
  const days = (life: string) => say(life, life.replace(' days', ' 天'))
  return {
    id: 'limits',
    title: say('Limits of requests', '请求的限制'),
    lines: [
      say(
        `A body has at most ${grouped(BODY_BYTES_MAX)} bytes and ${PARAMETERS_MAX} parameters. A name has at most ${NAME_LENGTH_MAX} characters, and a value ${grouped(VALUE_BYTES_MAX)} bytes. Text is UTF-8. Send each parameter once.`,
        `请求体最多 ${grouped(BODY_BYTES_MAX)} 字节、${PARAMETERS_MAX} 个参数；参数名最多 ${NAME_LENGTH_MAX} 个字符，参数值最多 ${grouped(VALUE_BYTES_MAX)} 字节。文本为 UTF-8，每个参数只能出现一次。`,
      ),
      perMinute === 0
        ? say('The number of requests is not limited.', '请求次数不限。')
        : say(
            `A payment application may send ${grouped(perMinute)} requests a minute. Further requests get 429 with Retry-After.`,
            `每个收款应用每分钟最多 ${grouped(perMinute)} 次请求，超出返回 429 与 Retry-After。`,
          ),
      say(
        `A payment application needs trust level ${settings.payment_apps_min_trust_level} and the approval of an administrator; a test application needs neither. A sign-in application needs trust level ${settings.apps_min_trust_level}.`,
        `申请收款应用需要信任等级 ${settings.payment_apps_min_trust_level} 并经管理员审核；测试应用不需要。创建登录应用需要信任等级 ${settings.apps_min_trust_level}。`,
      ),
      say(
        `A code works once, within ${CODE_SECONDS} seconds. An access token works for ${grouped(ACCESS_TOKEN_SECONDS)} seconds. Each use replaces the refresh token. It ends after ${IDLE_LIFE} without use, or ${FAMILY_LIFE} after the sign-in.`,
        `授权码有效 ${CODE_SECONDS} 秒且只能使用一次，访问令牌有效 ${grouped(ACCESS_TOKEN_SECONDS)} 秒。刷新令牌每次使用后更换，${days(IDLE_LIFE)}未使用或登录满 ${days(FAMILY_LIFE)}后失效。`,
      ),
    ],
  }
}

function gatewayRules(settings: SettingValues, say: Say): Rules {
  return {
    id: 'gateway',
    title: say('Addresses of the gateway', '网关地址'),
    lines: [
      say(
        'V1 is at /payment/api/ and V2 at /payment/api/pay/ and /payment/api/merchant/. /payment/ is an alias of the V1 address, /payment/api/api/ of both, and pay/submit.php of submit.php.',
        'V1 位于 /payment/api/，V2 位于 /payment/api/pay/ 与 /payment/api/merchant/。/payment/ 是 V1 的别名，/payment/api/api/ 是两者的别名，pay/submit.php 是 submit.php 的别名。',
      ),
      say(
        'sign_type=RSA makes a request V2 at every address, and its answer is signed. Any other value makes it V1. The address alone sets the shape of the answer: for a new trade mapi.php answers code 1 and payurl to both, and pay/create answers code 0 and pay_info to both.',
        '任何地址上 sign_type=RSA 的请求都按 V2 验签，响应带签名；其他一律按 V1 验签。响应的格式只取决于地址：下单成功时，mapi.php 对两种签名都返回 code 1 与 payurl，pay/create 对两种签名都返回 code 0 与 pay_info。',
      ),
      settings.gateway_at_root === 'on'
        ? say('The same paths work at the root of the host too.', '主机根路径下也有同样的地址。')
        : say('The root of the host has none of these paths.', '主机根路径下没有这些地址。'),
      say(
        'name and param may contain & and =. A value is refused only if other parameters, sorted by name, would make the same text to sign; msg names it.',
        'name 与 param 可以包含 & 和 =；仅当另一组参数排序后会拼出相同的待签名文本时才会被拒绝，msg 说明是哪一个。',
      ),
      say(
        'JSON endpoints answer HTTP 200 for every outcome, and code tells the outcome. The exceptions are 405 for a wrong method, 415 for a body with a Content-Encoding, 404 at the root of the host while the gateway is not there, 429, 503 and 500.',
        'JSON 接口对所有结果都返回 HTTP 200，以 code 区分；例外为 405（请求方法不正确）、415（请求体带 Content-Encoding）、404（未开放的主机根路径）、429、503 和 500。',
      ),
    ],
  }
}
