// @ts-check
/**
 * The example forum of the demo, with members to sign in as. It stores nothing, so each start is a new forum.
 *
 * Run it: CONNECT_SECRET=… API_KEY=… TESSERA_URL=… node forum.js
 */
import { startForum } from './server.js'

const { FORUM_PORT = '4001', HOST = '127.0.0.1', WEBHOOK_SECRET } = process.env
const TESSERA_URL = setting('TESSERA_URL')
const { TESSERA_PAYMENT_URL = TESSERA_URL } = process.env
const CONNECT_SECRET = setting('CONNECT_SECRET')

const MEMBERS = [
  { id: 11, username: 'erin', name: 'Erin Moore', trust_level: 2, groups: [41], score: 1_200 },
  { id: 12, username: 'frank', name: 'Frank Ito', trust_level: 1, score: 250 },
  { id: 13, username: '小梅', name: '梅', trust_level: 3, score: 3_000 },
  { id: 14, username: 'grace', name: 'Grace Lind', trust_level: 4, moderator: true, score: 5_400 },
]

/** A payment link in a post becomes a card. */
const LINK = process.env.LINK_URL

const TOPIC = {
  id: 12,
  slug: 'ginger-cat-photos',
  title: 'Ginger cat photos',
  posts: [
    {
      user: 11,
      text: 'Mine slept in the toolbox again, so the shelf waits another day.\n\nWho else lives with a ginger cat?',
    },
    {
      user: 12,
      text: `Two of them. They model for the stickers that Bob sells${LINK === undefined ? '.' : `:\n\n${LINK}`}`,
    },
    { user: 13, text: '我家的橘猫只在键盘上睡觉。贴纸很可爱！' },
  ],
}

/** @param {string} name */
function setting(name) {
  const value = process.env[name]
  if (value) return value
  console.error(`Set ${name}: the forum cannot do without it.`)
  process.exit(1)
}

const hosts = new Set([TESSERA_URL, TESSERA_PAYMENT_URL].map((url) => new URL(url).hostname))
const forum = await startForum({
  host: HOST,
  port: Number(FORUM_PORT),
  siteUrl: TESSERA_URL,
  paymentUrl: TESSERA_PAYMENT_URL,
  topic: TOPIC,
  hasTips: process.env.TIPS === 'on',
  members: MEMBERS.map((member) => ({ ...member, email: `member${member.id}@example.org` })),
  groups: [{ id: 41, name: 'developers' }],
  connectSecrets: [...hosts].map((host) => `${host}|${CONNECT_SECRET}`),
  apiKey: setting('API_KEY'),
  ...(WEBHOOK_SECRET === undefined
    ? {}
    : { hook: { url: `${TESSERA_URL}/forum/webhook`, secret: WEBHOOK_SECRET } }),
}).catch((error) => {
  const isTaken = error.code === 'EADDRINUSE'
  console.error(isTaken ? `Port ${FORUM_PORT} is taken: set FORUM_PORT to a free one.` : error.message)
  process.exit(1)
})

if (process.send === undefined) console.log(`The forum is at ${forum.url}`)
else process.send('ready')
// A forum that another program started ends with that program.
process.on('disconnect', () => process.exit())
