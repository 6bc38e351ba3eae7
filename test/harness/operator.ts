/** Runs `tessera …` in this process as an operator. */
import { tessera } from '../../src/cli/main.ts'
import type { TestApp } from './harness.ts'

/** A mark in the place of a word of the site, which every text has to fill in. */
const UNFILLED = /[\uE000-\uF8FF]/

export type Outcome = { code: number; out: string; err: string }

/** The environment variables that commands need to find a service. */
export function environmentOf({ deps: { config } }: TestApp): { DATABASE_URL: string; APP_SECRET: string } {
  return { DATABASE_URL: config.DATABASE_URL!, APP_SECRET: config.APP_SECRET! }
}

/** Runs a command. Throws when what it prints has a mark of the texts in it. */
export async function tesseraAt(env: Record<string, string>, ...words: string[]): Promise<Outcome> {
  const said = { out: '', err: '' }
  const output = {
    out: (text: string) => {
      said.out += text
    },
    err: (text: string) => {
      said.err += text
    },
  }
  const code = await tessera(words, output, env)
  if (UNFILLED.test(said.out + said.err)) throw new Error(`A command prints a mark: ${said.out}${said.err}`)
  return { code, ...said }
}

/** The data of a command that succeeds. */
export async function toldAt(
  env: Record<string, string>,
  ...words: string[]
): Promise<Record<string, unknown>> {
  const { code, out, err } = await tesseraAt(env, ...words, '--json')
  if (code !== 0) throw new Error(`${code}: ${err}`)
  return JSON.parse(out)
}
