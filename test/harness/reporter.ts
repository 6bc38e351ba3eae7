/** Ends the run with the plain line `N passed, N failed` that machines read. */
import type { Reporter, TestModule } from 'vitest/node'

// biome-ignore lint/style/noDefaultExport: vitest loads reporters by their default export
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const states = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => test.result().state),
    )
    const count = (state: string) => states.filter((s) => s === state).length
    // A file that fails to load has no tests to count, and must not pass.
    const brokenFiles = modules.filter((module) => module.errors().length > 0).length
    const failed = count('failed') + brokenFiles + unhandledErrors.length
    const skipped = count('skipped')
    console.log(`\n${count('passed')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  }
}
