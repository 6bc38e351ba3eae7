/** Sends a form with a file as a browser does, such as a logo. */
import { encode } from 'fast-png'
import { type Browser, cookieHeader } from './browser.ts'
import type { TestApp } from './harness.ts'

/** A picture of one colour, with a comment that no page may send on. */
export const picture = (width: number, height: number, shade = 200): Buffer =>
  Buffer.from(
    encode({
      width,
      height,
      channels: 4,
      data: new Uint8Array(width * height * 4).fill(shade),
      text: { Comment: 'where I live' },
    }),
  )

const LINE = '----logo'

type Upload = {
  page: string
  url: string
  /** The form of the page whose token is sent: by default the one with this address. */
  form?: string
  file: Buffer | string
  /** The field of the file, and the other fields of the form. */
  name?: string
  fields?: Record<string, string>
  /** Sends no form token. */
  isForged?: boolean
}

/** Sends a file to an address with a form of the page. */
export async function upload(
  test: TestApp,
  window: Browser,
  { page, url, form = url, file, name = 'logo', fields = {}, isForged }: Upload,
) {
  const token = isForged ? '' : (await window.get(page)).form(form).form_token!
  const part = (head: string, body: Buffer | string) =>
    Buffer.concat([
      Buffer.from(`--${LINE}\r\ncontent-disposition: form-data; ${head}\r\n\r\n`),
      Buffer.from(body),
      Buffer.from('\r\n'),
    ])
  const payload = Buffer.concat([
    part('name="form_token"', token),
    ...Object.entries(fields).map(([field, value]) => part(`name="${field}"`, value)),
    part(`name="${name}"; filename="a.png"\r\ncontent-type: image/png`, file),
    Buffer.from(`--${LINE}--\r\n`),
  ])
  const answer = await test.app.inject({
    method: 'POST',
    url,
    headers: {
      cookie: cookieHeader(window),
      accept: 'text/html',
      'sec-fetch-site': 'same-origin',
      'content-type': `multipart/form-data; boundary=${LINE}`,
    },
    payload,
  })
  for (const { name, value } of answer.cookies) window.cookies.set(name, value)
  return answer
}
