/** `tessera points …`: points given and taken by hand. */
import { readFile } from 'node:fs/promises'
import { recordAudit } from '../audit.ts'
import { type PointsLine, postLines, readLines } from '../ledger/point-lines.ts'
import { grantPoints } from '../ledger/post.ts'
import { sha256 } from '../secrets.ts'
import {
  actorOf,
  type Command,
  findMember,
  type Run,
  requiredOption,
  UsageError,
  withDeps,
} from './command.ts'

const LINES_MAX = 1_000_000

export const pointCommands: Command[] = [
  {
    name: 'points grant',
    takes: ['username', 'amount'],
    options: {
      by: { type: 'string', isRequired: true },
      reason: { type: 'string', isRequired: true },
      key: { type: 'string' },
    },
    summary: 'Gives a member points. A second grant with the same --key gives nothing.',
    run: grant,
  },
  {
    name: 'points import',
    takes: ['file.csv'],
    options: { by: { type: 'string' }, reason: { type: 'string' }, 'dry-run': { type: 'boolean' } },
    summary:
      'Gives or takes (negative) points by lines of username,amount. The same file moves points once. --by and --reason unless --dry-run.',
    run: importLines,
  },
]

async function grant({ config, arguments: [username, digits], options }: Run) {
  if (!/^[1-9]\d{0,15}$/.test(digits!)) throw new UsageError('The amount is a whole number of points from 1')
  const amount = BigInt(digits!)
  const reason = requiredOption(options, 'reason')
  const isMoved = await withDeps(config, async (deps) => {
    const actor_id = await actorOf(deps, options)
    const user = await findMember(deps.db, username!)
    const now = deps.clock()
    const reference = `command line:${options.key ?? now.toISOString()}`
    return deps.db.transaction().execute(async (tx) => {
      if (!(await grantPoints(tx, { user_id: user.id, amount, reference, reason, actor_id, now })))
        return false
      const detail = { reason, lines: [`${username} ${amount}`] }
      await recordAudit(tx, { actor_id, action: 'points.post', subject: reference, detail, ip: null })
      return true
    })
  })
  return {
    lines: [isMoved ? `${username} has ${amount} points more.` : 'Nothing moved: this key was used before.'],
    data: { username, amount, is_moved: isMoved },
  }
}

async function importLines({ config, arguments: [path], options, progress }: Run) {
  const isDry = options['dry-run'] === true
  const reason = isDry ? '' : requiredOption(options, 'reason')
  const text = await readFile(path!, 'utf8').catch((error: Error) => {
    throw new UsageError(error.message)
  })
  return withDeps(config, async (deps) => {
    const lines = await readLines(deps.db, text, LINES_MAX)
    const wrong = lines.flatMap(({ text: line, fault }, index) =>
      fault === undefined ? [] : [{ line: index + 1, text: line, fault }],
    )
    const data = { lines: lines.length, ...totalsOf(lines), faults: wrong, is_moved: false }
    if (wrong.length > 0) {
      const told = wrong.map(({ line, text: words, fault }) => `line ${line}: ${fault}: ${words}`)
      return { lines: [...told, 'Nothing moved.'], data, isFaulty: true }
    }
    const sums = `${lines.length} lines, ${data.given} points to give, ${data.taken} to take`
    if (isDry) return { lines: [`${sums}. Nothing moved: this was a dry run.`], data }
    const actor_id = await actorOf(deps, options)
    // The same file under the same reason is the same act, however often it is sent.
    const key = `import ${sha256(`${reason}\n${text}`).toString('base64url').slice(0, 22)}`
    const onProgress = (done: number) => progress(done, lines.length)
    await postLines(deps, lines, { reason, actor_id, ip: null, key, onProgress })
    return { lines: [`${sums}. Done.`], data: { ...data, is_moved: true } }
  })
}

function totalsOf(lines: PointsLine[]) {
  const sum = (amounts: bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
  const amounts = lines.map(({ amount }) => amount)
  return {
    given: sum(amounts.filter((amount) => amount > 0n)),
    taken: -sum(amounts.filter((amount) => amount < 0n)),
  }
}
