/**
 * Clients that are known by their documents. Until a member allows one, its document is only in the memory of a process. The
 * first Allow stores it, and later ones replace what has changed. Only authorization requests read documents.
 */
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'
import type { RequestOptions } from '../../egress/request.ts'
import { overloaded } from '../../platform/errors.ts'
import { hostOf } from './client-id.ts'
import type { ClientDocument } from './document.ts'
import { type Fetched, makeFetchDocument } from './fetch.ts'

/** Documents that a process fetches at once. */
const UNDER_WAY_MAX = 4
/** Documents in the memory of a process. One takes a few KiB. */
const KEPT_MAX = 200

export type MetadataClients = {
  /**
   * Returns the newest fresh document of a client, the stored one or one in memory. Otherwise it fetches the document, if a
   * member is signed in. Throws invalid_client for a document that cannot be used, too_many_attempts, and
   * overloaded.
   */
  read(
    client_id: string,
    stored: Fetched | undefined,
    user_id: bigint | undefined,
  ): Promise<Fetched | undefined>
}

/** Opens the documents of a process. */
export function openMetadataClients(
  { db, limits, clock, ...deps }: Pick<Core, 'db' | 'limits' | 'clock' | 'config' | 'tracing'>,
  options: RequestOptions = {},
): MetadataClients {
  const fetchDocument = makeFetchDocument({ ...deps, clock }, options)
  const kept = new Map<string, Fetched>()
  const underWay = new Map<string, Promise<Fetched>>()

  const begin = (client_id: string): Promise<Fetched> => {
    if (underWay.size >= UNDER_WAY_MAX) throw overloaded()
    const fetching = fetchDocument(client_id)
      .then(async (fetched) => {
        keep(kept, client_id, fetched)
        await renewStored(db, client_id, fetched)
        return fetched
      })
      .finally(() => underWay.delete(client_id))
    underWay.set(client_id, fetching)
    return fetching
  }
  return {
    async read(client_id, stored, user_id) {
      const fresh = newest([stored, kept.get(client_id)], clock())
      if (fresh !== undefined || user_id === undefined) return fresh
      const others = underWay.get(client_id)
      if (others !== undefined) return others
      if (underWay.size >= UNDER_WAY_MAX) throw overloaded()
      await limits.hit('metadata_fetches', user_id.toString())
      await limits.hit('metadata_host', hostOf(client_id))
      // Another request may have begun meanwhile.
      return underWay.get(client_id) ?? begin(client_id)
    },
  }
}

function newest(all: (Fetched | undefined)[], now: Date): Fetched | undefined {
  const fresh = all.filter((each) => each !== undefined).filter(({ fresh_until }) => fresh_until > now)
  return fresh.toSorted((a, b) => b.fetched_at.getTime() - a.fetched_at.getTime())[0]
}

/** Keeps a document, and forgets the one that was kept first when there are too many. */
function keep(kept: Map<string, Fetched>, client_id: string, fetched: Fetched): void {
  kept.delete(client_id)
  kept.set(client_id, fetched)
  const [first] = kept.keys()
  if (kept.size > KEPT_MAX) kept.delete(first!)
}

/** Lets all processes use a stored document for longer, if it is the same still. A changed one waits for a member who allows it. */
async function renewStored(
  db: Db,
  client_id: string,
  { document, fetched_at, fresh_until }: Fetched,
): Promise<void> {
  await db
    .updateTable('oauth_apps')
    .set({ fetched_at, fresh_until })
    .where('document_url', '=', client_id)
    .where('document', '=', sql<ClientDocument>`${JSON.stringify(document)}::jsonb`)
    .where('fetched_at', '<', fetched_at)
    .execute()
}

type Meeting = Fetched & { client_id: string; user_id: bigint; ip: string; now: Date }

/**
 * Stores the client that a member allows, in the transaction of the consent, and returns its id. The first time and a change are
 * recorded. A newer document that another member has allowed meanwhile stays.
 */
export async function storeMetadataClient(tx: Tx, meeting: Meeting): Promise<bigint> {
  const { client_id, document, fetched_at, fresh_until, user_id, ip, now } = meeting
  const values = { ...columnsOf(document), fetched_at, fresh_until }
  const made = await tx
    .insertInto('oauth_apps')
    .values({
      ...values,
      client_id,
      document_url: client_id,
      name: hostOf(client_id),
      token_endpoint_auth_method: 'none',
      allow_groups: [],
      deny_groups: [],
      confirmed_at: now,
      created_at: now,
    })
    .onConflict((conflict) => conflict.column('client_id').doNothing())
    .returning('id')
    .executeTakeFirst()
  const record = (act: 'met' | 'changed', detail: Record<string, unknown>) =>
    recordAudit(tx, { actor_id: user_id, action: `oauth_client.${act}`, subject: client_id, detail, ip })
  if (made !== undefined) {
    await record('met', document)
    return made.id
  }
  const known = await tx
    .selectFrom('oauth_apps')
    .where('client_id', '=', client_id)
    .select(['id', 'document', 'fetched_at'])
    .forNoKeyUpdate()
    .executeTakeFirst()
  // Deleted in between, because nobody had used it.
  if (known === undefined) return storeMetadataClient(tx, meeting)
  const { id } = known
  if (known.fetched_at! >= fetched_at) return id
  await tx.updateTable('oauth_apps').set(values).where('id', '=', id).execute()
  if (!isDeepStrictEqual(known.document, document)) {
    await record('changed', { before: known.document, after: document })
  }
  return id
}

function columnsOf(document: ClientDocument) {
  const { redirect_uris, homepage } = document
  return { document: JSON.stringify(document), redirect_uris, homepage }
}
