/** A browser without scripts: it keeps cookies, and fills in the forms of pages. */
import { once } from 'node:events'
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { hiddenFields } from './markup.ts'

export const HTML = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8'

/** A form token in the shape of ours that no session and no visitor has. */
export const STALE_TOKEN = 'x'.repeat(43)

/** An answer as a browser sees it. `form` reads the hidden fields of the page's form with this action. */
export type Page = {
  status: number
  body: string
  location: string | undefined
  headers: OutgoingHttpHeaders
  form(action: string): Record<string, string>
}

export type Browser = {
  get(path: string, headers?: Record<string, string>): Promise<Page>
  /** Posts only these fields, without a form token, or this body. */
  post(path: string, fields: Record<string, string> | string, headers?: Record<string, string>): Promise<Page>
  /** Fills in the form with this action on the page and sends it with its hidden fields. */
  submit(page: Page, action: string, fields?: Record<string, string>): Promise<Page>
  cookies: Map<string, string>
}

type Request = { method: 'GET' | 'POST'; url: string; headers: Record<string, string>; payload?: string }
type Answer = { statusCode: number; headers: OutgoingHttpHeaders; body: string }

/** A browser with cookies. It follows no redirects, because tests look at each one. */
export function openBrowser(
  send: (request: Request) => Promise<Answer>,
  usual: Record<string, string> = {},
): Browser {
  const cookies = new Map<string, string>()
  async function visit(
    method: Request['method'],
    url: string,
    headers: Record<string, string>,
    payload?: string,
  ): Promise<Page> {
    const answer = await send({
      method,
      url,
      headers: {
        accept: HTML,
        ...usual,
        ...(cookies.size > 0 && { cookie: cookieHeader({ cookies }) }),
        ...(payload !== undefined && {
          'content-type': 'application/x-www-form-urlencoded',
          'sec-fetch-site': 'same-origin',
        }),
        ...headers,
      },
      ...(payload !== undefined && { payload }),
    })
    keepCookies(cookies, answer)
    const { statusCode: status, body } = answer
    const location = answer.headers.location as string | undefined
    return { status, body, location, headers: answer.headers, form: (action) => hiddenFields(body, action) }
  }
  const post: Browser['post'] = (path, fields, headers = {}) =>
    visit('POST', path, headers, typeof fields === 'string' ? fields : new URLSearchParams(fields).toString())
  return {
    cookies,
    get: (path, headers = {}) => visit('GET', path, headers),
    post,
    submit: (page, action, fields = {}) => post(action, { ...page.form(action), ...fields }),
  }
}

/** A browser over real HTTP. Node's fetch says that it is no navigation, and some programs then show no sign-in. */
export function browserAt(
  base: string,
  { headers, localAddress }: { headers?: Record<string, string>; localAddress?: string } = {},
): Browser {
  return openBrowser(async ({ url, payload, ...sent }) => {
    const asked = request(new URL(url, base), { ...sent, localAddress, maxHeaderSize: 65_536 }).end(payload)
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    return { statusCode: answer.statusCode!, headers: answer.headers, body: await text(answer) }
  }, headers)
}

function keepCookies(cookies: Map<string, string>, { headers }: Answer): void {
  for (const line of [headers['set-cookie'] ?? []].flat() as string[]) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    if (/max-age=0|expires=thu, 01.jan.1970/i.test(line)) cookies.delete(name)
    else cookies.set(name, value)
  }
}

/** The cookies of a browser as the header that sends them. */
export function cookieHeader({ cookies }: Pick<Browser, 'cookies'>): string {
  return [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
}
