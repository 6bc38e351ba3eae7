#!/usr/bin/env node
/**
 * `npx tessera …`: the commands of operators. Exit codes: 0 done; 1 failed or refused, for example for a member who does
 * not exist; 2 wrongly typed or configured; 3 a check found a fault.
 */
import { parseArgs } from 'node:util'
import { databaseFault } from '../database/operator-messages.ts'
import { ArchiveError } from '../operations/archive.ts'
import { type Config, ConfigError, loadConfig } from '../platform/config.ts'
import { VERSION } from '../platform/version.ts'
import { applicationCommands } from './applications.ts'
import { archiveCommands } from './archive.ts'
import { auditCommands } from './audit.ts'
import { bookCommands } from './books.ts'
import { type Command, type Progress, type Result, requiredOption, UsageError } from './command.ts'
import { doctorCommands } from './doctor.ts'
import { freezeCommands } from './freezes.ts'
import { groupCommands } from './groups.ts'
import { keyCommands } from './keys.ts'
import { linkCommands } from './links.ts'
import { mandateCommands } from './mandates.ts'
import { migrateCommands } from './migrate.ts'
import { notificationCommands } from './notifications.ts'
import { pointCommands } from './points.ts'
import { refundCommands } from './refunds.ts'
import { settingCommands } from './settings.ts'
import { userListCommands } from './user-lists.ts'
import { userCommands } from './users.ts'

const COMMANDS: Command[] = [
  ...userListCommands,
  ...userCommands,
  ...groupCommands,
  ...applicationCommands,
  ...linkCommands,
  ...mandateCommands,
  ...pointCommands,
  ...refundCommands,
  ...freezeCommands,
  ...notificationCommands,
  ...bookCommands,
  ...settingCommands,
  ...auditCommands,
  ...keyCommands,
  ...archiveCommands,
  ...migrateCommands,
  ...doctorCommands,
]

const FAILED = 1
const WRONGLY_TYPED = 2
const FOUND_FAULTS = 3
const WORDS_MAX = 3

function help(): string {
  const usages = COMMANDS.map((command) => [usageOf(command), command.summary] as const)
  return [
    'Usage: tessera <command> [--json]',
    '       tessera --version',
    '',
    ...usages.map(([usage, summary]) => `  ${usage}\n      ${summary}`),
    '',
    'Every command reads the configuration of the service: the environment, and .env where it is started.',
    'Exit codes: 0 done; 1 failed or refused (no such member, a file that exists already);',
    '2 wrongly typed or configured; 3 a check found a fault.',
    'With --json the result goes to stdout, also that of a check. On 1 and 2, {"error": "…"} goes to stderr instead.',
    '',
  ].join('\n')
}

function usageOf({ name, takes, options = {} }: Command): string {
  const flags = Object.entries(options).map(([flag, { type, isRequired }]) => {
    const typed = type === 'boolean' ? `--${flag}` : `--${flag} …`
    return isRequired ? typed : `[${typed}]`
  })
  return [name, ...takes.map((argument) => `<${argument}>`), ...flags].join(' ')
}

/** Finds the command with the longest name that the words begin with, and the words after it. */
function findCommand(words: string[]): { command: Command; rest: string[] } | undefined {
  for (let count = WORDS_MAX; count >= 1; count -= 1) {
    const name = words.slice(0, count).join(' ')
    const command = COMMANDS.find((each) => each.name === name)
    if (command !== undefined) return { command, rest: words.slice(count) }
  }
  return undefined
}

/** Runs the command that the words name. Throws UsageError, and the errors of `configured` and of the command. */
async function run(words: string[], configured: () => Config): Promise<{ result: Result; asJson: boolean }> {
  const found = findCommand(words)
  if (found === undefined) throw new UsageError(`There is no such command. tessera --help lists them.`)
  const { command, rest } = found
  const { values, positionals } = parse(command, rest)
  if (positionals.length !== command.takes.length) throw new UsageError(`Usage: tessera ${usageOf(command)}`)
  const { json, ...options } = values
  for (const [name, { isRequired }] of Object.entries(command.options ?? {}))
    if (isRequired) requiredOption(options, name)
  const asJson = json === true
  try {
    const config = configured()
    return {
      result: await command.run({ config, arguments: positionals, options, progress: showProgress }),
      asJson,
    }
  } catch (error) {
    if (command.judgeConfig === undefined || !(error instanceof ConfigError)) throw error
    return { result: command.judgeConfig(error), asJson }
  }
}

