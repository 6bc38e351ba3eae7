/**
 * Sends traces to a collector over HTTP (OTLP with JSON). Spans wait in a bounded queue and are dropped when it is full,
 * so a slow or broken collector delays no request. Only this file loads the library, and only when an endpoint is set.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { Tracing } from './tracing.ts'

/** Spans in the queue: a few megabytes. */
const QUEUE_MAX = 2_048
/** Small enough that writing the spans as JSON blocks the event loop only briefly. */
const BATCH_MAX = 256
const ROUND_MS = 2_000
const SEND_TIMEOUT_MS = 5_000
const CLOSE_TIMEOUT_MS = 3_000
/** In characters. */
const ATTRIBUTE_LENGTH_MAX = 256
const SILENCE_MS = 600_000

/** Spans that were lost since the last report, and why. */
export type Loss = { spans: number; reason: string }

type Options = {
  config: Config
  clock: Clock
  /** Receives losses, at most every ten minutes. */
  onLost: (loss: Loss) => void
}

/** Returns the address that traces are sent to, or undefined when tracing is off. */
export function tracesUrl(config: Config): string | undefined {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own, OTEL_EXPORTER_OTLP_ENDPOINT: base } = config
  return own ?? (base === undefined ? undefined : `${base.replace(/\/$/, '')}/v1/traces`)
}

/** Opens tracing. Returns undefined, and loads nothing, unless an endpoint is set. */
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
        exporter: reportLosses(exporter, clock, onLost),
        maxQueueSize: QUEUE_MAX,
        maxExportBatchSize: BATCH_MAX,
        scheduledDelayMillis: ROUND_MS,
      }),
    ],
  })
  const tracer = provider.getTracer('tessera')
  const root = { context: ROOT_CONTEXT }
  const tracing: Tracing = {
    begin(name, options, { context, epoch_ms = Date.now() - performance.now() } = root) {
      const startTime = epoch_ms + performance.now()
      const span = tracer.startSpan(name, { startTime, ...options }, context)
      if (!span.isRecording()) return undefined
      return { tracing, span, context: trace.setSpan(ROOT_CONTEXT, span), epoch_ms }
    },
    callerOf(traceparent) {
      const caller = traceparent === undefined ? null : parseTraceParent(traceparent)
      if (caller === null) return root
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

/** Makes the sampler that OTEL_TRACES_SAMPLER names (OpenTelemetry specification). */
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

/** Hides failures from the library, which would log each of them, and reports the lost spans to `onLost`. */
function reportLosses(exporter: SpanExporter, clock: Clock, onLost: Options['onLost']): SpanExporter {
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

/** Returns the HTTP status, the system's error code or the library's message, never the collector's answer. */
function reasonOf(error: Error & { code?: number | string }): string {
  return String(error.code ?? error.message)
}
