// This room: reviews of applications, and what administrators do with both kinds.
// Verbs: reviewPages, appAdminPages, checkAddresses, likeNamed.
// Clauses: spec/registry 4.3; spec/mandates 1.3.
/**
 * Checks the addresses of a payment application for its review. It resolves names as a notification does, and sends
 * nothing. The audit log keeps the result.
 */
import { Resolver } from 'node:dns/promises'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { EgressError, makeEgressGuard, type NameResolver } from '../../egress/guard.ts'
import { getPaymentApp } from '../../payment/apps/review.ts'
import { isUploaded } from '../../shops/app-logos.ts'

const ACTION = 'payment_app.check_addresses'
const DNS = { timeout: 2_000, tries: 1 }

/** `public`: a public address with https. `insecure`: a public address without https. The others are refused addresses. */
export type AddressVerdict = 'public' | 'insecure' | 'blocked' | 'dns' | 'bad_address'

export type CheckedAddress = { url: string; verdict: AddressVerdict }

type Addressed = { callback_url: string; homepage: string | null; logo_url: string | null }

/** The addresses of an application that lead to another server. A seller by links may have none. */
export function addressesOf({ config }: Pick<Core, 'config'>, app: Addressed): string[] {
  const logo_url = isUploaded(app.logo_url) ? null : app.logo_url
  return [app.callback_url, app.homepage, logo_url].filter(
    (url) => url !== null && !url.startsWith(`${config.PUBLIC_URL}/`),
  ) as string[]
}

/** Resolves every address of an application, and writes the result to the audit log. Throws not_found. */
export async function checkAddresses(
  { db, config }: Pick<Core, 'db' | 'config'>,
  payment_id: string,
  actor: { actor_id: bigint; ip: string },
  resolver: NameResolver = new Resolver(DNS),
): Promise<void> {
  const app = await getPaymentApp(db, payment_id)
  const guard = makeEgressGuard(config.NOTIFY_ALLOW_CIDRS ?? [], resolver)
  const addresses = await Promise.all(
    addressesOf({ config }, app).map(async (url): Promise<CheckedAddress> => {
      try {
        await guard(new URL(url))
        return { url, verdict: url.startsWith('https:') ? 'public' : 'insecure' }
      } catch (error) {
        if (!(error instanceof EgressError)) throw error
        return { url, verdict: error.reason }
      }
    }),
  )
  await db
    .transaction()
    .execute((tx) =>
      recordAudit(tx, { ...actor, action: ACTION, subject: payment_id, detail: { addresses } }),
    )
}

/** The result of the last check of each application, by Payment ID. */
export async function lastChecks(
  db: Db,
  payment_ids: string[],
): Promise<Map<string, { addresses: CheckedAddress[]; checked_at: Date }>> {
  if (payment_ids.length === 0) return new Map()
  const entries = await db
    .selectFrom('audit_log')
    .where('subject', 'in', payment_ids)
    .where('action', '=', ACTION)
    .distinctOn('subject')
    .orderBy('subject')
    .orderBy('id', 'desc')
    .select(['subject', 'detail', 'created_at'])
    .execute()
  return new Map(
    entries.map(({ subject, detail, created_at }) => [
      subject,
      { addresses: detail.addresses as CheckedAddress[], checked_at: created_at },
    ]),
  )
}
