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
  identity: ['accounts', 'egress'],
  payment: ['accounts', 'egress'],
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
    '': ['sign-in', 'forum'],
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
    values: [],
    signing: ['values'],
    rights: ['values'],
    orders: ['rights'],
    alerts: ['rights'],
    apps: ['signing', 'alerts'],
    diagnosis: ['apps'],
    gateway: ['diagnosis', 'orders'],
    mandates: ['signing', 'alerts', 'orders'],
    hmac: ['diagnosis', 'mandates'],
    events: ['apps', 'hmac'],
    notifications: ['events', 'gateway'],
    buyer: ['notifications'],
    merchant: ['buyer'],
    '': ['merchant'],
  },
  admin: {
    acts: [],
    wording: [],
    navigation: [],
    find: [],
    dashboard: ['navigation', 'wording'],
    people: ['acts', 'wording'],
    proposals: ['acts', 'wording'],
    points: ['find', 'proposals'],
    apps: ['proposals'],
    site: ['proposals'],
    '': ['dashboard', 'people', 'points', 'apps', 'site'],
  },
}

/** Whether a file may import another. Both paths are relative to src. */
export function mayImport(file: string, imported: string): boolean {
  const [from, to] = [placeOf(file), placeOf(imported)]
  if (from.area !== to.area) return isBelow(AREAS, from.area, to.area)
  const rooms = ROOMS[from.area]
  return from.room === to.room || rooms === undefined || isBelow(rooms, from.room, to.room)
}

function placeOf(file: string): { area: string; room: string } {
  const [area = '', room = '', ...rest] = file.replace(/\.ts$/, '').split('/')
  return { area, room: rest.length === 0 ? '' : room }
}

/** Throws for a name without a floor: a new area or room needs its floor first. */
function isBelow(floors: Floors, upper: string, lower: string): boolean {
  const below = floors[upper]
  if (below === undefined) throw new Error(`${upper} has no floor`)
  return below.includes(lower) || below.some((name) => isBelow(floors, name, lower))
}
