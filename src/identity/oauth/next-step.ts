/** Describes the application behind an authorization request, for the sign-in page before it. */
import { AppError } from '../../platform/errors.ts'
import type { NextStep } from '../../web/next-steps.ts'
import { parseParameters } from '../../web/parameters.ts'
import { type FindingDeps, findTarget } from './authorization-request.ts'

/** Makes the description of these paths. A faulty request and a suspended application get none. */
export function makeDescribeRequest(deps: FindingDeps, paths: readonly string[]) {
  return async (path: string): Promise<NextStep | undefined> => {
    const [pathname = '', query = ''] = path.split('?')
    if (!paths.includes(pathname)) return undefined
    try {
      const target = await findTarget(deps, parseParameters(query), undefined)
      if (target === undefined || target.app.suspended_at !== null) return undefined
      const { app } = target
      const { name, logo_url, homepage } = app
      return { app: { name, logo_url }, order: undefined, isPayment: false, exit: homepage ?? undefined }
    } catch (error) {
      if (error instanceof AppError) return undefined
      throw error
    }
  }
}
