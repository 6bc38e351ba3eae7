/**
 * What waits behind an address of this site: the sign-in page and the error page name the shop or the application there.
 * Each area that receives members from elsewhere describes its own addresses.
 */
import type { FastifyInstance } from 'fastify'

export type Destination = {
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
  isPayment: boolean
  /** Where a reader goes who gives up, if it is known. */
  exit: string | undefined
}

/** Describes the destination at a path with its query, or returns undefined for the paths of other areas. */
type Describe = (path: string) => Promise<Destination | undefined>

declare module 'fastify' {
  interface FastifyInstance {
    destinations: Describe[]
  }
}

/** Adds `destinations`, to which areas add their own. */
export function registerDestinations(app: FastifyInstance): void {
  app.decorate('destinations', [])
}

/** Returns what waits at a path of this site. Undefined for an ordinary page. */
export async function destinationOf(
  { destinations }: FastifyInstance,
  path: string,
): Promise<Destination | undefined> {
  for (const describe of destinations) {
    const found = await describe(path)
    if (found !== undefined) return found
  }
  return undefined
}
