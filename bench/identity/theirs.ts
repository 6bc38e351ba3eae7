/** Configures node-oidc-provider like our service: the same lifetimes, claims, rotation and client authentication. */
import Provider, { type Claims } from 'oidc-provider'
import pg from 'pg'
import { makeAdapter } from './theirs-adapter.ts'

const POOL_MAX = 10
const PROFILE = ['username', 'preferred_username', 'name', 'groups', 'trust_level', 'email']

export type TheirOptions = { issuer: string; databaseUrl: string; jwks: { keys: object[] } }

export function makeProvider({ issuer, databaseUrl, jwks }: TheirOptions): {
  provider: Provider
  pool: pg.Pool
} {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: POOL_MAX })
  const provider = new Provider(issuer, {
    adapter: makeAdapter(pool),
    jwks,
    cookies: { keys: ['nothing that the bench relies on'] },
    scopes: ['openid', 'profile'],
    claims: { openid: ['sub'], profile: PROFILE },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => false },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    ttl: {
      AccessToken: 3_600,
      AuthorizationCode: 60,
      IdToken: 3_600,
      RefreshToken: 14 * 86_400,
      Grant: 30 * 86_400,
      Session: 14 * 86_400,
    },
    findAccount: async (_context: unknown, id: string) => {
      const claims = await findClaims(pool, id)
      return claims === undefined ? undefined : { accountId: id, claims: async () => claims }
    },
    interactions: { url: () => '/none' },
  })
  return { provider, pool }
}

/** Reads the claims with one statement, as our service does. */
async function findClaims(pool: pg.Pool, id: string): Promise<Claims | undefined> {
  const { rows } = await pool.query(
    `select username, name, email, trust_level,
       (select coalesce(array_agg(g.name order by lower(g.name)), '{}') from member_groups g where g.user_id = members.id)
         as groups
     from members where id = $1`,
    [id],
  )
  const row = rows[0]
  return row === undefined ? undefined : { sub: id, preferred_username: row.username, ...row }
}
