/**
 * The next step behind an address of this site. The sign-in page and the error page name the shop or the application there.
 * Each area that receives members from elsewhere describes its own addresses.
 */
import type { FastifyInstance } from 'fastify'

export type NextStep = {
  /** The shop, or the application that asks for a sign-in. */
  app: { name: string; logo_url: string | null }
  /** The order, if it can be paid now. Whoever has its address may read this much. */
  order: { amount: bigint; description: string; expires_at: Date; isTest: boolean } | undefined
  /** The mandate that is asked for, if the reader may accept it. Points are whole. */
  mandate?: {
    kind: 'fixed' | 'up_to'
    charge_max: bigint
    period_max: bigint
    period: 'day' | 'week' | 'month'
    purpose: string
    isTest: boolean
  }
  /** What a payment link sells, if the address is its page. */
  goods?: string
  /** What it costs, if the address says so: whole points. */
  price?: { amount: bigint; isTest: boolean } | undefined
  /** Whether the link takes a tip for it. */
  isTip?: boolean
  /** Whether it is a tip for the author of a forum post. The way back then leads to the forum. */
  isForumTip?: boolean
  /** The least trust level of members who give tips. */
  levelMin?: number | undefined
  isPayment: boolean
  /** Where a reader goes who gives up, if it is known. */
  exit: string | undefined
}

/** Describes the next step at a path with its query, or returns undefined for the paths of other areas. */
type Describe = (path: string) => Promise<NextStep | undefined>

declare module 'fastify' {
  interface FastifyInstance {
    nextSteps: Describe[]
  }
}

/** Adds `nextSteps`, to which areas add their own. */
export function registerNextSteps(app: FastifyInstance): void {
  app.decorate('nextSteps', [])
}

/** Returns what waits at a path of this site. Undefined for an ordinary page. */
export async function nextStepOf(
  { nextSteps }: FastifyInstance,
  path: string,
): Promise<NextStep | undefined> {
  for (const describe of nextSteps) {
    const found = await describe(path)
    if (found !== undefined) return found
  }
  return undefined
}
