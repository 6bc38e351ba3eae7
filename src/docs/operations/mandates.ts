/** Describes the operations of the HMAC API about mandates. */
import { z } from 'zod'
import {
  ChargeAnswer,
  ChargeFields,
  ChargeRequest,
  MandateAnswer,
  MandateFields,
  MandatePage,
  MandateQueryRequest,
  MandatesRequest,
  OfferAnswer,
  OfferRequest,
  RevokeRequest,
} from '../../payment/hmac/mandate-shapes.ts'
import { described, type Operation, text } from './operation.ts'
import {
  ABOUT_ORDER,
  moment,
  NEXT,
  ONLY,
  ORDER,
  ORDER_ID,
  PAGE,
  ROWS,
  refusals,
  SIGNED,
  SUCCESS,
} from './payment.ts'
import { MADE_UP_MANDATE, NOW } from './samples.ts'

const MANDATE_ID = text('The mandate_id of the offer.', '邀请返回的 mandate_id。')
const DAY = text('A day in China (UTC+8).', '日期（北京时间）。')
const REFERENCE = text(
  'Your own name for the mandate. The same name again is the same mandate.',
  '商户自己的编号。重复提交得到同一份预授权。',
)
const STATUS = text(
  'pending: offered. active: it may be charged, unless there is a reason. paused: by the member, or until the member agrees to a new owner. ended: for ever.',
  'pending：等待成员接受。active：可以扣款（有 reason 时除外）。paused：成员已暂停，或等待成员同意新的所有者。ended：已结束，不会恢复。',
)

const ABOUT_MANDATE = {
  mandate_id: MANDATE_ID,
  purpose: text('What the member reads.', '成员看到的用途。'),
  period: text('How long a period is.', '每期的长度。'),
  username: text('The same member by name.', '同一成员的用户名。'),
  reference: REFERENCE,
  status: STATUS,
  reason: text('Why it cannot be charged now; null when it can.', '目前不能扣款的原因；可以扣款时为 null。'),
  kind: text(
    'fixed: exactly one amount, once a period. up_to: any amounts within both caps.',
    'fixed：每期一次，金额固定。up_to：金额不固定，不超过两个上限。',
  ),
  charge_max: text('Most points of one charge.', '单次扣款上限。'),
  period_max: text('Most points of a period.', '每期扣款上限。'),
  starts_on: text('The first day; null until it is known.', '首日；尚未确定时为 null。'),
  ends_on: text('The last day, inclusive; null until it is known.', '最后一天（含）；尚未确定时为 null。'),
  with_token: text('Whether each charge needs an access token.', '每次扣款是否需要访问令牌。'),
  replaces: text('The mandate that its acceptance ended.', '接受后所取代的预授权。'),
  user_id: text('The member who accepted.', '接受的成员。'),
  accepted_at: moment('When the member accepted; null before.', '成员接受的时间；此前为 null。'),
  ended_at: moment('When the mandate ended; null while it runs.', '预授权终止的时间；有效期间为 null。'),
  period_from: text(
    'The first day of the running period; null when there is none.',
    '本期首日；没有时为 null。',
  ),
  period_to: text('Its last day, inclusive.', '本期最后一天（含）。'),
  spent: text('Points charged in this period.', '本期已扣积分。'),
  left: text('Points left of it.', '本期剩余积分。'),
  resets_at: text('When the next period begins.', '下期开始时间。'),
  next_charge_on: text(
    'Of a fixed mandate: the day from which the next charge is possible.',
    '固定金额：下次可扣款的日期。',
  ),
  version: text('Grows with each change.', '每次变更后增加。'),
  updated_at: moment('When it was last changed.', '最后变更时间。'),
}
export const Mandate = described(MandateFields, ABOUT_MANDATE)

export const MANDATE = {
  mandate_id: MADE_UP_MANDATE,
  reference: 'club-1001',
  status: 'active',
  reason: null,
  kind: 'up_to',
  purpose: 'Club membership',
  charge_max: 100,
  period_max: 300,
  period: 'month',
  starts_on: '2026-01-02',
  ends_on: '2027-01-01',
  with_token: false,
  replaces: null,
  user_id: 1,
  username: 'alice',
  accepted_at: '2026-01-02T03:05:00Z',
  ended_at: null,
  period_from: '2026-01-02',
  period_to: '2026-02-01',
  spent: 120,
  left: 180,
  resets_at: '2026-02-01T16:00:00Z',
  next_charge_on: null,
  version: 2,
  updated_at: '2026-01-02T03:05:00Z',
}
export const CHARGED = {
  ...ORDER,
  order_id: 'charge-1001',
  external_reference: 'charge-1001',
  amount: 60,
  platform_fee: 3,
  merchant_points: 57,
  description: 'January',
  mandate_id: MANDATE.mandate_id,
  period_from: '2026-01-02',
  spent: 120,
  left: 180,
  resets_at: '2026-02-01T16:00:00Z',
}

