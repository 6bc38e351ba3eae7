/** The doctor's checks of the configured servers: the forum and its groups, the mail server, the collector of traces. */

import { SYSTEM_PATH } from '../../accounts/forum/api.ts'
import { apiHeaders } from '../../accounts/forum/requests.ts'
import { lacksClaims } from '../../accounts/forum-sync/state.ts'
import { collisions } from '../../accounts/local-groups.ts'
import { makeTransport } from '../../accounts/people/email.ts'
import { openSettings } from '../../core/settings.ts'
import { authorityCure } from '../../platform/authority.ts'
import type { Config } from '../../platform/config.ts'
import { tracesUrl } from '../../platform/trace-export.ts'
import { ask, cannotReach, type Finding, fault, GOOD, type Installation, off } from './finding.ts'

/** Checks that the forum answers, and that its API key may read members. */
export async function examineForum({ config }: Installation): Promise<Finding> {
  const { DISCOURSE_URL, DISCOURSE_API_KEY } = config
  if (DISCOURSE_URL === undefined) return off('DISCOURSE_URL is not set')
  const answer = await ask(`${DISCOURSE_URL}/srv/status`)
  if (answer instanceof Error) return cannotReach(DISCOURSE_URL, answer)
  if (!answer.ok) return fault(`${DISCOURSE_URL}/srv/status answers ${answer.status}`)
  return DISCOURSE_API_KEY === undefined
    ? { state: 'good', note: 'it answers; DISCOURSE_API_KEY is not set, so trust levels are not read' }
    : examineForumKey(config)
}

/** Sends the request that every key must be allowed to send, as the service does for members. */
async function examineForumKey(config: Config): Promise<Finding> {
  const { DISCOURSE_URL, DISCOURSE_API_USERNAME } = config
  const answer = await ask(`${DISCOURSE_URL}${SYSTEM_PATH}`, { headers: apiHeaders(config) })
  if (answer instanceof Error) return cannotReach("The forum's API", answer)
  const { status } = answer
  if (status === 401 || status === 403)
    return fault(
      `The forum refuses DISCOURSE_API_KEY (${status}): copy it again, or make one for the user ${DISCOURSE_API_USERNAME} with the scope read-only`,
    )
  // Discourse answers 404 to a key without the right to see a member.
  if (status === 404)
    return fault(
      `DISCOURSE_API_KEY may not read members (404): make it for the user system, and set DISCOURSE_API_USERNAME, now ${DISCOURSE_API_USERNAME}, to an administrator of the forum`,
    )
  if (status === 429)
    return {
      state: 'unknown',
      note: 'the forum refuses more requests now (429), so DISCOURSE_API_KEY was not tried',
    }
  if (!answer.ok) return fault(`The forum's API answers ${status} at ${DISCOURSE_URL}${SYSTEM_PATH}`)
  return { state: 'good', note: 'it answers, and DISCOURSE_API_KEY may read members' }
}

/** Checks that the forum states groups, and that none is left out because a local group has its name. */
export async function examineForumGroups({ config, db }: Installation): Promise<Finding> {
  if (config.DISCOURSE_URL === undefined) return off('DISCOURSE_URL is not set')
  if (config.DISCOURSE_API_KEY === undefined && (await lacksClaims(db)))
    return fault(
      'The last 20 responses of the forum at sign-in stated neither roles nor groups: add admin, moderator and groups to its setting discourse_connect_provider_claims, or set DISCOURSE_API_KEY',
    )
  const found = await collisions({ db, settings: openSettings(db) })
  if (found.length === 0) return GOOD
  const names = found.map(({ id, name }) => `${name} (${id})`).join(', ')
  return fault(
    `Groups of the forum are not imported, because local groups have their names: ${names}. Rename each at the forum, give it another name by the setting forum_group_aliases, or delete the local group`,
  )
}

/** Checks that the mail server accepts SMTP_URL with its password, and has a valid certificate. */
export async function examineMail({ config }: Installation): Promise<Finding> {
  if (config.SMTP_URL === undefined) return off('SMTP_URL is not set')
  const transport = await makeTransport(config)
  try {
    await transport.verify()
    return GOOD
  } catch (error) {
    const cure = authorityCure(error as Error)
    const why = `The mail server of SMTP_URL refuses us: ${(error as Error).message}`
    return fault(cure === undefined ? why : `${why}: ${cure}`)
  } finally {
    transport.close()
  }
}

/** Sends the collector a message without spans, which it must accept like one with spans. */
export async function examineCollector({ config }: Installation): Promise<Finding> {
  const url = tracesUrl(config)
  if (url === undefined) return off('OTEL_EXPORTER_OTLP_ENDPOINT is not set')
  const headers = { ...config.OTEL_EXPORTER_OTLP_HEADERS, 'content-type': 'application/json' }
  const answer = await ask(url, { method: 'POST', headers, body: '{"resourceSpans":[]}' })
  if (answer instanceof Error) return cannotReach(`The collector at ${url}`, answer)
  if (answer.ok) return GOOD
  return fault(`The collector at ${url} answers ${answer.status}: it must take OTLP over HTTP with JSON`)
}
