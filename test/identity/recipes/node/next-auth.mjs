// @ts-nocheck: the rest of the project does not have the types of next-auth.
/** A site with next-auth, which answers as a page of Next.js below /api/auth would. */
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { fromRecipe } from './site.mjs'

process.env.NEXTAUTH_URL = process.env.SITE
const { default: nextAuth } = createRequire(import.meta.url)('next-auth')

const provider = await fromRecipe('provider')
const options = {
  providers: [provider],
  secret: 'of the site',
  logger: { error: (code, { error, message }) => console.log(code, error?.message ?? message), warn() {} },
  callbacks: {
    jwt: ({ token, account }) => (account ? { ...token, account } : token),
    session: ({ session, token }) => ({ ...session, account: token.account }),
  },
}

const site = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, process.env.SITE)
  let body = ''
  for await (const chunk of request) body += chunk
  const cookies = (request.headers.cookie ?? '')
    .split('; ')
    .map((pair) => pair.split('=').map(decodeURIComponent))
  Object.assign(request, {
    query: { ...Object.fromEntries(searchParams), nextauth: pathname.split('/').slice(3) },
    cookies: Object.fromEntries(cookies),
    body: Object.fromEntries(new URLSearchParams(body)),
  })
  Object.assign(response, {
    status(code) {
      response.statusCode = code
      return response
    },
    json: (value) => response.end(JSON.stringify(value)),
    send: (text) => response.end(typeof text === 'object' ? JSON.stringify(text) : text),
  })
  await nextAuth(request, response, options)
})
site.listen(new URL(process.env.SITE).port, '127.0.0.1')