export const ENDED_MANDATE = {
  ...MANDATE,
  status: 'ended',
  reason: 'merchant',
  ended_at: '2026-01-09T03:05:00Z',
  updated_at: '2026-01-09T03:05:00Z',
  period_from: null,
  period_to: null,
  spent: null,
  left: null,
  resets_at: null,
}

const ABOUT_CHARGED = {
  ...ABOUT_ORDER,
  mandate_id: MANDATE_ID,
  period_from: DAY,
  spent: text('Points charged in this period, this charge included.', '本期已扣积分，含本次。'),
  left: text('Points that can still be charged in this period.', '本期还可扣的积分。'),
  resets_at: moment('When the next period begins.', '下期开始时间。'),
}
export const Charged = described(ChargeFields, ABOUT_CHARGED)

export const mandateOperations: Operation[] = [
  {
    area: 'payment',
    method: 'post',
    path: '/payment/mandate/{payment_id}/offer',
    about: { en: 'Offer a mandate', zh: '发起预授权' },
    introduction: {
      en: 'Offers a mandate and answers the address of its page. Send the member there. Nothing is charged before the member allows it. Refused with 1020 until an administrator switches mandates on.',
      zh: '发起预授权并返回其页面地址。把成员带到该页面；成员允许之前不会扣款。管理员开启预授权之前返回 1020。',
    },
    request: {
      in: 'form',
      schema: described(OfferRequest, {
        reference: REFERENCE,
        purpose: text('What the member reads.', '成员看到的用途。'),
        amount: text(
          'Exactly this amount, once a period. Send it, or both caps.',
          '每期一次、金额固定。与两个上限二选一。',
        ),
        charge_max: text(
          'Most points of one charge; with period_max.',
          '单次扣款上限，与 period_max 同时填写。',
        ),
        period_max: text(
          'Most points of a period; with charge_max.',
          '每期扣款上限，与 charge_max 同时填写。',
        ),
        period: text('Periods count from the first day.', '从首日起计算周期。'),
        starts_on: text(
          'The first day, at most 90 days ahead; by default the day of acceptance.',
          '首日，最多提前 90 天；默认为接受之日。',
        ),
        ends_on: text(
          'The last day, at most 366 days after the first; by default a year.',
          '最后一天，最多在首日后 366 天；默认一年。',
        ),
        user_id: text('Only this member may accept.', '仅该成员可以接受。'),
        with_token: text(
          'yes: each charge also needs an access token of the member.',
          'yes：每次扣款还需要成员的访问令牌。',
        ),
        replaces: text(
          'The mandate_id of a mandate in force that the acceptance ends.',
          '接受后将被取代的、有效的预授权。',
        ),
        ...SIGNED,
      }),
      example: () => ({
        reference: `club-${NOW}`,
        purpose: 'Club membership',
        charge_max: '100',
        period_max: '300',
        period: 'month',
      }),
    },
    answers: {
      200: {
        about: {
          en: 'The offer, new or pending. Send the member to mandate_url. It lapses after a day; the same request opens it again.',
          zh: '新建或等待接受的邀请。请把成员带到 mandate_url。一天后失效，重发同一请求可重新打开。',
        },
        schema: described(OfferAnswer, {
          success: SUCCESS,
          mandate_id: text('The number of the mandate, given by this site.', '本站的预授权编号。'),
          status: text('Always pending: the member has not decided.', '固定为 pending：等待成员决定。'),
          mandate_url: text('Send the member here.', '把成员带到这里。'),
          reference: REFERENCE,
          expires_at: moment('When the offer lapses.', '邀请失效时间。'),
        }),
        example: {
          success: true,
          mandate_id: MANDATE.mandate_id,
          mandate_url: `https://pay.example.org/payment/mandate/${MANDATE.mandate_id}`,
          reference: MANDATE.reference,
          status: 'pending',
          expires_at: '2026-01-03T03:04:05Z',
        },
      },
      ...refusals,
    },
  },
  {
    area: 'payment',
    method: 'post',
    path: '/payment/mandate/{payment_id}/charge',
    about: { en: 'Charge under a mandate', zh: '按预授权扣款' },
    introduction: {
      en: 'Charges points under an active mandate while the member is away. If the answer is lost, repeat the request with the same order_id: it charges once.',
      zh: '按生效的预授权扣款，成员无需在场。没有收到响应时，用同一 order_id 重复请求，只会扣一次。',
    },
    request: {
      in: 'form',
      schema: described(ChargeRequest, {
        mandate_id: MANDATE_ID,
        order_id: ORDER_ID,
        amount: text('Whole points, within the caps.', '整数积分，不超过上限。'),
        description: text('What the member reads.', '成员看到的说明。'),
        ...SIGNED,
      }),
      example: ({ mandates }) => ({
        mandate_id: mandates.charged,
        order_id: `charge-${NOW}`,
        amount: '60',
        description: 'January',
      }),
    },
    answers: {
      200: {
        about: {
          en: 'The charge, by this request or an earlier one, with its period as of that charge. An access token of the member may come in the header Authorization: Bearer.',
          zh: '扣款已完成（本次或之前的请求），并附当时的周期数据。成员的访问令牌可放在请求头 Authorization: Bearer 中。',
        },
        schema: described(ChargeAnswer, { success: SUCCESS, ...ABOUT_CHARGED }),
        example: { success: true, ...CHARGED },
      },
      ...refusals,
    },
  },
  {
    area: 'payment',
    method: 'post',
    path: '/payment/mandate/{payment_id}/query',
    about: { en: 'Get a mandate', zh: '查询预授权' },
    introduction: {
      en: 'Returns the state of one mandate and what is left of its current period.',
      zh: '返回一份预授权的状态，以及当前周期的剩余额度。',
    },
    request: {
      in: 'form',
      schema: described(MandateQueryRequest, {
        mandate_id: text('Send mandate_id or reference.', '填写 mandate_id 或 reference。'),
        reference: REFERENCE,
        ...SIGNED,
      }),
      example: ({ mandates }) => ({ mandate_id: mandates.charged }),
    },
    answers: {
      200: {
        about: { en: 'The mandate.', zh: '完整的预授权信息。' },
        schema: described(MandateAnswer, { success: SUCCESS, ...ABOUT_MANDATE }),
        example: { success: true, ...MANDATE },
      },
      ...refusals,
    },
  },
  {
    area: 'payment',
    method: 'post',
    path: '/payment/mandates/{payment_id}',
    about: { en: 'List mandates', zh: '列出预授权' },
    introduction: { en: 'Lists the mandates of the application page by page.', zh: '分页列出应用的预授权。' },
    request: {
      in: 'form',
      schema: described(MandatesRequest, { status: ONLY, ...PAGE }),
      example: () => ({ limit: '50', status: 'active' }),
    },
    answers: {
      200: {
        about: { en: 'One page of mandates.', zh: '一页预授权。' },
        schema: described(MandatePage.extend({ data: z.array(Mandate) }), {
          success: SUCCESS,
          data: ROWS,
          next_cursor: NEXT,
        }),
        example: { success: true, data: [MANDATE], next_cursor: null },
      },
      ...refusals,
    },
  },
  {
    area: 'payment',
    method: 'post',
    path: '/payment/mandate/{payment_id}/revoke',
    about: { en: 'Revoke a mandate', zh: '撤销预授权' },
    introduction: {
      en: 'Ends a mandate for ever, for example when a subscription is cancelled. The member reads the reason.',
      zh: '永久结束一份预授权，例如订阅被取消时。成员会看到原因。',
    },
    request: {
      in: 'form',
      schema: described(RevokeRequest, {
        mandate_id: MANDATE_ID,
        reason: text('The member reads it.', '成员会看到。'),
        ...SIGNED,
      }),
      example: ({ mandates }) => ({ mandate_id: mandates.revoked, reason: 'The club has closed' }),
    },
    answers: {
      200: {
        about: { en: 'The mandate, ended now or before.', zh: '已结束的预授权（本次或之前）。' },
        schema: described(MandateAnswer, { success: SUCCESS, ...ABOUT_MANDATE }),
        example: { success: true, ...ENDED_MANDATE },
      },
      ...refusals,
    },
  },
]
