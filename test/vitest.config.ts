import { defineConfig } from 'vitest/config'

export default defineConfig({
  cacheDir: '../node_modules/.vite',
  test: {
    root: import.meta.dirname,
    globalSetup: './global-setup.ts',
    reporters: [['default', { summary: false }], './reporter.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
