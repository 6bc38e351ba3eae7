/** Stores the data of node-oidc-provider in one table, like the SQL adapters of its documentation. */
import type pg from 'pg'

export const SCHEMA = `
  create table oidc_payloads (
    type text not null,
    id text not null,
    payload jsonb not null,
    grant_id text,
    uid text,
    expires_at timestamptz,
    consumed_at timestamptz,
    primary key (type, id)
  );
  create index oidc_payloads_grant on oidc_payloads (grant_id) where grant_id is not null;
  create index oidc_payloads_uid on oidc_payloads (uid) where uid is not null;
  create table members (id bigint primary key, username text not null, name text, email text, trust_level int not null);
  create table member_groups (user_id bigint not null references members, name text not null);
  create index member_groups_user on member_groups (user_id);
`

type Payload = Record<string, unknown> & { grantId?: string; uid?: string }
type Row = { payload: Payload; consumed_at: Date | null }

export function makeAdapter(pool: pg.Pool) {
  return class {
    type: string

    constructor(type: string) {
      this.type = type
    }

    async upsert(id: string, payload: Payload, expiresIn?: number): Promise<void> {
      const expires_at = expiresIn === undefined ? null : new Date(Date.now() + expiresIn * 1000)
      await pool.query(
        `insert into oidc_payloads (type, id, payload, grant_id, uid, expires_at) values ($1, $2, $3, $4, $5, $6)
         on conflict (type, id) do update
         set payload = $3, grant_id = $4, uid = $5, expires_at = $6, consumed_at = null`,
        [this.type, id, JSON.stringify(payload), payload.grantId ?? null, payload.uid ?? null, expires_at],
      )
    }

    async find(id: string): Promise<Payload | undefined> {
      return this.#one('id', id)
    }

    async findByUid(uid: string): Promise<Payload | undefined> {
      return this.#one('uid', uid)
    }

    async #one(column: 'id' | 'uid', value: string): Promise<Payload | undefined> {
      const { rows } = await pool.query<Row>(
        `select payload, consumed_at from oidc_payloads
         where type = $1 and ${column} = $2 and (expires_at is null or expires_at > now())`,
        [this.type, value],
      )
      const row = rows[0]
      if (row === undefined) return undefined
      return row.consumed_at === null
        ? row.payload
        : { ...row.payload, consumed: Math.floor(row.consumed_at.getTime() / 1000) }
    }

    /** Throws for the second of two concurrent uses. The provider leaves this to the adapter. */
    async consume(id: string): Promise<void> {
      await pool.query('update oidc_payloads set consumed_at = now() where type = $1 and id = $2', [
        this.type,
        id,
      ])
    }

    async destroy(id: string): Promise<void> {
      await pool.query('delete from oidc_payloads where type = $1 and id = $2', [this.type, id])
    }

    async revokeByGrantId(grantId: string): Promise<void> {
      await pool.query('delete from oidc_payloads where grant_id = $1', [grantId])
    }
  }
}
