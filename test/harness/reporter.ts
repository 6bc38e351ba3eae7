/** Ends the run with the plain line `N passed, N failed` that machines read. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'
import { unsentForms } from './reported-acts.ts'

/** Programs of others, which sign in by the recipes of the documentation. `npm run recipes` sets RECIPES. */
const RECIPES = process.env.RECIPES === 'true' ? [] : ['test/identity/recipes/**']

/** Replaces processes under load for minutes. `npm run upgrades` sets UPGRADE_POSTS. */
const UPGRADES = process.env.UPGRADE_POSTS === undefined ? ['test/operations/upgrades.test.ts'] : []

/** The files of all tests of this run, those of the tools in bench too. */
export const ALL_FILES = globSync(['test/**/*.test.ts', 'bench/**/*.test.ts'], {
  cwd: join(import.meta.dirname, '../..'),
  exclude: ['**/node_modules/**', ...RECIPES, ...UPGRADES],
})

// biome-ignore lint/style/noDefaultExport: vitest loads reporters by their default export
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const states = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => test.result().state),
    )
    const count = (state: string) => states.filter((s) => s === state).length
    // A file that fails to load has no tests to count, and must not pass.
    const brokenFiles = modules.filter((module) => module.errors().length > 0).length
    // Only the whole suite sends every form.
    const unsent = modules.length === ALL_FILES.length ? unsentForms(process.env.FORMS_LOG!) : []
    for (const form of unsent) console.log(`No test has sent the form POST ${form} with success`)
    const failed = count('failed') + brokenFiles + unhandledErrors.length + unsent.length
    const skipped = count('skipped')
    console.log(`\n${count('passed')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  }
}
