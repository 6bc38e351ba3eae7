/**
 * A browser without scripts: it keeps cookies, follows no redirect, and sends a page's form with its hidden fields.
 */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'

let browsers = 0

export type Reply = { status: number; headers: Record<string, string>; body: string }

export type Browser = {
  get(path: string): Promise<Reply>
  send(method: string, path: string, body?: string, headers?: Record<string, string>): Promise<Reply>
  /** Gets the page at `path` and posts the form with this action, its hidden fields and `fields`. */
  submit(path: string, action: string, fields: Record<string, string>): Promise<Reply>
}

/**
 * A browser in one language for the service at this address. Each has its own loopback address, because the limit for
 * pages counts by address.
 */
export function makeBrowser(base: string, language: string): Browser {
  const cookies = new Map<string, string>()
  browsers += 1
  const address = `127.0.9.${browsers}`

  async function send(
    method: string,
    path: string,
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const sent = request(new URL(path, base), {
      method,
      localAddress: address,
      headers: {
        accept: 'text/html',
        'accept-language': language,
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...headers,
      },
    }).end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    for (const line of response.headers['set-cookie'] ?? []) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
      if (value === '') cookies.delete(name!)
      else cookies.set(name!, value!)
    }
    return {
      status: response.statusCode!,
      headers: Object.fromEntries(
        Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
      ),
      body: await text(response),
    }
  }

  return {
    send,
    get: (path) => send('GET', path),
    async submit(path, action, fields) {
      const page = await send('GET', path)
      const form = page.body
        .split('<form')
        .find((part) => part.includes(`action="${action}"`))
        ?.split('</form>')[0]
      const hidden = [...(form ?? '').matchAll(/<input[^>]*type="hidden"[^>]*>/g)].map(([tag]) => [
        /name="([^"]*)"/.exec(tag)?.[1] ?? '',
        decode(/value="([^"]*)"/.exec(tag)?.[1] ?? ''),
      ])
      const body = new URLSearchParams({ ...Object.fromEntries(hidden), ...fields }).toString()
      return send('POST', action, body, { 'content-type': 'application/x-www-form-urlencoded' })
    },
  }
}

function decode(html: string): string {
  return html
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
