#!/usr/bin/env node
/**
 * `npx tessera …`: what operators do without a browser. Exit codes: 0 done; 1 failed, or refused by the state of things,
 * as when what is named does not exist; 2 wrongly typed or configured, whatever the state; 3 a check found something wrong.
 */
import { parseArgs } from 'node:util'
import { databaseFault } from '../database/faults.ts'
import { ArchiveError } from '../operations/archive.ts'
import { type Config, ConfigError, loadConfig } from '../platform/config.ts'
import { applicationCommands } from './applications.ts'
import { archiveCommands } from './archive.ts'
import { bookCommands } from './books.ts'
import { type Command, type Progress, type Result, requiredOption, UsageError } from './command.ts'
import { doctorCommands } from './doctor.ts'
import { keyCommands } from './keys.ts'
import { migrateCommands } from './migrate.ts'
import { notificationCommands } from './notifications.ts'
import { pointCommands } from './points.ts'
import { settingCommands } from './settings.ts'
import { userCommands } from './users.ts'

const COMMANDS: Command[] = [
  ...userCommands,
  ...applicationCommands,
  ...pointCommands,
  ...notificationCommands,
  ...bookCommands,
  ...settingCommands,
  ...keyCommands,
  ...archiveCommands,
  ...migrateCommands,
  ...doctorCommands,
]

const FAILED = 1
const WRONGLY_TYPED = 2
const FOUND_FAULTS = 3
const WORDS_MAX = 2

function help(): string {
  const usages = COMMANDS.map((command) => [usageOf(command), command.summary] as const)
  return [
    'Usage: tessera <command> [--json]',
    '',
    ...usages.map(([usage, summary]) => `  ${usage}\n      ${summary}`),
    '',
    'Every command reads the configuration of the service: the environment, and .env where it is started.',
    'Exit codes: 0 done; 1 failed, or refused by the state of things (no such member, a file that exists already);',
    '2 wrongly typed or configured; 3 a check found something wrong.',
    'With --json the result is printed to stdout, also that of a check; on 1 and 2 {"error": "…"} to stderr instead.',
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

/** The command that the words begin with, longest name first, and the words after it. */
function findCommand(words: string[]): { command: Command; rest: string[] } | undefined {
  for (let count = WORDS_MAX; count >= 1; count -= 1) {
    const name = words.slice(0, count).join(' ')
    const command = COMMANDS.find((each) => each.name === name)
    if (command !== undefined) return { command, rest: words.slice(count) }
  }
  return undefined
}

/** @param configured reads the configuration, or throws ConfigError. */
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

/** A bar on one line that is written over, and only where somebody watches. Without a total it is a count. */
const showProgress: Progress = (done, total) => {
  if (!process.stderr.isTTY) return
  process.stderr.write(`\r${progressLine(done, total)} ${done === total ? '\n' : ''}`)
}

/** `[=========---------------------]  30 %  300 of 1000` */
export function progressLine(done: number, total: number): string {
  if (total === 0) return String(done)
  const filled = Math.floor((BAR_WIDTH * done) / total)
  const bar = '='.repeat(filled) + '-'.repeat(BAR_WIDTH - filled)
  return `[${bar}] ${String(Math.floor((100 * done) / total)).padStart(3)} %  ${done} of ${total}`
}

/** Ids and points as JSON numbers, as everywhere on the wire; larger ones, which no id of ours is, as text. */
function withoutBigints(_name: string, value: unknown): unknown {
  if (typeof value !== 'bigint') return value
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
}

/**
 * A line as a terminal may show it. Lines quote what shops and members wrote, which could else move the cursor, or look
 * like another line.
 */
export function printable(line: string): string {
  return line.replaceAll(
    /[\p{Cc}\u2028\u2029]/gu,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

export type Output = { out(text: string): void; err(text: string): void }

/** Runs one command and answers with its exit code. `environment` is the process's own unless a test says otherwise. */
export async function tessera(
  words: string[],
  { out, err }: Output,
  environment?: Record<string, string | undefined>,
): Promise<number> {
  if (words.length === 0 || words.includes('--help') || words[0] === 'help') {
    out(help())
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
    // What nobody has foreseen is ours to find: there the way to it is needed too.
    const said = sentence === undefined ? { error: message, stack } : { error: sentence }
    err(words.includes('--json') ? `${JSON.stringify(said)}\n` : `${sentence ?? stack}\n`)
    return isTyped ? WRONGLY_TYPED : FAILED
  }
}

/** Where a sentence says all there is to know. */
function sentenceFor(error: Error & { code?: unknown }): string | undefined {
  const fault = databaseFault(error)
  if (fault !== undefined) return fault
  // An error with a code, ours, of a file or of the database, is of something that the operator has named.
  return error.code !== undefined || error instanceof ArchiveError ? error.message : undefined
}

if (import.meta.main) {
  process.exitCode = await tessera(process.argv.slice(2), {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
  })
}
