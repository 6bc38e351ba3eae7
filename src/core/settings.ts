/**
 * Site settings, which administrators change while the service runs. Each has a name, a default and a schema. Values are
 * text in Postgres, validated when written and when read.
 */
import { sql } from 'kysely'
import type { Db, Tx } from '../database/connection.ts'
import { AppError } from '../platform/errors.ts'
import { recordAudit } from './audit.ts'
import type { SettingControl } from './setting-kinds.ts'
import {
  crossedBounds,
  SETTING_NAMES,
  type SettingName,
  type SettingValues,
  schema,
  settingOf,
  standardOf,
  widensBounds,
} from './setting-values.ts'

/** How long a process may act on a value that another process has changed. */
const FRESH_MS = 2_000

const HISTORY_MAX = 200

/**
 * The lock of settings: exclusive for a change, shared for an act that depends on them to its end. Each takes it before any
 * row. functions/guards/transfer-bounds.sql takes it too.
 */
const SETTINGS_LOCK = 7305128844

export type SettingChange = {
  name: SettingName
  value: string
  /** Null for the operator at the command line, who needs no approval. */
  actor_id: bigint | null
  ip: string | null
  now: Date
}

export type Settings = {
  /** Returns the values in force, at most 2 s old. */
  read(): Promise<SettingValues>
  /** Returns the values of the last read without waiting; the defaults before the first read. */
  latest(): SettingValues
  /**
   * Sets a setting, and records it in the history and in the audit log. It takes effect here at once, and in other
   * processes within 2 s. Returns false when the change needs the approval of a second administrator. Throws invalid_form
   * with a message that says which values are valid, also when a smallest transfer would exceed the largest.
   */
  change(change: SettingChange): Promise<boolean>
  /**
   * Sets several settings in one transaction, or none. Calls `propose` within it for each change that needs the approval of
   * a second administrator. Throws as `change` does, and counts the changes that wait for their approval.
   */
  changeAll(
    changes: SettingChange[],
    propose: (tx: Tx, change: SettingChange) => Promise<void>,
  ): Promise<void>
  /**
   * Sets a setting in the transaction of an approved proposal. It takes effect everywhere within 2 s of the commit. Throws
   * conflict when a smallest transfer would exceed the largest, because the other one waits for its approval too.
   */
  changeWithin(tx: Tx, change: SettingChange): Promise<void>
}

/** A smallest transfer would exceed the largest one. */
export class BoundsCrossed extends AppError {
  readonly least: SettingName
  readonly most: SettingName

  constructor(code: 'invalid_form' | 'conflict', least: SettingName, most: SettingName) {
    super(code, `${least} must not exceed ${most}`)
    this.least = least
    this.most = most
  }
}

/** A setting as an administrator sees it. `history` has its former values, newest first. */
export type SettingState = {
  name: SettingName
  control: SettingControl
  value: string
  /** The default. */
  standard: string
  history: { value: string; changed_by: string | null; created_at: Date }[]
}

/**
 * Opens the settings of a process, with a cache.
 * @param elapsed_ms tells the age of the cache.
 */
export function openSettings(db: Db, elapsed_ms = () => performance.now()): Settings {
  let cached: { values: Promise<SettingValues>; at: number } | undefined
  let latest = schema.parse({})
  return {
    latest: () => latest,
    read() {
      const now = elapsed_ms()
      if (cached === undefined || now - cached.at > FRESH_MS) {
        const values = load(db)
        cached = { values, at: now }
        values.then(
          (read) => {
            latest = read
          },
          // A failed read must not stay in the cache.
          () => {
            cached = undefined
          },
        )
      }
      return cached.values
    },
    async change(change) {
      const checked = { ...change, value: validated(change.name, change.value) }
      const isStored = await db.transaction().execute(async (tx) => {
        await requireBounds(tx, [checked], 'invalid_form')
        return storeAlone(tx, checked)
      })
      cached = undefined
      return isStored
    },
    async changeAll(changes, propose) {
      const checked = changes.map((change) => ({ ...change, value: validated(change.name, change.value) }))
      const [first] = checked
      if (first === undefined) return
      await db.transaction().execute(async (tx) => {
        const textOf = await requireBounds(tx, checked, 'invalid_form', first.now)
        // Wider bounds come first, because the database compares both bounds at each write. The rule of two administrators
        // begins after the other changes.
        const rank = ({ name, value }: SettingChange) =>
          name === 'second_approver' ? 2 : Number(!widensBounds(name, textOf(name), value))
        for (const change of checked.toSorted((a, b) => rank(a) - rank(b)))
          if (!(await storeAlone(tx, change))) await propose(tx, change)
      })
      cached = undefined
    },
    async changeWithin(tx, change) {
      const checked = { ...change, value: validated(change.name, change.value) }
      await requireBounds(tx, [checked], 'conflict')
      await store(tx, checked)
    },
  }
}

