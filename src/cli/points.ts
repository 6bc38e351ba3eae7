/** `tessera points …` grants and takes points. */
import { readFile } from 'node:fs/promises'
import { judgeLines, type PointsLine, postLines, readLines } from '../accounts/points.ts'
import { recordAudit } from '../core/audit.ts'
import { type Outcome, postPoints, refusalOf } from '../ledger/points.ts'
import { AppError } from '../platform/errors.ts'
import { sha256 } from '../platform/secrets.ts'
import { counted } from '../web/plurals.ts'
import {
  actorOf,
  type Command,
  findMember,
  type OptionValues,
  type Result,
  type Run,
  readAmount,
  requiredOption,
  UsageError,
  withDeps,
} from './command.ts'

/** Posting them takes about one second. Meanwhile the members they name can neither pay nor be paid. */
const LINES_MAX = 10_000

export const pointCommands: Command[] = [
  {
    name: 'points grant',
    takes: ['username', 'amount'],
    options: {
      by: { type: 'string', isRequired: true },
      reason: { type: 'string', isRequired: true },
      key: { type: 'string' },
    },
    summary:
      'Gives a member points. A repeated --key gives nothing; a repeated --key with other values is refused.',
    run: grant,
  },
  {
    name: 'points import',
    takes: ['file.csv'],
    options: {
      by: { type: 'string' },
      reason: { type: 'string' },
      key: { type: 'string' },
      'dry-run': { type: 'boolean' },
    },
    summary: `Gives or takes (negative) points by lines of username,amount, at most ${LINES_MAX} a file: all of them or none. A --key moves points once; without it, the same file with the same --reason does. --by and --reason are required without --dry-run.`,
    run: importLines,
  },
]

async function grant({ config, arguments: [username, digits], options }: Run) {
  const amount = readAmount(digits!)
  const reason = requiredOption(options, 'reason')
  const key = givenOption(options, 'key')
  const isMoved = await withDeps(config, async (deps) => {
    const actor_id = await actorOf(deps, options)
    const member = await findMember(deps.db, username!)
    const now = deps.clock()
    const reference = `command line:${key ?? now.toISOString()}`
    const lines = [{ user_id: member.id, amount, reference }]
    return deps.db.transaction().execute(async (tx) => {
      const [outcome] = await postPoints(tx, { lines, reason, actor_id, now })
      const refusal = refusalOf(outcome!)
      if (refusal !== undefined) throw refusal
      if (outcome === 'repeated') return false
      const detail = { reason, lines: [`${username} ${amount}`] }
      await recordAudit(tx, { actor_id, action: 'points.post', subject: reference, detail, ip: null })
      return true
    })
  })
  return {
    lines: [
      isMoved
        ? `${username} has ${amount} ${counted(amount, 'point', 'points')} more.`
        : 'Nothing moved: this key was used before.',
    ],
    data: { username, amount, is_moved: isMoved },
  }
}

async function importLines({ config, arguments: [path], options }: Run) {
  const isDry = options['dry-run'] === true
  const reason = (isDry ? givenOption : requiredOption)(options, 'reason')
  const text = await readFile(path!, 'utf8').catch((error: Error) => {
    throw new UsageError(error.message)
  })
  const key = keyOf(options, reason, text)
  return withDeps(config, async (deps) => {
    const lines = await readLines(deps.db, text, LINES_MAX).catch((error: unknown) => {
      throw error instanceof AppError ? new UsageError(error.message) : error
    })
    const unread = faultsOf(lines, ({ fault }) => fault)
    if (unread.length > 0) return resultOf(lines, { faults: unread })
    if (isDry) {
      const outcomes = await judgeLines(deps.db, lines, { key, reason })
      const faults = faultsOf(lines, (_line, index) => FAULTS_OF[outcomes[index]!])
      return resultOf(lines, { faults, wasMoved: outcomes[0] === 'repeated' })
    }
    const actor_id = await actorOf(deps, options)
    const isMoved = await postLines(deps, lines, { reason: reason!, actor_id, ip: null, key: key! })
    return resultOf(lines, { isMoved, wasMoved: !isMoved })
  })
}

/** The key of the import. Undefined for a dry run without `--key` and `--reason`. */
function keyOf(options: OptionValues, reason: string | undefined, text: string): string | undefined {
  const key = givenOption(options, 'key')
  if (key !== undefined) return `import key ${key}`
  if (reason === undefined) return undefined
  return `import ${sha256(`${reason}\n${text}`).toString('base64url').slice(0, 22)}`
}

function givenOption(options: OptionValues, name: string): string | undefined {
  return options[name] === undefined ? undefined : requiredOption(options, name)
}

const FAULT_WORDS = {
  unreadable: 'not understood',
  unknownMember: 'there is no such member',
  tooMany: 'that is more points than can be counted',
  insufficient: 'the member does not have that many points',
} as const
type Fault = keyof typeof FAULT_WORDS

const FAULTS_OF: Partial<Record<Outcome, Fault>> = {
  not_found: 'unknownMember',
  too_many: 'tooMany',
  insufficient: 'insufficient',
}

function faultsOf(lines: PointsLine[], faultOf: (line: PointsLine, index: number) => Fault | undefined) {
  return lines.flatMap((each, index) => {
    const fault = faultOf(each, index)
    return fault === undefined ? [] : [{ line: each.line, text: each.text, fault }]
  })
}

type Ending = {
  faults?: ReturnType<typeof faultsOf>
  isMoved?: boolean
  /** Whether these lines were posted before under the same key. */
  wasMoved?: boolean
}

function resultOf(lines: PointsLine[], { faults = [], isMoved = false, wasMoved }: Ending): Result {
  const sum = (amounts: bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
  const amounts = lines.map(({ amount }) => amount)
  const given = sum(amounts.filter((amount) => amount > 0n))
  const taken = -sum(amounts.filter((amount) => amount < 0n))
  const data = { lines: lines.length, given, taken, faults, is_moved: isMoved }
  if (faults.length > 0) {
    const described = faults.map(({ line, text, fault }) => `line ${line}: ${FAULT_WORDS[fault]}: ${text}`)
    return { lines: [...described, 'Nothing moved.'], data, isFaulty: true }
  }
  const ending = isMoved
    ? 'Done.'
    : wasMoved
      ? 'Nothing moved: these lines were posted before.'
      : 'Nothing moved: this was a dry run.'
  const read = `${lines.length} ${counted(lines.length, 'line', 'lines')}`
  const moved = `${given} ${counted(given, 'point', 'points')} to give, ${taken} to take`
  return { lines: [`${read}, ${moved}. ${ending}`], data }
}
