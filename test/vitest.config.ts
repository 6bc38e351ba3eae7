import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { isSpread } from './harness/one-process.ts'
import { pureFiles } from './harness/pure.ts'
import { ALL_FILES } from './harness/reporter.ts'
import { TIMES } from './harness/thoroughness.ts'
import { WAIT_MS_MAX } from './harness/waiting.ts'

/**
 * Tests for which many processes change nothing: they send no request to the application of the harness, start
 * servers themselves, or watch one process.
 */
const ALIKE = [
  'core/metrics',
  'core/overload',
  'database/database',
  'database/embedded',
  'demo/demo',
  'demo/demo-docs',
  'demo/forum-demo',
  'demo/mandates-walk',
  'demo/shop',
  'demo/shop-parts',
  'docs/security',
  'egress/guard',
  'ledger/seal',
  'operations/backup',
  'operations/bucket',
  'operations/many-processes',
  'operations/process',
  'payment/gateway-messages',
  'payment/model',
  'payment/signatures',
  'platform/config',
  'platform/log',
  'platform/tracing',
  'web/messages',
]
const LEFT_OUT = ['bench/**', 'test/faults/**', ...ALIKE.map((name) => `test/${name}.test.ts`)]

/** These files take long, whatever their size. They begin first, so that no worker ends with one alone. */
const LONG = [
  'web/pages/',
  'operations/process',
  'demo/',
  'payment/model',
  'database/',
  'faults/',
  'core/limits',
]

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) =>
      LONG.some((part) => moduleId.includes(`/test/${part}`))
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

const ROOT = join(import.meta.dirname, '..')
const PURE = pureFiles(ALL_FILES.map((file) => join(ROOT, file))).map((file) => relative(ROOT, file))

export default defineConfig({
  cacheDir: './node_modules/.vite',
  test: {
    root: ROOT,
    reporters: [['default', { summary: false }], './test/harness/reporter.ts'],
    // No source keeps state of its own, so files may share imported modules.
    isolate: false,
    // Node reads the sources as the service does, and keeps what it has compiled. Vite would transform each in every run.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: LongFirst },
    // One more than the cores, because some tests wait for seconds without work. With two more, browsers delay the tests
    // that bound how long a fault may last.
    maxWorkers: availableParallelism() + 1,
    projects: [
      { extends: true, test: { name: 'pure', include: PURE } },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: ALL_FILES.filter((file) => !PURE.includes(file)),
          globalSetup: './test/harness/global-setup.ts',
        },
      },
    ],
    exclude: isSpread ? [...configDefaults.exclude, ...LEFT_OUT] : configDefaults.exclude,
    // They end what hangs, and no test sets its own. A slow machine takes many times as long as a fast one. A poll ends
    // first, because it tells what the test waits for.
    expect: { poll: { timeout: WAIT_MS_MAX, interval: 20 } },
    testTimeout: 2 * WAIT_MS_MAX * Math.max(1, TIMES),
    hookTimeout: 2 * WAIT_MS_MAX,
  },
})