/** Waits for the changes of settings, and holds off others until the end of the transaction. Call it before any other lock. */
export async function lockSettings(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${SETTINGS_LOCK})`.execute(tx)
}

/**
 * Holds off changes of settings until the end of the transaction, and returns whether the rule of two administrators is on.
 * Call it before any other lock.
 */
export async function lockTwoPeopleRule(tx: Tx): Promise<boolean> {
  await sql`select pg_advisory_xact_lock_shared(${SETTINGS_LOCK})`.execute(tx)
  // A statement of its own, because a statement sees what was committed before it began.
  const { rows } = await sql<{ is_on: boolean }>`select needs_two_people() as is_on`.execute(tx)
  return rows[0]!.is_on
}

/** Stores a change, and returns true, unless it needs a second administrator. The caller has locked the settings. */
async function storeAlone(tx: Tx, change: SettingChange): Promise<boolean> {
  const { name, value, actor_id } = change
  if (settingOf(name).approval !== undefined) {
    const { rows } = await sql<{ needs_two: boolean }>`
      select setting_needs_two(${name}, ${value}, ${actor_id}::bigint) as needs_two`.execute(tx)
    if (rows[0]!.needs_two) return false
  }
  await store(tx, change)
  return true
}

type Values = readonly { name: string; value: string }[]

/**
 * Refuses changes that leave no transfer possible, over the stored values and the defaults. With `now`, it judges them again
 * with the changes that wait for a second administrator. Returns the values before the changes. The lock makes two
 * administrators who change one bound each see each other. The database does not know the defaults
 * (functions/guards/transfer-bounds.sql).
 */
async function requireBounds(
  tx: Tx,
  changes: readonly SettingChange[],
  code: 'invalid_form' | 'conflict',
  now?: Date,
): Promise<(name: SettingName) => string> {
  await lockSettings(tx)
  const stored = await tx.selectFrom('site_settings').select(['name', 'value']).execute()
  const over = (...layers: Values[]) => {
    const values = new Map(layers.flat().map(({ name, value }) => [name, value]))
    return (name: SettingName) => values.get(name) ?? standardOf(name)
  }
  const waiting = now === undefined ? [] : await waitingSettings(tx, now)
  for (const textOf of [over(stored, changes), over(stored, waiting, changes)]) {
    const crossed = crossedBounds(
      changes.map(({ name }) => name),
      textOf,
    )
    if (crossed !== undefined) throw new BoundsCrossed(code, ...crossed)
  }
  return over(stored)
}

/** Returns the changes of settings that wait for a second administrator. */
export function waitingSettings(db: Db, now: Date): Promise<Values> {
  return db
    .selectFrom('proposals')
    .where('kind', '=', 'setting')
    .where('decision', 'is', null)
    .where('expires_at', '>', now)
    .select([sql<string>`act ->> 'setting'`.as('name'), sql<string>`act ->> 'value'`.as('value')])
    .execute()
}

/** Returns the text to store. Throws invalid_form. */
export function validated(name: SettingName, value: string): string {
  const { schema, control } = settingOf(name)
  const text = value.trim()
  // Number() would read an empty text as 0, which turns a limit off, and 0x10 as 16.
  if (control.kind === 'number' && !/^\d{1,16}$/.test(text)) {
    throw new AppError('invalid_form', `${name} must be a whole number`)
  }
  const result = schema.safeParse(text)
  if (!result.success) throw new AppError('invalid_form', `${name} ${result.error.issues[0]!.message}`)
  return text
}

async function store(tx: Tx, { name, value, actor_id, ip, now }: SettingChange): Promise<void> {
  const before = await tx
    .selectFrom('site_settings')
    .where('name', '=', name)
    .select('value')
    .forUpdate()
    .executeTakeFirst()
  await tx
    .insertInto('site_settings')
    .values({ name, value, updated_by: actor_id, updated_at: now })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet({ value, updated_by: actor_id, updated_at: now }),
    )
    .execute()
  await tx
    .insertInto('site_settings_history')
    .values({ name, value, changed_by: actor_id, created_at: now })
    .execute()
  const detail = { before: before?.value ?? null, after: value }
  await recordAudit(tx, { actor_id, action: 'setting.change', subject: name, detail, ip })
}

/** Returns every setting with its value in force and its history. */
export async function describeSettings(db: Db): Promise<SettingState[]> {
  const [stored, changes] = await Promise.all([
    db.selectFrom('site_settings').select(['name', 'value']).execute(),
    db
      .selectFrom('site_settings_history as change')
      .leftJoin('users', 'users.id', 'change.changed_by')
      .orderBy('change.id', 'desc')
      .limit(HISTORY_MAX)
      .select(['change.name', 'change.value', 'users.username as changed_by', 'change.created_at'])
      .execute(),
  ])
  const values = new Map(stored.map((row) => [row.name, row.value]))
  return SETTING_NAMES.map((name) => ({
    name,
    control: settingOf(name).control,
    value: values.get(name) ?? standardOf(name),
    standard: standardOf(name),
    history: changes.filter((change) => change.name === name),
  }))
}

async function load(db: Db): Promise<SettingValues> {
  const rows = await db.selectFrom('site_settings').select(['name', 'value']).execute()
  return schema.parse(Object.fromEntries(rows.map((row) => [row.name, row.value])))
}
