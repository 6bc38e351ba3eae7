/** Describes the operations of the JSON API about payouts. */
import { z } from 'zod'
import { LIMIT_DEFAULT, LIMIT_MAX } from '../../payment/hmac/shapes.ts'
import { LINES_MAX, Line, MEMO_MAX, PayoutRequest } from '../../payment/payouts/request.ts'
import {
  DryRunAnswer,
  LinesQuery,
  PayoutAnswer,
  PayoutFields,
  PayoutLineFields,
  PayoutLinesPage,
  PayoutPage,
  PayoutsQuery,
} from '../../payment/rest/payout-shapes.ts'
import { described, type Operation, text } from './operation.ts'
import { moment, NEXT, ONLY, PAGE, ROWS, refusals, SUCCESS } from './payment.ts'
import { SAMPLE_PAYOUT, type Samples } from './samples.ts'

const REFERENCE = text(
  'Your own name for the payout. The same name again is the same payout, never a second one.',
  '商户自己的编号。重复提交得到同一次批量付款，不会付第二次。',
)
const MODE = text(
  'each: every line that can be paid. all: every line, at most 500, or none.',
  'each：能付的逐行付款。all：全部付款（最多 500 行），否则一行也不付。',
)
const LINE_ID = text(
  'Your own number of the line, once in a payout.',
  '商户自己的行号，在一次批量付款中不重复。',
)

const ABOUT_PAYOUT = {
  reference: REFERENCE,
  status: text(
    'waiting, running, halted: it can go on. finished, refused (mode all), cancelled: it has ended. draft: its page waits for the owner.',
    'waiting、running、halted：尚未结束。finished、refused（all 模式）、cancelled：已结束。draft：页面上的草稿，等待所有者确认。',
  ),
  reason: text(
    'Why it halted, was refused or was cancelled; null otherwise.',
    '暂停、被拒绝或取消的原因；其他时候为 null。',
  ),
  mode: MODE,
  count: text('Lines in all.', '总行数。'),
  pending: text('Lines that are not decided yet.', '待处理的行数。'),
  paid: text('Lines whose transfer was made.', '已付款的行数。'),
  refused: text('Lines that cannot be paid.', '被拒绝的行数。'),
  cancelled: text('Lines that will not be paid.', '已取消的行数。'),
  amount: text('Points of all lines, without fees.', '全部行的积分，不含手续费。'),
  fee: text('Fees of all lines, in points.', '全部行的手续费（积分）。'),
  total: text('Points of all lines with their fees.', '全部行的积分与手续费之和。'),
  paid_total: text('What the paid lines cost the owner, with fees.', '已付款的行共扣除的积分，含手续费。'),
  created_at: moment('When it was created.', '创建时间。'),
  finished_at: moment('When it ended; null before.', '结束时间；此前为 null。'),
}
const ABOUT_LINE = {
  line_id: LINE_ID,
  status: text(
    'pending: not decided. paid, refused, cancelled: final.',
    'pending：待处理。paid、refused、cancelled：不再变化。',
  ),
  code: text('The code of its refusal; null otherwise.', '拒绝的错误码；其他时候为 null。'),
  message: text('The refusal in words.', '拒绝的说明。'),
  transaction_id: text('The number of its transfer; null before.', '转账的交易号；此前为 null。'),
  fee: text('The fee in points, on top of the amount.', '手续费（积分），在金额之外。'),
}

export const Payout = described(PayoutFields, ABOUT_PAYOUT)
const PayoutLine = described(PayoutLineFields, ABOUT_LINE)

/** The payout of the examples, after its end. */
export const PAYOUT = {
  reference: SAMPLE_PAYOUT.reference,
  status: 'finished',
  reason: null,
  mode: 'each',
  count: 1,
  pending: 0,
  paid: 1,
  refused: 0,
  cancelled: 0,
  amount: 50,
  fee: 2,
  total: 52,
  paid_total: 52,
  created_at: '2026-01-02T03:04:05Z',
  finished_at: '2026-01-02T03:04:06Z',
}
const WAITING = { ...PAYOUT, status: 'waiting', pending: 1, paid: 0, paid_total: 0, finished_at: null }
const LINE = {
  line_id: '1',
  status: 'paid',
  code: null,
  message: null,
  transaction_id: 'txn_0a1b2c3d4e5f6g7h8i9j0k1l',
  fee: 2,
}

const Answered = described(PayoutAnswer, { success: SUCCESS, ...ABOUT_PAYOUT })
const LIMIT = text(
  `How many, 1 to ${LIMIT_MAX}; ${LIMIT_DEFAULT} without it.`,
  `条数，1 到 ${LIMIT_MAX}；默认 ${LIMIT_DEFAULT}。`,
)
const refused = { 400: refusals[400] }

/** What the examples ask for: one line to a member of the site. */
export const askedPayout = ({ member }: Pick<Samples, 'member'>) => ({
  reference: SAMPLE_PAYOUT.reference,
  lines: [{ ...SAMPLE_PAYOUT.line, to_user_id: member.id, to_username: member.username, amount: 50 }],
})

type Described = Pick<Operation, 'method' | 'path' | 'about' | 'introduction' | 'request' | 'answers'>

