/**
 * Where traces go: to a collector, over HTTP (OTLP with JSON). They wait in a bounded queue and are lost when nobody takes
 * them, so that a collector which is slow, broken or gone costs no request anything. The library is loaded here, and only
 * when there is somewhere to send to.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { Tracing } from './tracing.ts'

/** Spans that wait: a few megabytes. */
const QUEUE_MAX = 2_048
/** So few at once that writing them as JSON holds nobody up for long. */
const BATCH_MAX = 256
const ROUND_MS = 2_000
const SEND_TIMEOUT_MS = 5_000
const CLOSE_TIMEOUT_MS = 3_000
/** Of the longest of our own attributes only a little is needed. */
const ATTRIBUTE_LENGTH_MAX = 256
const SILENCE_MS = 600_000

/** What could not be sent since it was last told. */
export type Loss = { spans: number; reason: string }

type Options = {
  config: Config
  clock: Clock
  /** Told of losses, every ten minutes at most. */
  onLost: (loss: Loss) => void
}

/** Where traces are sent, if anywhere. */
export function tracesUrl(config: Config): string | undefined {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own, OTEL_EXPORTER_OTLP_ENDPOINT: base } = config
  return own ?? (base === undefined ? undefined : `${base.replace(/\/$/, '')}/v1/traces`)
}

/** Undefined, and nothing loaded, unless an endpoint is set. */
export async function openTracing({ config, clock, onLost }: Options): Promise<Tracing | undefined> {
  const url = tracesUrl(config)
  if (url === undefined) return undefined
  const [{ ROOT_CONTEXT, trace }, { parseTraceParent }, sdk, { OTLPTraceExporter }, resources] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/core'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ])
  const headers = config.OTEL_EXPORTER_OTLP_HEADERS ?? {}
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: SEND_TIMEOUT_MS })
  const provider = new sdk.TracerProvider({
    resource: resources.defaultResource().merge(
      resources.resourceFromAttributes({
        'service.name': config.OTEL_SERVICE_NAME,
        'service.instance.id': randomUUID(),
      }),
    ),
    sampler: samplerOf(config, sdk),
    spanLimits: { attributeValueLengthLimit: ATTRIBUTE_LENGTH_MAX },
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter: withLossesTold(exporter, clock, onLost),
        maxQueueSize: QUEUE_MAX,
        maxExportBatchSize: BATCH_MAX,
        scheduledDelayMillis: ROUND_MS,
      }),
    ],
  })
  const tracer = provider.getTracer('tessera')
  const nobody = { context: ROOT_CONTEXT }
  const tracing: Tracing = {
    begin(name, options, { context, epoch_ms = Date.now() - performance.now() } = nobody) {
      const startTime = epoch_ms + performance.now()
      const span = tracer.startSpan(name, { startTime, ...options }, context)
      if (!span.isRecording()) return undefined
      return { tracing, span, context: trace.setSpan(ROOT_CONTEXT, span), epoch_ms }
    },
    callerOf(traceparent) {
      const caller = traceparent === undefined ? null : parseTraceParent(traceparent)
      if (caller === null) return nobody
      return { context: trace.setSpanContext(ROOT_CONTEXT, { ...caller, isRemote: true }) }
    },
    async close() {
      const sent = provider.shutdown().catch(() => {})
      await Promise.race([sent, sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })])
    },
  }
  return tracing
}

type Sdk = typeof import('@opentelemetry/sdk-trace')

/** The samplers that the specification names. */
function samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: Config, sdk: Sdk) {
  const kind = name.replace('parentbased_', '')
  const roots = {
    always_on: () => new sdk.AlwaysOnSampler(),
    always_off: () => new sdk.AlwaysOffSampler(),
    traceidratio: () => new sdk.TraceIdRatioBasedSampler(ratio),
  }
  const root = roots[kind as keyof typeof roots]()
  return kind === name ? root : new sdk.ParentBasedSampler({ root })
}

/** To the library every batch is sent: what it would say of a failure, it would say each time. */
function withLossesTold(exporter: SpanExporter, clock: Clock, onLost: Options['onLost']): SpanExporter {
  let lost = 0
  let silentUntil = 0
  return {
    export(spans, done) {
      exporter.export(spans, ({ error }) => {
        if (error !== undefined) {
          lost += spans.length
          const now = clock().getTime()
          if (now >= silentUntil) {
            onLost({ spans: lost, reason: reasonOf(error) })
            lost = 0
            silentUntil = now + SILENCE_MS
          }
        }
        done({ code: 0 })
      })
    },
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  }
}

/** The status, the code of the system, or the library's own word: what a collector has answered is not repeated. */
function reasonOf(error: Error & { code?: number | string }): string {
  return String(error.code ?? error.message)
}
