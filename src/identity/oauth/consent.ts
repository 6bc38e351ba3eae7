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
  ownsApps: boolean
  customGroups: string[]
}

/** Reads how many use the application, its owner's page at the forum, and what it would learn about the member. */
export async function consentFacts(
  { db, config }: Pick<Core, 'db' | 'config'>,
  app: Target['app'],
  user: Session['user'],
): Promise<ConsentFacts> {
  const { DISCOURSE_URL: forum } = config
  const hasProfile = forum !== undefined && app.owner_is_at_forum
  return {
    user,
    app,
    members: await countMembers(db, app.id),
    ownerUrl: hasProfile ? `${forum}/u/${encodeURIComponent(app.owner_username)}` : undefined,
    ownsApps: await ownsApps(db, user.id),
    customGroups: namedGroupsOf(user),
  }
}
