/** Rows of the service as a whole: settings, limits and applied migrations. */
import type { Generated } from 'kysely'
import type { CreatedAt, Identity, Nullable } from './columns.ts'

type LimitCountersTable = {
  scope: string
  key: string
  ends_at: Date
  count: bigint
  created_at: CreatedAt
}

type SiteSettingsTable = {
  name: string
  value: string
  updated_by: Nullable<bigint>
  updated_at: Generated<Date>
  created_at: CreatedAt
}

type SiteSettingsHistoryTable = {
  id: Identity
  name: string
  value: string
  changed_by: Nullable<bigint>
  created_at: Generated<Date>
}

/** The id is a hash; the form is encrypted. */
type KeptFormsTable = { id: Buffer; form: Buffer; expires_at: Date }

/** One row, which the program that makes backups writes. */
type LastBackupTable = {
  is_only: Generated<boolean>
  finished_at: Date
  bytes: bigint
  /** Whether dumps also go to a bucket. `sent_at` is the time of the newest dump there. */
  has_bucket: Generated<boolean>
  sent_at: Date | null
  /** When a restored dump last proved its books. */
  proven_at: Date | null
}

/** One row: the last answer of UPDATE_NOTICE_URL. */
type UpdateNoticeTable = {
  is_only: Generated<boolean>
  asked_at: Date
  heard_at: Nullable<Date>
  changelog: Nullable<string>
  newest: Nullable<string>
  fault: Nullable<string>
}

type SiteLogosTable = { name: string; picture: Buffer; created_at: Date }

/** The last look at a finding of suspicious activity. The size is that of then: points, or accounts of an address. */
type LookedFindingsTable = {
  finding: string
  size: bigint
  note: string
  looked_by: bigint
  looked_at: Date
}

/** The numbered files of migrations/ that were applied. */
type SchemaMigrationsTable = { name: string; checksum: string; applied_at: CreatedAt }

/** The files of functions that were applied. */
type SchemaFunctionsTable = SchemaMigrationsTable

export interface ServiceTables {
  schema_migrations: SchemaMigrationsTable
  schema_functions: SchemaFunctionsTable
  limit_counters: LimitCountersTable
  kept_forms: KeptFormsTable
  last_backup: LastBackupTable
  update_notice: UpdateNoticeTable
  looked_findings: LookedFindingsTable
  site_logos: SiteLogosTable
  site_settings: SiteSettingsTable
  site_settings_history: SiteSettingsHistoryTable
}
