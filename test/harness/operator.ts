/** Runs `tessera …` in this process as an operator. */
import { tessera } from '../../src/cli/main.ts'
import type { TestApp } from './harness.ts'

export type Outcome = { code: number; out: string; err: string }

/** The environment variables that commands need to find a service. */
export function environmentOf({ deps: { config } }: TestApp): { DATABASE_URL: string; APP_SECRET: string } {
  return { DATABASE_URL: config.DATABASE_URL!, APP_SECRET: config.APP_SECRET! }
}

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
  return { code: await tessera(words, output, env), ...said }
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
