/**
 * The logo of an application. Its owner uploads a picture, or names an https address of one. `logo_url` holds the address of
 * either, so pages need not know which it is.
 */
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sessionOf } from '../accounts/session/session.ts'
import type { Core } from '../core/core.ts'
import { isLoopback } from '../platform/config.ts'
import { AppError } from '../platform/errors.ts'
import { logoIn } from '../web/logo-form.ts'
import { sendPicture } from '../web/site.ts'

declare module '../web/views.ts' {
  interface PartData {
    /** The form sends a new picture to `action`, or takes the logo away. `address` takes that of a picture elsewhere. */
    'shops/logo': { app: { name: string; logo_url: string | null }; action: string; address?: string }
  }
}

const ADDRESS_LENGTH_MAX = 500
/** Members choose these pictures, so the name is longer than a hash that somebody could find a second picture for. */
const NAME_LENGTH = 32

/** Whether an application's logo is an uploaded picture. */
export function isUploaded(logo_url: string | null): boolean {
  return logo_url?.startsWith('/brand/') ?? false
}

/** Whether the text is an address of a logo. Pages load pictures by https, and outside production from this machine. */
export function isLogoAddress(text: string, production: boolean): boolean {
  if (text.length > ADDRESS_LENGTH_MAX || !/^[!-~]+$/.test(text) || /[\\#"<>^`{|}]/.test(text)) return false
  if (/%(?![0-9a-f]{2})/i.test(text) || !URL.canParse(text)) return false
  const { username, password } = new URL(text)
  if (username !== '' || password !== '') return false
  return text.startsWith('https://') || (!production && text.startsWith('http://') && isLoopback(text))
}

/**
 * Stores the picture of the form. Returns its address, or null if the form takes the logo away. Throws FormRefused and
 * too_many_attempts. The caller makes the address the logo of an application; a picture of none is deleted a day later.
 */
export async function storeAppLogo(
  request: FastifyRequest,
  { db, clock, limits }: Core,
): Promise<string | null> {
  if ((request.body as Record<string, unknown>).remove !== undefined) return null
  const picture = logoIn(request)
  await limits.hit('app_logos', sessionOf(request).user.id.toString())
  const name = createHash('sha256').update(picture).digest('hex').slice(0, NAME_LENGTH)
  const created_at = clock()
  await db
    .insertInto('app_logos')
    .values({ name, picture, created_at })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ created_at }))
    .execute()
  return `/brand/app.${name}.png`
}

/** Mounts GET /brand/app.….png. */
export function appLogoRoute(app: FastifyInstance, { db }: Pick<Core, 'db'>): void {
  app.get<{ Params: { name: string } }>(
    `/brand/app.:name(^[0-9a-f]{${NAME_LENGTH}}).png`,
    async ({ params: { name } }, reply) => {
      const logo = await db
        .selectFrom('app_logos')
        .where('name', '=', name)
        .select('picture')
        .executeTakeFirst()
      if (logo === undefined) throw new AppError('not_found', 'No such picture')
      return sendPicture(reply, logo.picture)
    },
  )
}
