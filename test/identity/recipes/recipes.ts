/**
 * The recipes of docs/{en,zh-CN}/sign-in-clients.md, as the tests of this folder run them: the settings that a reader
 * copies are the settings that sign in here.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { ROOT } from '../../harness/server-process.ts'

/** A recipe in one language: its name, the versions that its tests ran, and its code blocks. */
export type Recipe = { name: string; versions: string[]; code: string[]; text: string }

const TRIED = { en: /^Tried with (.+)\.$/m, 'zh-CN': /^已用 (.+)验证。$/m } as const
const VERSION = /\d+(?:\.\d+)+/g

/** Reads the recipes of a language that name a version. */
export function recipesIn(language: keyof typeof TRIED): Recipe[] {
  const guide = readFileSync(join(ROOT, 'docs', language, 'sign-in-clients.md'), 'utf8')
  return guide.split(/^## /m).flatMap((part) =>
    part
      .split(/^### /m)
      .slice(1)
      .flatMap((text) => {
        const tried = TRIED[language].exec(text)?.[1]
        if (tried === undefined) return []
        const name = text.slice(0, text.indexOf('\n'))
        const code = [...text.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, block]) => block!)
        return { name, versions: tried.match(VERSION) ?? [], code, text }
      }),
  )
}

/** Finds a recipe of the English guide. The Chinese one has the same versions and code: recipes.test.ts checks it. */
export function recipe(name: string): Recipe {
  const found = recipesIn('en').find((each) => each.name === name)
  if (found === undefined) throw new Error(`No recipe is named ${name}`)
  return found
}

/** The code of a recipe with these values in place of the words that stand for them. */
export function filledIn(code: string, values: Record<string, string>): string {
  return Object.entries(values).reduce((text, [word, value]) => {
    expect(text).toContain(word)
    return text.replaceAll(word, value)
  }, code)
}

/** Replaces a part that the code must have, to show what the recipe warns of. */
export function changed(code: string, part: string, by: string): string {
  return filledIn(code, { [part]: by })
}

/** In CI a test of an absent client fails, so that every recipe is proven there. Elsewhere it is skipped. */
const isSkippedIfAbsent = process.env.CI !== 'true'

/** Whether a client is absent here, and its tests are skipped for that. */
export function isSkipped(version: string | undefined): boolean {
  return version === undefined && isSkippedIfAbsent
}

/** The version of a Debian package as its authors name it, or undefined if it is not installed. */
export function debianVersion(name: string): string | undefined {
  const { stdout } = spawnSync('dpkg-query', ['--status', name])
  const [, version] = /^Version: (?:\d+:)?(\d[\d.]*\d)/m.exec(String(stdout)) ?? []
  return version
}

/** The folder in which the clients for Node are installed. */
export const NODE_FOLDER = join(import.meta.dirname, 'node')

/** The version of an npm package, or undefined if it is not installed there. */
export function npmVersion(name: string, folder = ROOT): string | undefined {
  const file = join(folder, 'node_modules', name, 'package.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined
}
