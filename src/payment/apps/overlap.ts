/** Reads how long the former key of a form stays valid. */
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { readForm } from '../../web/forms.ts'
import { OVERLAP_HOURS_MAX } from './key-changes.ts'

const OverlapForm = z.object({
  overlap_hours: z
    .string()
    .trim()
    .regex(/^\d{1,4}$/)
    .transform(Number)
    .refine((hours) => hours <= OVERLAP_HOURS_MAX),
})

/** Returns the overlap in hours. Throws FormRefused. */
export function overlapIn(request: FastifyRequest): number {
  const words = { overlap_hours: request.locale.t.developers.overlapWrong(OVERLAP_HOURS_MAX) }
  return readForm(request, OverlapForm, words).overlap_hours
}
