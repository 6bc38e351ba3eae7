/** The way from the mandate page back to the shop: a signed callback. mandates.md 7.2. */
import type { Core } from '../../core/core.ts'
import { isoSeconds, type MandateCallbackFields, signedCallbackUrl } from '../signing/hmac.ts'
import { openKey } from '../signing/keys.ts'

export type Decision = {
  app_id: bigint
  callback_url: string
  mandate_id: string
  reference: string
  status: MandateCallbackFields['mandate_status']
  decided_at: Date
}

/**
 * Signs a decision for the shop. Of two tokens the previous one signs until a request has used the new one, as for payments:
 * before, the merchant may not have installed the new one.
 */
export async function signedDecisionUrl(
  { db, secrets, clock }: Core,
  { app_id, callback_url, mandate_id, reference, status, decided_at }: Decision,
): Promise<string> {
  const { value_encrypted } = await db
    .selectFrom('payment_app_keys')
    .where('app_id', '=', app_id)
    .where('kind', '=', 'token')
    .where((eb) => eb.or([eb('valid_to', 'is', null), eb('valid_to', '>', clock())]))
    .orderBy((eb) => eb.and([eb('valid_to', 'is', null), eb('last_used_at', 'is', null)]))
    .orderBy('id', 'desc')
    .select('value_encrypted')
    .executeTakeFirstOrThrow()
  const fields = { decided_at: isoSeconds(decided_at), mandate_id, mandate_status: status, reference }
  return signedCallbackUrl(callback_url, fields, openKey(secrets, app_id, 'token', value_encrypted))
}
