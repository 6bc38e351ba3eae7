/** The server of a site that is tried: the address is in SITE, and its client's code in RECIPE. */
import { createServer } from 'node:http'

/**
 * What the recipe's variable holds, with these values for the names that the code only uses.
 * @param {string} variable
 * @param {Record<string, unknown>} given
 */
export function fromRecipe(variable, given = {}) {
  const names = Object.keys(given)
  const body = `return (async () => {${process.env.RECIPE}\nreturn ${variable}})()`
  return new Function('process', ...names, body)(process, ...Object.values(given))
}

/**
 * Answers every request with what this function returns: a Response, or a value to show as JSON.
 * @param {(request: Request) => Promise<unknown>} answer
 */
export function serve(answer) {
  createServer(async (incoming, outgoing) => {
    let body = ''
    for await (const chunk of incoming) body += chunk
    const { method = '', headers } = incoming
    const request = new Request(new URL(String(incoming.url), process.env.SITE), {
      method,
      headers: /** @type {Record<string, string>} */ (headers),
      ...(method === 'POST' && { body }),
    })
    const given = await answer(request).catch(({ message }) => new Response(message, { status: 500 }))
    const response = given instanceof Response ? given : Response.json(given)
    for (const [name, value] of response.headers) outgoing.appendHeader(name, value)
    outgoing.writeHead(response.status).end(await response.text())
  }).listen(Number(new URL(String(process.env.SITE)).port), '127.0.0.1')
}
