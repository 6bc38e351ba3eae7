/** Mandates that members allow while signing in to an OAuth application: spec/mandates 2.4. */
import { sql } from 'kysely'
import { sessionOf } from '../../accounts/session/session.ts'
import type { MandateConsents } from '../../accounts/sign-in/mandate-consent.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { joinSentences } from '../../web/spacing.ts'
import { MandateId } from '../wire-fields/fields.ts'
import { acceptWithin, declineWithin } from './consent.ts'
import { findMandate, type Mandate } from './mandates.ts'
import { acceptanceOf, offerShown, readTerms, refuseField } from './offer-form.ts'
import { endMandates } from './record.ts'
import { findShop } from './shop.ts'

/** Opens the mandates of sign-ins for the identity area. */
export function openMandateConsents(deps: Core): MandateConsents {
  const { db, clock, settings } = deps
  const read = async (mandate_id: string) => (await findMandate(db, { mandate_id }, clock()))!

  return {
    async find(mandate_id, { client_id, user_id }) {
      if (!MandateId.safeParse(mandate_id).success) return undefined
      const mandate = await findMandate(db, { mandate_id }, clock())
      if (mandate === undefined || mandate.status === 'ended') return undefined
      if (!isFor(mandate, user_id) || (await linkedApp(db, mandate_id, client_id)) === undefined)
        return undefined
      return { id: mandate.id, mandate_id, isPending: mandate.status === 'pending' }
    },

    async show(request, mandate_id, path) {
      const mandate = await read(mandate_id)
      const shown = await offerShown(request, deps, mandate, path)
      if (!('fault' in shown)) return shown
      const { fault } = shown
      if (fault === 'terms' || fault === 'out_of_date' || fault === 'not_fresh') throw outOfDate()
      const { states, limit, noneAtLevel, canSignIn } = request.locale.t.mandateOffer
      const shop = await findShop(db, mandate.app_id)
      if (fault === 'charge_max' && shown.limit === 0n) {
        const title = noneAtLevel(sessionOf(request).user.trust_level)
        return { shop, reason: { title, text: canSignIn, isWhole: true } }
      }
      const { title, text } = states[fault]
      const possible = 'limit' in shown ? [limit(request.locale.points(shown.limit))] : []
      return { shop, reason: { title, text: joinSentences([text, ...possible]), isWhole: false } }
    },

    async accepting(request, mandate_id, client_id) {
      const mandate = await read(mandate_id)
      const chosen = await readTerms(request, deps, mandate)
      const acceptance = await acceptanceOf(request, deps, chosen)
      const { user_id } = acceptance
      const [at, now] = [await settings.read(), clock()]
      return async (tx) => {
        await tx.selectFrom('users').where('id', '=', user_id).select('id').forNoKeyUpdate().execute()
        // The deletion of the OAuth application locks it before the mandates that were accepted with it.
        await tx.selectFrom('oauth_apps').where('client_id', '=', client_id).select('id').forShare().execute()
        const oauth_app_id = await linkedApp(tx, mandate_id, client_id)
        if (oauth_app_id === undefined) throw outOfDate()
        const accepted = { ...acceptance, oauth_app_id }
        const fault = await acceptWithin(tx, deps, { settings: at, now }, mandate_id, accepted)
        // A hand-over of the payment application has come before its lock.
        if ((await linkedApp(tx, mandate_id, client_id)) === undefined) throw outOfDate()
        if (fault === undefined || fault.fault === 'accepted') return true
        if (fault.fault === 'not_fresh') return false
        await refuseField(request, deps, mandate, { chosen, fault })
        throw outOfDate()
      }
    },

    async decline(tx, mandate_id, member) {
      await declineWithin(tx, mandate_id, member)
    },

    async count(user_id, client_id) {
      return (await acceptedWith(db, user_id, client_id, clock())).length
    },

    async end(tx, client_id, { user_id, ip, now }) {
      // Before the mandates, as an acceptance that replaces one of them does.
      await tx.selectFrom('users').where('id', '=', user_id).select('id').forNoKeyUpdate().execute()
      const ids = await acceptedWith(tx, user_id, client_id, now)
      if (ids.length === 0) return 0
      const detail = { by: 'member', from: 'applications' }
      return (await endMandates(tx, ids, { reason: 'member', now, actor_id: user_id, ip, detail })).length
    },
  }
}

/** Whether the member has accepted the mandate, or may accept the offer. */
function isFor({ status, user_id: accepted_by, only_user_id }: Mandate, user_id: bigint): boolean {
  const whose = status === 'pending' ? (only_user_id ?? user_id) : accepted_by
  return whose === user_id
}

/** Finds the OAuth application that the payment application of a mandate names. Both must have the same owner. */
async function linkedApp(db: Db, mandate_id: string, client_id: string): Promise<bigint | undefined> {
  const linked = await db
    .selectFrom('mandates as m')
    .innerJoin('payment_apps as app', 'app.id', 'm.app_id')
    .innerJoin('oauth_apps as linked', (join) =>
      join
        .onRef('linked.client_id', '=', 'app.oauth_client_id')
        .onRef('linked.owner_id', '=', 'app.applicant_id'),
    )
    .where('m.mandate_id', '=', mandate_id)
    .where('linked.client_id', '=', client_id)
    .select('linked.id')
    .executeTakeFirst()
  return linked?.id
}

/** The mandates in force that a member has accepted while signing in to an application. */
async function acceptedWith(db: Db, user_id: bigint, client_id: string, now: Date): Promise<bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select m.id from mandates as m
    join payment_apps as app on app.id = m.app_id
    where m.oauth_app_id = (select id from oauth_apps where client_id = ${client_id}) and m.user_id = ${user_id}
      and m.status in ('active', 'paused')
      and (mandate_status(m, app.applicant_id, ${now}::timestamptz))[1] <> 'ended'`.execute(db)
  return rows.map(({ id }) => id)
}

const outOfDate = () => new AppError('conflict', 'This mandate cannot be accepted any more')
