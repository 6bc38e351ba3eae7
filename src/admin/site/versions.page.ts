/** /admin/versions shows the running version, newer ones that the update notice told of, and the notes of all. spec/limits 5.1. */
import type { FastifyInstance } from 'fastify'
import type { Core } from '../../core/core.ts'
import { isNewer, ownReleases, type Release, readReleases } from '../../platform/changelog.ts'
import { VERSION } from '../../platform/version.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'admin/site/versions': {
      running: string
      newer: Release[]
      /** The running version and those before it. */
      known: Release[]
      /** Undefined when the update notice is off. */
      notice: { asked_at: Date; heard_at: Date | null; fault: string | null } | 'not yet' | undefined
    }
  }
  interface PartData {
    'admin/site/releases': { releases: Release[] }
  }
}

/** Registers the page. The caller's scope must require an administrator. */
export function versionsPage(app: FastifyInstance, { db, config }: Core): void {
  const known = ownReleases()
  app.get('/admin/versions', async (_request, reply) => {
    const row =
      config.UPDATE_NOTICE_URL === undefined
        ? undefined
        : await db
            .selectFrom('update_notice')
            .select(['asked_at', 'heard_at', 'fault', 'changelog'])
            .executeTakeFirst()
    const newer = readReleases(row?.changelog ?? '').filter(({ version }) => isNewer(version, VERSION))
    const isOn = config.UPDATE_NOTICE_URL !== undefined
    return reply.page('admin/site/versions', {
      running: VERSION,
      known: known.filter(({ version }) => !isNewer(version, VERSION)),
      newer: newer.sort((one, other) => (isNewer(one.version, other.version) ? -1 : 1)),
      notice: row ?? (isOn ? 'not yet' : undefined),
    })
  })
}