/** An operation of one payout, which its path names. */
const ofOne = (operation: Described): Described & Pick<Operation, 'inPath'> => ({
  inPath: () => ({ reference: SAMPLE_PAYOUT.reference }),
  ...operation,
})

/** The operations, without what a token may lead to. */
export const payoutOperations: (Described & Pick<Operation, 'inPath'>)[] = [
  {
    method: 'post',
    path: '/payouts',
    about: text('Create a payout', '发起批量付款'),
    introduction: text(
      `Pays up to ${LINES_MAX.toLocaleString('en')} members under one reference. The site makes the transfers piece by piece, so no crash pays a line twice. With dry_run it answers what each line would do, and stores nothing.`,
      `用一个编号向最多 ${LINES_MAX.toLocaleString('en')} 名成员付款。转账由本站分批完成，无论哪里中断都不会重复付款。带 dry_run 时只返回每一行的预计结果，不保存任何内容。`,
    ),
    request: {
      in: 'json',
      schema: described(
        PayoutRequest.extend({
          lines: z
            .array(
              described(Line, {
                line_id: LINE_ID,
                to_user_id: text('The member who receives.', '收到积分的成员。'),
                to_username: text('The same member by name.', '同一成员的用户名。'),
                amount: text('What the member receives, in points.', '成员收到的积分。'),
                memo: text(
                  `At most ${MEMO_MAX} characters, which the member reads.`,
                  `附言，最多 ${MEMO_MAX} 个字符，成员可以看到。`,
                ),
              }),
            )
            .min(1)
            .max(LINES_MAX),
        }),
        {
          reference: REFERENCE,
          mode: MODE,
          dry_run: text('true: judge only.', 'true：只判断，不付款。'),
          lines: text('Whom to pay, in this order.', '收款成员，按此顺序付款。'),
        },
      ),
      example: askedPayout,
    },
    answers: {
      200: {
        about: text(
          'The payout, by this request or an earlier one. Read it again until it has ended.',
          '批量付款（本次或之前的请求创建）。请再次查询直到结束。',
        ),
        schema: z.union([Answered, DryRunAnswer]),
        example: { success: true, ...WAITING },
      },
      ...refused,
    },
  },
  {
    method: 'get',
    path: '/payouts',
    about: text('List payouts', '列出批量付款'),
    introduction: text('Lists payouts, the newest first.', '分页列出批量付款，新的在前。'),
    request: {
      in: 'query',
      schema: described(PayoutsQuery, { limit: LIMIT, cursor: PAGE.cursor }),
      example: () => ({ limit: '50' }),
    },
    answers: {
      200: {
        about: text('One page of payouts.', '一页批量付款。'),
        schema: described(PayoutPage.extend({ data: z.array(Payout) }), {
          success: SUCCESS,
          data: ROWS,
          next_cursor: NEXT,
        }),
        example: { success: true, data: [PAYOUT], next_cursor: null },
      },
      ...refused,
    },
  },
  ofOne({
    method: 'get',
    path: '/payouts/{reference}',
    about: text('Get a payout', '查询批量付款'),
    introduction: text('Returns one payout by your reference.', '按商户编号返回一次批量付款。'),
    answers: {
      200: {
        about: text('The payout as it is now.', '批量付款的当前状态。'),
        schema: Answered,
        example: { success: true, ...PAYOUT },
      },
      ...refused,
    },
  }),
  ofOne({
    method: 'get',
    path: '/payouts/{reference}/lines',
    about: text('List lines of a payout', '列出批量付款的各行'),
    introduction: text(
      'Lists the lines in order with their results, such as only the refused ones.',
      '按顺序列出各行及结果，可以只列出被拒绝的。',
    ),
    request: {
      in: 'query',
      schema: described(LinesQuery, { limit: LIMIT, status: ONLY, cursor: PAGE.cursor }),
      example: () => ({ limit: '50' }),
    },
    answers: {
      200: {
        about: text('One page of lines.', '一页明细。'),
        schema: described(PayoutLinesPage.extend({ data: z.array(PayoutLine) }), {
          success: SUCCESS,
          data: ROWS,
          next_cursor: NEXT,
        }),
        example: { success: true, data: [LINE], next_cursor: null },
      },
      ...refused,
    },
  }),
  ...(['cancel', 'resume'] as const).map((act) => ofOne(changing(act))),
]

function changing(act: 'cancel' | 'resume'): Described {
  const words = {
    cancel: [
      text('Cancel a payout', '取消批量付款'),
      text(
        'Cancels the lines that are pending. Paid ones stay paid, and a payout that has ended stays as it is.',
        '取消待处理的行。已付款的行不变，已结束的批量付款不变。',
      ),
    ],
    resume: [
      text('Resume a payout', '继续批量付款'),
      text('Lets a halted payout go on. Any other stays as it is.', '让已暂停的批量付款继续；其他状态不变。'),
    ],
  } as const
  const [about, introduction] = words[act]
  return {
    method: 'post',
    path: `/payouts/{reference}/${act}`,
    about,
    introduction,
    answers: {
      200: {
        about: text('The payout as it is afterwards.', '操作之后的批量付款。'),
        schema: Answered,
        example: { success: true, ...PAYOUT },
      },
      ...refused,
    },
  }
}
