/** How far a notification came before it failed: the steps of a request, and the one that did not work. Pure. */

import type { AttemptOutcome } from '../../database/tables/notifications.ts'
import type { StepTimes } from '../../egress/request.ts'

const STEPS = ['dns', 'connect', 'tls', 'answer', 'confirm'] as const
export type Step = (typeof STEPS)[number]

/** `ms`: how long a step took that worked, if it was measured. */
export type Hop = { step: Step; state: 'good' | 'bad' | 'idle'; ms?: number }

/** The step at which each outcome fails. Outcomes that are not the shop's have none. */
const FAILS_AT: Partial<Record<AttemptOutcome, Step>> = {
  bad_address: 'dns',
  dns: 'dns',
  blocked: 'dns',
  refused: 'connect',
  unreachable: 'connect',
  tls: 'tls',
  cut: 'answer',
  malformed: 'answer',
  bad_status: 'answer',
  redirect: 'answer',
  wrong_body: 'confirm',
  too_large: 'confirm',
}

/** Returns the steps of a failed attempt, or none if it did not fail at the shop. */
export function hopsOf({
  outcome,
  detail,
  is_tls,
  step_ms,
}: {
  outcome: AttemptOutcome
  detail: string | null
  is_tls: boolean
  step_ms: StepTimes | null
}): Hop[] {
  const failed = outcome === 'timeout' ? stepOfPhase(detail) : FAILS_AT[outcome]
  if (failed === undefined) return []
  const steps = STEPS.filter((step) => step !== 'tls' || is_tls || failed === 'tls')
  const at = steps.indexOf(failed)
  return steps.map((step, i) => {
    if (i >= at) return { step, state: i === at ? 'bad' : 'idle' }
    const ms = step === 'confirm' ? undefined : step_ms?.[step]
    return ms === undefined ? { step, state: 'good' } : { step, state: 'good', ms }
  })
}

/** The phases of a timeout are steps, except that a body that does not end is the program's fault. */
function stepOfPhase(phase: string | null): Step {
  return STEPS.find((step) => step === phase) ?? 'answer'
}
