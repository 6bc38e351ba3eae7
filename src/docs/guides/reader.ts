/** The applications of a reader, whose identifiers the guides and samples show. Keys and secrets stay on their own pages. */
import type { Core } from '../../core/core.ts'
import type { Values } from './fill.ts'

/** A reader with more applications than this chooses among the newest. */
const APPS_MAX = 20

export type PaymentChoice = {
  name: string
  logo_url: string | null
  payment_id: string
  pid: string
  book: 'live' | 'test'
}
export type SignInChoice = { name: string; logo_url: string | null; client_id: string; redirect_uri: string }

export type Reader = {
  isSignedIn: boolean
  payment: { all: PaymentChoice[]; chosen: PaymentChoice | undefined }
  signIn: { all: SignInChoice[]; chosen: SignInChoice | undefined }
}

/** The cookie with the applications that a reader has chosen, as `payment_id.client_id`. */
export const CHOICE_COOKIE = 'docs_apps'

/** Finds the applications of a member. Without a choice the newest ones are shown. */
export async function findReader(
  { db }: Pick<Core, 'db'>,
  user_id: bigint | undefined,
  choice = '',
): Promise<Reader> {
  if (user_id === undefined) {
    return {
      isSignedIn: false,
      payment: { all: [], chosen: undefined },
      signIn: { all: [], chosen: undefined },
    }
  }
  const [payment_id, client_id] = choice.split('.')
  const [payment, signIn] = await Promise.all([
    db
      .selectFrom('payment_apps')
      .where('applicant_id', '=', user_id)
      .orderBy('id', 'desc')
      .select(['name', 'logo_url', 'payment_id', 'pid', 'book'])
      .limit(APPS_MAX)
      .execute(),
    db
      .selectFrom('oauth_apps')
      .where('owner_id', '=', user_id)
      .orderBy('id', 'desc')
      .select(['name', 'logo_url', 'client_id', 'redirect_uris'])
      .limit(APPS_MAX)
      .execute(),
  ])
  const payments = payment.map(({ pid, ...app }) => ({ ...app, pid: pid.toString() }))
  const signIns = signIn.map(({ redirect_uris, ...app }) => ({
    ...app,
    redirect_uri: redirect_uris[0] ?? '',
  }))
  return {
    isSignedIn: true,
    payment: { all: payments, chosen: payments.find((app) => app.payment_id === payment_id) ?? payments[0] },
    signIn: { all: signIns, chosen: signIns.find((app) => app.client_id === client_id) ?? signIns[0] },
  }
}

/** The reader with a test application in the place of a live one, for samples that a newcomer runs. */
export function withTestApp(reader: Reader): Reader {
  const all = reader.payment.all.filter(({ book }) => book === 'test')
  const chosen = all.find((app) => app === reader.payment.chosen) ?? all[0]
  return { ...reader, payment: { all, chosen } }
}

/** The values of a reader for the texts of a guide. */
export function valuesOf({ config }: Pick<Core, 'config'>, { payment, signIn }: Reader): Values {
  return {
    'https://YOUR-TESSERA': config.PUBLIC_URL,
    'https://YOUR-TESSERA-PAYMENTS': config.PAYMENT_PUBLIC_URL,
    'YOUR-PAYMENT-ID': payment.chosen?.payment_id,
    'YOUR-PID': payment.chosen?.pid,
    'YOUR-CLIENT-ID': signIn.chosen?.client_id,
  }
}
