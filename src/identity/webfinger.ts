/** GET /.well-known/webfinger (RFC 7033; OIDC Discovery 1.0, section 2): the issuer of an account of this site. */
import type { FastifyInstance } from 'fastify'
import type { Config } from '../platform/config.ts'
import { AppError } from '../platform/errors.ts'
import { singleValue } from '../web/oauth/parameters.ts'
import type { Parameters } from '../web/parameters.ts'
import { answerPreflights } from './oauth/cross-origin.ts'

const PATH = '/.well-known/webfinger'
const ISSUER_REL = 'http://openid.net/specs/connect/1.0/issuer'

/** Answers alike for every name at our host, without a look at the members, so it does not tell who exists. */
export function webFingerRoute(app: FastifyInstance, { config }: { config: Config }): void {
  answerPreflights(app, [PATH], 'GET')
  app.get(PATH, async (request, reply) => {
    reply.header('access-control-allow-origin', '*')
    const sent = request.query as Parameters
    const subject = singleValue(sent, 'resource')
    if (subject === undefined) throw new AppError('invalid_request', 'resource is missing')
    if (!isOurs(subject, config.PUBLIC_URL))
      throw new AppError('invalid_request', 'This resource is not of this site', { data: { status: 404 } })
    const rels = [sent.rel ?? ISSUER_REL].flat()
    const links = rels.includes(ISSUER_REL) ? [{ rel: ISSUER_REL, href: config.PUBLIC_URL }] : []
    return reply.type('application/jrd+json').send(JSON.stringify({ subject, links }))
  })
}

/** Whether a resource is the issuer, or a name at the host of the issuer. */
function isOurs(resource: string, issuer: string): boolean {
  if (resource === issuer || resource === `${issuer}/`) return true
  const [, host] = /^acct:[^@]+@([^@]+)$/i.exec(resource) ?? []
  return host?.toLowerCase() === new URL(issuer).host
}
