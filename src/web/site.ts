/** What the settings say about every page: the words and the time zone of its texts, the brand, the links of the footer. */
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { brandStyle, sampleStyle } from '../core/brand.ts'
import type { Core } from '../core/core.ts'
import type { SettingValues } from '../core/setting-values.ts'
import type { Settings } from '../core/settings.ts'
import { findLogo } from '../core/site-logo.ts'
import { AppError } from '../platform/errors.ts'
import { type Language, type Locale, makeLocale } from './languages.ts'
import { siteWords } from './site-words.ts'

export type Site = {
  name: string
  /** The address of the site's picture; undefined for the service's own. */
  logo: string | undefined
  /** The address of the style sheet with the site's colours; undefined for the service's own. */
  style: string | undefined
  links: { forum: string; terms: string; privacy: string; contact: string }
  /** What the page's language calls the time zone of every time on it, such as China Time. */
  zone: string
}

/** The site and its locale in one language. */
export type LocalizedSite = { locale: Locale; site: Site }

/** Returns a function that gives the site in a language as its settings are now. It keeps each until a setting changes. */
export function openSite(settings: Settings, texts: object): (language: Language) => LocalizedSite {
  let read: SettingValues | undefined
  let key = ''
  let sites: Partial<Record<Language, LocalizedSite>> = {}
  return (language) => {
    const latest = settings.latest()
    if (latest !== read) {
      read = latest
      const now = keyOf(latest)
      if (now !== key) sites = {}
      key = now
    }
    sites[language] ??= localize(latest, texts, language)
    return sites[language]
  }
}

/** The settings that every page depends on. */
function keyOf(settings: SettingValues): string {
  const own = Object.entries(settings).filter(([name]) => /^(site_|point_|link_|time_zone$)/.test(name))
  return JSON.stringify(own)
}

function localize(settings: SettingValues, texts: object, language: Language): LocalizedSite {
  const words = siteWords(settings, language)
  const { time_zone, site_accent, site_logo } = settings
  return {
    locale: makeLocale(language, texts, { words, timeZone: time_zone }),
    site: {
      name: words.site,
      logo: site_logo || undefined,
      style: site_accent === '' ? undefined : styleAddress(site_accent),
      links: {
        forum: settings.link_forum,
        terms: settings.link_terms,
        privacy: settings.link_privacy,
        contact: settings.link_contact,
      },
      zone: zoneName(time_zone, language),
    },
  }
}

/** The address changes with the colours, also when another version computes them otherwise. */
function styleAddress(accent: string): string {
  return `/brand/${versionOf(brandStyle(accent))}/${accent.slice(1).toLowerCase()}.css`
}

/** Returns the address of the style of a sample in another accent than the site's. */
export const sampleAddress = (accent: string) =>
  `/brand/${versionOf(sampleStyle(accent))}/sample.${accent.slice(1).toLowerCase()}.css`

const versionOf = (style: string) => createHash('sha256').update(style).digest('hex').slice(0, 12)

/** Mounts GET /brand/: the style and the logo. The address of the style holds the accent, so every process can make it. */
export function brandRoutes(app: FastifyInstance, { db }: Pick<Core, 'db'>): void {
  app.get<{ Params: { name: string } }>(
    '/brand/logo.:name(^[0-9a-f]{16}).png',
    // Unlike the style it reads the database, so an overload may refuse it.
    async ({ params }, reply) => {
      const picture = await findLogo(db, params.name)
      if (picture === undefined) throw new AppError('not_found', 'No such picture')
      return sendPicture(reply, picture)
    },
  )

  for (const [prefix, styleOf] of [
    ['', brandStyle],
    ['sample.', sampleStyle],
  ] as const)
    app.get<{ Params: { version: string; accent: string } }>(
      `/brand/:version/${prefix}:accent(^[0-9a-f]{6}).css`,
      { config: { admission: 'always' } },
      async ({ params }, reply) => {
        const style = styleOf(`#${params.accent}`)
        // Another version may compute other colours, which browsers must not keep under this version's address.
        const isCurrent = params.version === versionOf(style)
        return reply
          .header('cache-control', isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache')
          .type('text/css; charset=utf-8')
          .send(style)
      },
    )
}

/** Sends an uploaded picture, whose address changes with it. */
export function sendPicture(reply: FastifyReply, picture: Buffer): FastifyReply {
  return reply.header('cache-control', 'public, max-age=31536000, immutable').type('image/png').send(picture)
}

/** Returns what a language calls a time zone, such as China Time. */
export function zoneName(timeZone: string, language: Language): string {
  const format = new Intl.DateTimeFormat(language, { timeZone, timeZoneName: 'longGeneric' })
  return format.formatToParts(0).find(({ type }) => type === 'timeZoneName')!.value
}
