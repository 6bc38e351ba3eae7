/** The floors of the house: which areas and rooms may import from which. */
type Floors = { [name: string]: string[] }

/**
 * Each area, and each file at the root, with the areas directly below it. It may also import from all areas below
 * those.
 */
const AREAS: Floors = {
  platform: [],
  egress: ['platform'],
  database: ['platform'],
  core: ['database'],
  ledger: ['core'],
  web: ['core'],
  accounts: ['ledger', 'web'],
  shops: ['accounts'],
  identity: ['shops', 'egress'],
  payment: ['shops', 'egress'],
  privacy: ['identity'],
  docs: ['identity', 'payment'],
  home: ['identity', 'payment'],
  admin: ['identity', 'payment', 'privacy'],
  operations: ['identity', 'payment'],
  parts: ['docs'],
  worker: ['operations', 'parts'],
  texts: ['admin', 'docs', 'home'],
  app: ['texts', 'parts'],
  serve: ['app', 'worker'],
  demo: ['serve'],
  cli: ['serve'],
  server: ['demo'],
}
/** The rooms of an area in the same way. '' are the files at its root. */
const ROOMS: { [area: string]: Floors } = {
  database: { tables: [], embedded: [], '': ['tables', 'embedded'] },
  accounts: {
    people: [],
    session: ['people'],
    security: ['session'],
    passkeys: ['security'],
    'sign-in': ['passkeys'],
    forum: ['security'],
    'forum-sync': ['forum'],
    '': ['sign-in', 'forum-sync'],
  },
  identity: {
    keys: [],
    logout: ['keys'],
    apps: ['logout'],
    grants: ['apps'],
    metadata: ['apps'],
    oauth: ['grants', 'metadata'],
    devices: ['oauth'],
    '': ['devices'],
  },
  payment: {
    'wire-fields': [],
    signing: ['wire-fields'],
    rights: ['wire-fields'],
    orders: ['rights'],
    alerts: ['rights'],
    'access-keys': ['rights'],
    apps: ['signing', 'alerts', 'access-keys', 'orders'],
    gateway: ['apps', 'orders'],
    mandates: ['signing', 'alerts', 'orders'],
    links: ['apps', 'orders'],
    payouts: ['apps', 'orders'],
    tips: ['apps', 'orders'],
    hmac: ['apps', 'mandates'],
    rest: ['hmac', 'payouts'],
    diagnosis: ['gateway', 'hmac'],
    events: ['apps', 'rest'],
    notifications: ['events', 'gateway'],
    buyer: ['notifications', 'links', 'tips'],
    merchant: ['buyer'],
    '': ['merchant', 'diagnosis', 'rest'],
  },
  docs: {
    operations: [],
    programs: ['operations'],
    reference: ['programs'],
    guides: ['reference'],
    '': ['guides'],
  },
  admin: {
    wording: [],
    navigation: [],
    find: [],
    dashboard: ['navigation', 'wording'],
    people: ['find', 'wording'],
    proposals: ['wording'],
    points: ['find', 'proposals'],
    apps: ['proposals'],
    site: ['proposals'],
    '': ['dashboard', 'people', 'points', 'apps', 'site'],
  },
}

/** Whether a file may import another. Both paths are relative to src. */
export function mayImport(file: string, imported: string): boolean {
  return refusalOf(file, imported) === undefined
}

/** Says why a file may not import another, and the remedy. Undefined when it may. Both paths are relative to src. */
export function refusalOf(file: string, imported: string): string | undefined {
  const [from, to] = [currentLink(file), currentLink(imported)]
  const isWithin = from.area === to.area
  const floors = isWithin ? ROOMS[from.area] : AREAS
  const [upper, lower] = isWithin ? [from.room, to.room] : [from.area, to.area]
  if (floors === undefined || upper === lower) return undefined
  const named = (name: string) => name || `the root of ${from.area}`
  const refusal = `${file} imports ${imported}`
  const homeless = [upper, lower].find((name) => floors[name] === undefined)
  if (homeless !== undefined)
    return `${refusal}, but ${named(homeless)} has no floor. Give it a line in ${isWithin ? 'ROOMS' : 'AREAS'} of test/floors.ts, with what lies directly below it.`
  if (isBelow(floors, upper, lower)) return undefined
  const shared = Object.keys(floors).filter((name) =>
    [upper, lower].every((each) => isBelow(floors, each, name)),
  )
  const homes = isBelow(floors, lower, upper) ? [upper, ...shared] : shared
  const move = homes.length === 0 ? '' : `Move what both need into ${homes.map(named).join(', ')}, or let`
  return `${refusal}, but ${named(lower)} is not below ${named(upper)}. ${move || 'Let'} a file above both pass it as an argument.`
}

function currentLink(file: string): { area: string; room: string } {
  const [area = '', room = '', ...rest] = file.replace(/\.ts$/, '').split('/')
  return { area, room: rest.length === 0 ? '' : room }
}

function isBelow(floors: Floors, upper: string, lower: string): boolean {
  const below = floors[upper] ?? []
  return below.includes(lower) || below.some((name) => isBelow(floors, name, lower))
}
