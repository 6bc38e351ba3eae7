// This room: the administrators’ pages of members, groups and the forum.
// Verbs: memberPages, groupPages, forumPages.
/** The ways between the forum and this site, each with its state, when it was last seen, and what to do next. */
import type { ContactKind } from '../../accounts/forum/contacts.ts'
import type { ForumState } from '../../accounts/forum-sync/state.ts'
import type { Config } from '../../platform/config.ts'
import type { Locale } from '../../web/languages.ts'

/** What the environment needs for a forum. */
export const FORUM_LINES =
  'DISCOURSE_URL=https://forum.example.org\nDISCOURSE_SECRET=SECRET\nDISCOURSE_API_KEY=API_KEY'

/** What a connection says; a moment follows its words. */
type Line = { text: string; at?: Date | null | undefined }

export type Connection = {
  name: 'signIn' | 'members' | 'webhook' | 'wallet' | 'tips'
  /** `plain` is switched off or not set up, which is no fault. */
  tone: 'good' | 'warn' | 'bad' | 'plain'
  state: string
  lines: Line[]
  act?: { href: string; label: string }
}

export type ConnectionFacts = {
  state: Pick<
    ForumState,
    'lists' | 'suspension_minutes' | 'warnings' | 'last_checked_at' | 'paused_until' | 'members'
  >
  contacts: Map<ContactKind, Date>
  config: Pick<Config, 'DISCOURSE_API_KEY' | 'DISCOURSE_WEBHOOK_SECRET'>
  lacksClaims: boolean
  isWalletShown: boolean
  tips: { isOn: boolean; app: { name: string } | undefined; last_at: Date | null }
}

const SETTINGS = '/admin/settings?area=forum'
const GUIDE = '/docs/discourse'

/** Returns the connections of a site with a forum, in the order in which they are set up. */
export function connectionsOf(facts: ConnectionFacts, locale: Locale): Connection[] {
  return [
    signInOf(facts, locale),
    membersOf(facts, locale),
    webhookOf(facts, locale),
    walletOf(facts, locale),
    tipsOf(facts, locale),
  ]
}

function signInOf({ contacts, lacksClaims }: ConnectionFacts, { t }: Locale): Connection {
  const { states, signIn, noClaims } = t.console.forum
  const at = contacts.get('sign_in')
  const name = 'signIn'
  if (at === undefined) return { name, tone: 'plain', state: states.unused, lines: [{ text: signIn.unused }] }
  const seen = { text: signIn.last, at }
  return lacksClaims
    ? { name, tone: 'warn', state: states.incomplete, lines: [seen, { text: noClaims }] }
    : { name, tone: 'good', state: states.works, lines: [seen] }
}

function membersOf({ state, config }: ConnectionFacts, { t, points }: Locale): Connection {
  const c = t.console.forum
  const { states } = c
  const { warnings, members } = state
  const name = 'members'
  const act = { href: GUIDE, label: c.guide }
  if (config.DISCOURSE_API_KEY === undefined)
    return { name, tone: 'warn', state: states.missing, lines: [{ text: c.noApi }], act }
  const unusable = members.unusable?.rows ?? 0
  const problems: Line[] = [
    ...(warnings.isRefused ? [{ text: c.refused }] : []),
    ...(warnings.isLimited ? [{ text: c.limited }] : []),
    ...(unusable > 0
      ? [{ text: c.unusable(unusable, points(unusable) + (members.unusable?.isMore ? '+' : '')) }]
      : []),
    ...(state.lists.some(({ isLate }) => isLate) ? [{ text: c.listsLate }] : []),
  ]
  const limit = warnings.isLimited && { act: { href: SETTINGS, label: c.limitedLink } }
  if (state.paused_until !== null) {
    const lines = [{ text: c.silent, at: state.paused_until }, ...problems]
    return { name, tone: 'bad', state: states.silent, lines, ...limit }
  }
  const lines = [
    ...(state.last_checked_at === null ? [] : [{ text: c.lastChecked, at: state.last_checked_at }]),
    {
      text:
        state.suspension_minutes === undefined ? c.suspensionUnknown : c.suspension(state.suspension_minutes),
    },
    ...problems,
  ]
  const isWarned = problems.length > 0 || state.suspension_minutes === undefined
  return isWarned
    ? { name, tone: 'warn', state: states.look, lines, ...limit }
    : { name, tone: 'good', state: states.works, lines }
}

function webhookOf({ state, contacts, config }: ConnectionFacts, { t }: Locale): Connection {
  const c = t.console.forum
  const { states, webhook } = c
  const name = 'webhook'
  const act = { href: GUIDE, label: c.guide }
  if (config.DISCOURSE_WEBHOOK_SECRET === undefined)
    return { name, tone: 'plain', state: states.missing, lines: [{ text: webhook.missing }], act }
  const at = contacts.get('webhook')
  if (at === undefined)
    return { name, tone: 'warn', state: states.waiting, lines: [{ text: webhook.waiting }], act }
  const last = { text: webhook.last, at }
  const { uselessPercent } = state.warnings
  return uselessPercent === null
    ? { name, tone: 'good', state: states.works, lines: [last] }
    : { name, tone: 'warn', state: states.look, lines: [last, { text: c.useless(uselessPercent) }] }
}

function walletOf({ contacts, isWalletShown }: ConnectionFacts, { t }: Locale): Connection {
  const { states, wallet, themeSetting } = t.console.forum
  const name = 'wallet'
  const act = { href: SETTINGS, label: themeSetting }
  if (!isWalletShown) return { name, tone: 'plain', state: states.off, lines: [{ text: wallet.off }], act }
  const at = contacts.get('wallet')
  return at === undefined
    ? { name, tone: 'warn', state: states.waiting, lines: [{ text: wallet.waiting }] }
    : { name, tone: 'good', state: states.works, lines: [{ text: wallet.last, at }] }
}

function tipsOf({ tips }: ConnectionFacts, { t }: Locale): Connection {
  const c = t.console.forum
  const name = 'tips'
  const act = { href: SETTINGS, label: c.tipsSetting }
  if (!tips.isOn) return { name, tone: 'plain', state: c.states.off, lines: [{ text: c.tipsOff }], act }
  if (tips.app === undefined)
    return { name, tone: 'warn', state: c.states.look, lines: [{ text: c.tipsMissing }] }
  const { last_at } = tips
  const lines = [last_at === null ? { text: c.tipsNotYet } : { text: c.tipsLast, at: last_at }]
  return { name, tone: 'good', state: c.states.works, lines }
}
