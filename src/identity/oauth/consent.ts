/** What a member is told about an application before allowing it, on the consent page and on that of a device. */
import { namedGroupsOf } from '../../accounts/people/users.ts'
import type { Session } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { countMembers, ownsApps } from '../apps/acts.ts'
import type { Target } from './authorization-request.ts'

export type ConsentFacts = {
  user: Session['user']
  app: Target['app']
  members: Awaited<ReturnType<typeof countMembers>>
  ownerUrl: string | undefined
  customGroups: string[]
  /** Whether the application can list the applications of this member, who has some. It needs no scope for that. */
  listsApps: boolean
  /** Whether it could create applications in the member's name without having asked for that. */
  couldRegister: boolean
}

type Asked = { scopes: string[]; resource: object | undefined; isOnDevice: boolean }

/** Reads how many use the application, its owner's page at the forum, and what it would learn about the member. */
export async function consentFacts(
  { db, config }: Pick<Core, 'db' | 'config'>,
  app: Target['app'],
  user: Session['user'],
  { scopes, resource, isOnDevice }: Asked,
): Promise<ConsentFacts> {
  // As in apps-api.ts.
  const hasAppsAnyway =
    app.metadata === null && !isOnDevice && resource === undefined && !scopes.includes('apps')
  const { DISCOURSE_URL: forum } = config
  const profile = app.owner_is_at_forum ? app.owner_username : null
  return {
    user,
    app,
    members: app.id === null ? { count: 0, isMore: false } : await countMembers(db, app.id),
    ownerUrl:
      forum === undefined || profile === null ? undefined : `${forum}/u/${encodeURIComponent(profile)}`,
    customGroups: namedGroupsOf(user),
    listsApps: hasAppsAnyway && (await ownsApps(db, user.id)),
    couldRegister: hasAppsAnyway,
  }
}
