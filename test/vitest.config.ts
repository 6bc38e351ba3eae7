import { defineConfig } from 'vitest/config'
import { TIMES } from './thoroughness.ts'

export default defineConfig({
  cacheDir: '../node_modules/.vite',
  test: {
    root: import.meta.dirname,
    globalSetup: './global-setup.ts',
    reporters: [['default', { summary: false }], './reporter.ts'],
    // Nothing in the sources keeps state of its own, so files may share what has been imported.
    isolate: false,
    maxWorkers: '100%',
    testTimeout: 60_000 * TIMES,
    hookTimeout: 120_000,
  },
})
