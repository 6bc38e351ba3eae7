/** Members: their data, their groups, and whether they are suspended or banned. */
import { type Selectable, sql } from 'kysely'
import type { Db, Tx } from '../../database/connection.ts'
import { violatedConstraint } from '../../database/connection.ts'
import type { UsersTable } from '../../database/tables/accounts.ts'
import { AppError } from '../../platform/errors.ts'
import type { Language } from '../../web/languages.ts'

/** A member, as the rest of the program sees it. */
export type User = {
  id: bigint
  username: string
  name: string | null
  email: string | null
  email_verified: boolean
  avatar_url: string | null
  trust_level: number
  is_admin: boolean
  is_moderator: boolean
  suspended_till: Date | null
  is_banned: boolean
  custom_groups: string[]
}

/** The columns of `User`, for any query that has the users table in its from clause. */
export const userColumns = [
  'users.id',
  'users.username',
  'users.name',
  'users.email',
  'users.email_verified',
  'users.avatar_url',
  'users.trust_level',
  'users.is_admin',
  'users.is_moderator',
  'users.suspended_till',
  'users.is_banned',
  sql<string[]>`custom_groups(users.id)`.as('custom_groups'),
] as const

/** Returns the table `users` for `userColumns` from the column `member` of a function's answer, without another read. */
export function memberOf(answer: string) {
  return sql<Selectable<UsersTable>>`(select (${sql.ref(answer)}.member).*)`
}

const TRUST_LEVELS = ['trust_level_0', 'trust_level_1', 'trust_level_2', 'trust_level_3', 'trust_level_4']

/**
 * Returns the groups of a member for userinfo and group rules: trust levels cumulatively, then admins, moderators, and
 * custom groups by name (spec/accounts 1.2).
 */
export function groupsOf(
  user: Pick<User, 'trust_level' | 'is_admin' | 'is_moderator' | 'custom_groups'>,
): string[] {
  const groups = TRUST_LEVELS.slice(0, user.trust_level + 1)
  if (user.is_admin) groups.push('admins')
  if (user.is_moderator) groups.push('moderators')
  return [...groups, ...user.custom_groups]
}

/** Returns the groups of a member without the trust levels. */
export function namedGroupsOf(user: Parameters<typeof groupsOf>[0]): string[] {
  return groupsOf(user).filter((group) => !/^trust_level_\d$/.test(group))
}

/** Whether a member is banned or suspended. Then sign-ins, sessions and tokens fail. In SQL: is_banned_or_suspended. */
export function isBannedOrSuspended(user: Pick<User, 'is_banned' | 'suspended_till'>, now: Date): boolean {
  return user.is_banned || (user.suspended_till !== null && user.suspended_till > now)
}

/**
 * Whether a local account may have this name: 3 to 30 ASCII characters, stricter than the database's rule. Such names do not
 * look alike, and differ from the names `name~id` of the forum's members.
 */
export function isUsername(text: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9_.-]{1,28}[A-Za-z0-9_]$/.test(text)
}

/** Finds the member with this username, in any case. It never finds anonymised accounts. */
export async function findUserByUsername(db: Db, username: string): Promise<User | undefined> {
  return db
    .selectFrom('users')
    .where(sql`lower(users.username)`, '=', sql<string>`lower(${username})`)
    .where('users.anonymised_at', 'is', null)
    .select(userColumns)
    .executeTakeFirst()
}

/** Finds the ids of these usernames in one statement, in their order, by the rule of `findUserByUsername`. */
export async function findUserIds(db: Db, usernames: string[]): Promise<(bigint | undefined)[]> {
  const { rows } = await sql<{ id: bigint | null }>`
    select users.id
    from unnest(${usernames}::text[]) with ordinality as asked (username, place)
    left join users on lower(users.username) = lower(asked.username) and users.anonymised_at is null
    order by asked.place`.execute(db)
  return rows.map(({ id }) => id ?? undefined)
}

/**
 * Locks a member's row until the transaction ends, for an act on the member or a count of the member's rows. Throws
 * not_found.
 */
export async function lockUser(tx: Tx, user_id: bigint) {
  const user = await tx
    .selectFrom('users')
    .where('id', '=', user_id)
    .select(['trust_level', 'is_banned', 'suspended_till', 'anonymised_at'])
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (user === undefined) throw new AppError('not_found', 'There is no such member')
  return user
}

/** Stores the language of a sign-in as the language of mails, unless the member has chosen one. */
export async function noticeLanguage(db: Db, user_id: bigint, language: Language): Promise<void> {
  await db
    .updateTable('users')
    .set({ language })
    .where('id', '=', user_id)
    .where('language_chosen', '=', false)
    .where('language', 'is distinct from', language)
    .execute()
}

/** Stores the member's choice of language for all pages and mails, in every browser. */
export async function chooseLanguage(db: Db, user_id: bigint, language: Language): Promise<void> {
  await db.updateTable('users').set({ language, language_chosen: true }).where('id', '=', user_id).execute()
}

/** A member has the name; an anonymised member had it, or it is reserved for such members. */
const NAME_TAKEN = ['users_username_key', 'users_neutral_name']

/** Throws conflict when the database refused a change of an anonymised account, and rethrows other errors. */
export function explainAnonymised(error: unknown): never {
  if (violatedConstraint(error) !== 'users_anonymised_for_good') throw error
  throw new AppError('conflict', 'This account was anonymised', { cause: error })
}

export type NewUser = {
  username: string
  password_hash: string
  must_change_password?: boolean
  name?: string
  email?: string
  trust_level?: number
  is_admin?: boolean
  /** The account of a program, which lists of members leave out. */
  is_service?: boolean
  /** When the member joined. Now, unless a history is made up. */
  created_at?: Date
}

/**
 * Creates a local account and returns its id. Throws conflict when the username is taken in any case.
 * @param record writes the audit entry in the same transaction.
 */
export async function createUser(
  db: Db,
  values: NewUser,
  record: (tx: Tx, id: bigint) => Promise<void> = async () => {},
): Promise<bigint> {
  try {
    return await db.transaction().execute(async (tx) => {
      const { id } = await tx.insertInto('users').values(values).returning('id').executeTakeFirstOrThrow()
      await record(tx, id)
      return id
    })
  } catch (error) {
    if (NAME_TAKEN.includes(violatedConstraint(error) ?? ''))
      throw new AppError('conflict', 'This username is taken')
    throw error
  }
}

/** The longest e-mail address (RFC 5321 4.5.3.1.3, without the brackets of a path). */
export const EMAIL_LENGTH_MAX = 254

/**
 * Returns the columns that a sign-in with this username or confirmed e-mail address needs, also for an anonymised account. One
 * statement looks for both, so its time tells nothing. A username goes first. An address of several local accounts finds none of
 * them, because one sign-in checks one password.
 */
export async function findToSignIn(db: Db, name: string) {
  const typed = sql<string>`lower(${name})`
  const rows = await db
    .selectFrom('users')
    .where((eb) =>
      eb.or([
        eb(sql`lower(username)`, '=', typed),
        eb.and([
          eb(sql`lower(email)`, '=', typed),
          eb('email', 'is not', null),
          eb('email_verified', '=', true),
          eb('password_hash', 'is not', null),
        ]),
      ]),
    )
    .select(['id', 'username', 'password_hash', 'is_banned', 'suspended_till'])
    .select(sql<boolean>`lower(username) = ${typed}`.as('is_named'))
    .orderBy('is_named', 'desc')
    .limit(2)
    .execute()
  const [first, second] = rows
  return first?.is_named || second === undefined ? first : undefined
}
