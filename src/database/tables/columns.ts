/** Kinds of columns that many tables have. */
import type { ColumnType } from 'kysely'

/** The database sets it at insert; it never changes. */
export type Identity = ColumnType<bigint, never, never>

/** The moment of the insert, which the database sets. */
export type CreatedAt = ColumnType<Date, never, never>
export type Nullable<T> = ColumnType<T | null, T | null | undefined, T | null>
/** Live points, or points of test mode; a sum never mixes them. */
export type Book = 'live' | 'test'
