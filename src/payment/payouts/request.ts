/** Reads the request of a payout, and names every fault by its place, such as `lines[17].amount`. Pure. spec/payouts 1.1. */
import { z } from 'zod'
import { AppError } from '../../platform/errors.ts'
import { isHonestText } from '../../web/parameters.ts'
import { Amount, UserId } from '../wire-fields/fields.ts'

export const LINES_MAX = 1_000
/** Lines of the mode `all`, which are paid in one transaction. */
export const ALL_LINES_MAX = 500
export const MEMO_MAX = 100
const LINE_ID_MAX = 32
/** Faults that a refusal names. */
const FAULTS_MAX = 20

const MODES = ['each', 'all'] as const

/** An integer of JSON counts as its decimal digits. */
const textOf = <Schema extends z.ZodType<unknown, string>>(schema: Schema) =>
  z.union([z.string(), z.int()], 'text or an integer').transform(String).pipe(schema)

const digits = <Schema extends z.ZodType<unknown, string>>(schema: Schema) =>
  textOf(schema).transform((text) => BigInt(text as string))

export const Reference = z
  .string()
  .regex(/^[!-%'-~]{1,64}$/, '1 to 64 printable ASCII characters without space or &')

// biome-ignore lint/suspicious/noControlCharactersInRegex: a text with one is refused
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]/

/** A line of a request. */
export const Line = z.object(
  {
    // A colon ends the reference in the order_id of the line's transfer.
    line_id: textOf(
      z
        .string()
        .regex(/^[!-%'-9;-~]+$/, 'printable ASCII characters without space, & or colon')
        .max(LINE_ID_MAX, `at most ${LINE_ID_MAX} characters`),
    ),
    to_user_id: digits(UserId),
    to_username: z
      .string('the name of a member')
      .min(1)
      .max(255)
      .refine((text) => !CONTROLS.test(text), 'the name of a member'),
    amount: digits(Amount),
    memo: z
      .string('text')
      .refine(
        (text) => [...text].length <= MEMO_MAX && isHonestText(text),
        `at most ${MEMO_MAX} characters on one line, none of them invisible`,
      )
      .default(''),
  },
  'an object',
)

export const PayoutRequest = z.object({
  reference: textOf(Reference),
  mode: z.enum(MODES, `one of ${MODES.join(', ')}`).default('each'),
  dry_run: z.boolean('true or false').default(false),
  lines: z.array(Line, 'a list').min(1, `1 to ${LINES_MAX} lines`).max(LINES_MAX, `1 to ${LINES_MAX} lines`),
})

export type PayoutRequest = z.output<typeof PayoutRequest>
export type PayoutLine = PayoutRequest['lines'][number]

/**
 * Reads a request. Throws parameter_missing or parameter_invalid with up to 20 faults, in the order of the request.
 * @param body decoded JSON, or lines read from a file.
 */
export function readPayoutRequest(body: unknown): PayoutRequest {
  const { success, data, error } = PayoutRequest.safeParse(body)
  if (!success) throw refusal(error.issues.map((issue) => faultOf(issue, body)))
  const places = new Map<string, number>()
  const faults: Fault[] = []
  for (const [i, { line_id }] of data.lines.entries()) {
    const first = places.get(line_id)
    if (first === undefined) places.set(line_id, i)
    else faults.push(invalid(`lines[${i}].line_id`, `lines[${first}] has it`))
  }
  if (data.mode === 'all' && data.lines.length > ALL_LINES_MAX)
    faults.push(invalid('lines', `at most ${ALL_LINES_MAX} lines with mode all`))
  if (faults.length > 0) throw refusal(faults)
  return data
}

type Fault = { code: 'parameter_missing' | 'parameter_invalid'; message: string }

function faultOf({ path, message }: z.core.$ZodIssue, body: unknown): Fault {
  const name = path.reduce<string>(
    (text, key) =>
      typeof key === 'number' ? `${text}[${key}]` : text === '' ? String(key) : `${text}.${String(key)}`,
    '',
  )
  if (name === '') return { code: 'parameter_invalid', message: 'The body must be a JSON object' }
  const given = path.reduce<unknown>(
    (value, key) => (value as Record<PropertyKey, unknown> | null)?.[key],
    body,
  )
  return given === undefined || given === null || given === ''
    ? { code: 'parameter_missing', message: `Missing parameter: ${name}` }
    : invalid(name, message)
}

const invalid = (name: string, rule: string): Fault => ({
  code: 'parameter_invalid',
  message: `Invalid ${name}: ${rule}`,
})

function refusal(found: Fault[]): AppError {
  const faults = found.slice(0, FAULTS_MAX)
  const { code, message } = faults[0]!
  return new AppError(code, message, { faults })
}
