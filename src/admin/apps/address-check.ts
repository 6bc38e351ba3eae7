/**
 * Whether the addresses of a payment application lead anywhere: what its review looks at. Names are resolved as a
 * notification would resolve them; nothing is sent there. What was found stays in the audit log.
 */
import { Resolver } from 'node:dns/promises'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { getPaymentApp } from '../../payment/apps/review.ts'
import { EgressError, makeEgressGuard, type NameResolver } from '../../payment/notifications/egress.ts'

const ACTION = 'payment_app.check_addresses'
const DNS = { timeout: 2_000, tries: 1 }

/** `public`: it leads to a machine that anybody may call; `insecure`: likewise, but without https. */
export type AddressVerdict = 'public' | 'insecure' | 'blocked' | 'dns' | 'bad_address'

export type CheckedAddress = { url: string; verdict: AddressVerdict }

/** Resolves every address of an application, with an entry in the audit log. Throws not_found. */
export async function checkAddresses(
  { db, config }: Pick<Core, 'db' | 'config'>,
  payment_id: string,
  actor: { actor_id: bigint; ip: string },
  resolver: NameResolver = new Resolver(DNS),
): Promise<void> {
  const app = await getPaymentApp(db, payment_id)
  const guard = makeEgressGuard(config.NOTIFY_ALLOW_CIDRS ?? [], resolver)
  const urls = [app.callback_url, app.homepage, app.logo_url].filter((url) => url !== null)
  const addresses = await Promise.all(
    urls.map(async (url): Promise<CheckedAddress> => {
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

/** What the last check of each of these applications found, by Payment ID. */
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