function parse(command: Command, args: string[]) {
  try {
    const options = { json: { type: 'boolean' as const }, ...command.options }
    return parseArgs({ args, options, allowPositionals: true }) as {
      values: Record<string, string | boolean | undefined>
      positionals: string[]
    }
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\nUsage: tessera ${usageOf(command)}`)
  }
}

const BAR_WIDTH = 30

/** Rewrites one line on a terminal. Writes nothing when stderr is not a terminal. */
const showProgress: Progress = (done, total) => {
  if (!process.stderr.isTTY) return
  process.stderr.write(`\r${progressLine(done, total)} ${done === total ? '\n' : ''}`)
}

/** `[=========---------------------]  30 %  300 of 1000`, or only the count without a total. */
export function progressLine(done: number, total: number): string {
  if (total === 0) return String(done)
  const filled = Math.floor((BAR_WIDTH * done) / total)
  const bar = '='.repeat(filled) + '-'.repeat(BAR_WIDTH - filled)
  return `[${bar}] ${String(Math.floor((100 * done) / total)).padStart(3)} %  ${done} of ${total}`
}

/** Writes IDs and points as JSON numbers, as everywhere on the wire. Larger numbers become text. */
function withoutBigints(_name: string, value: unknown): unknown {
  if (typeof value !== 'bigint') return value
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
}

/**
 * Escapes control characters for the terminal. Lines quote texts of shops and members, which could otherwise move the
 * cursor or fake another line.
 */
export function printable(line: string): string {
  return line.replaceAll(
    /[\p{Cc}\u2028\u2029]/gu,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

export type Output = { out(text: string): void; err(text: string): void }

/** Runs one command and returns its exit code. A test passes its own `environment`. */
export async function tessera(
  words: string[],
  { out, err }: Output,
  environment?: Record<string, string | undefined>,
): Promise<number> {
  if (words.length === 0 || words.includes('--help') || words[0] === 'help') {
    out(help())
    return 0
  }
  if (words[0] === '--version') {
    out(`${VERSION}\n`)
    return 0
  }
  try {
    const { result, asJson } = await run(words, () => loadConfig(environment))
    out(`${asJson ? JSON.stringify(result.data, withoutBigints) : result.lines.map(printable).join('\n')}\n`)
    return result.isFaulty ? FOUND_FAULTS : 0
  } catch (error) {
    const isTyped = error instanceof UsageError || error instanceof ConfigError
    const { message, stack = message } = error as Error
    const sentence = isTyped ? message : sentenceFor(error as Error)
    // An unexpected error is a fault of the program: its stack helps to find it.
    const answer = sentence === undefined ? { error: message, stack } : { error: sentence }
    err(words.includes('--json') ? `${JSON.stringify(answer)}\n` : `${sentence ?? stack}\n`)
    return isTyped ? WRONGLY_TYPED : FAILED
  }
}

/** The message of an expected error. Undefined for an error whose stack is needed too. */
function sentenceFor(error: Error & { code?: unknown }): string | undefined {
  const fault = databaseFault(error)
  if (fault !== undefined) return fault
  // Errors with a code are about something that the operator named: a member, a file, the database.
  return error.code !== undefined || error instanceof ArchiveError ? error.message : undefined
}

/** Runs the command that the process was started with. */
export async function main(): Promise<void> {
  process.exitCode = await tessera(process.argv.slice(2), {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
  })
}

// npx keeps the path of a program that it linked once, and earlier versions named this file.
if (import.meta.main) await main()
