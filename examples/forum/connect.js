// @ts-check
/** The forum's side of DiscourseConnect: other sites send members here, and the forum identifies them. */
import { createHmac } from 'node:crypto'

/** @import { Community, Member } from './community.js' */

/** A request that the forum refuses, with the `status` that Discourse sends. */
export class ConnectError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

/**
 * Reads a request for the identity of a member. Throws ConnectError.
 * @param {URLSearchParams} query
 * @param {string[]} secretLines each is `domain|secret`, as in the forum's setting; the domain may contain wildcards
 */
export function readRequest(query, secretLines) {
  const sso = query.get('sso') ?? ''
  if (!/^[A-Za-z0-9+/=\r\n]+$/.test(sso)) throw new ConnectError(422, 'The payload is not Base64')
  const payload = new URLSearchParams(Buffer.from(sso, 'base64').toString())
  const returnUrl = payload.get('return_sso_url') ?? ''
  if (!URL.canParse(returnUrl)) throw new ConnectError(400, 'return_sso_url is blank')
  const { hostname } = new URL(returnUrl)
  const secrets = secretLines.map((line) => line.split('|')).filter(([domain]) => matches(domain, hostname))
  if (secrets.length === 0) throw new ConnectError(400, `No secret is set for ${hostname}`)
  const found = secrets.find(([, secret]) => sign(sso, secret ?? '') === query.get('sig'))
  if (found === undefined) throw new ConnectError(422, 'The login is not valid')
  return {
    nonce: payload.get('nonce') ?? '',
    returnUrl,
    isLogout: payload.get('logout') === 'true',
    isSilent: payload.get('prompt') === 'none',
    secret: found[1] ?? '',
  }
}

/** @typedef {ReturnType<typeof readRequest>} ConnectRequest */

/**
 * The address that sends the identity of the member to the other site.
 * @param {ConnectRequest} request
 * @param {Member} member
 * @param {Community} community
 */
export function answerUrl({ nonce, returnUrl, secret }, member, community) {
  const groups = community.groupsOf(member)
  const fields = {
    nonce,
    return_sso_url: returnUrl,
    ...(member.name === undefined ? {} : { name: member.name }),
    username: member.username,
    email: member.email,
    external_id: String(member.id),
    admin: String(member.admin ?? false),
    moderator: String(member.moderator ?? false),
    groups: groups.map((group) => group.name).join(','),
    ...(member.avatar_url === undefined ? {} : { avatar_url: member.avatar_url }),
  }
  return signedUrl(returnUrl, fields, secret)
}

/**
 * @param {string} returnUrl
 * @param {Record<string, string>} fields
 * @param {string} secret
 */
export function signedUrl(returnUrl, fields, secret) {
  const sso = Buffer.from(new URLSearchParams(fields).toString()).toString('base64')
  const join = returnUrl.includes('?') ? '&' : '?'
  return `${returnUrl}${join}sso=${encodeURIComponent(sso)}&sig=${sign(sso, secret)}`
}

/**
 * @param {string} sso
 * @param {string} secret
 */
function sign(sso, secret) {
  return createHmac('sha256', secret).update(sso).digest('hex')
}

/**
 * @param {string | undefined} pattern
 * @param {string} hostname
 */
function matches(pattern = '', hostname) {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 'i').test(hostname)
}
