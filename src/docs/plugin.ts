/** The documentation: guides and the API for people, GET /docs/openapi.json and Markdown for programs. The examples are signed at each request. */
import type { FastifyInstance } from 'fastify'
import { browserScope } from '../accounts/session/session.ts'
import type { Core } from '../core/core.ts'
import { textKey } from '../web/languages.ts'
import { guidePages } from './guides.page.ts'
import { markdownPages } from './markdown.page.ts'
import { type FindSamples, madeUpSamples } from './operations/samples.ts'
import { openApiDocument } from './reference/openapi.ts'
import { referencePages } from './reference.page.ts'

/** `findSamples` finds the keys that sign the examples. Without it, the examples have made-up keys. */
export type DocsDeps = Core & { findSamples?: FindSamples }

/** Registers the pages of the documentation and the OpenAPI document. */
export async function docsPlugin(app: FastifyInstance, deps: DocsDeps): Promise<void> {
  const { config, clock, findSamples = madeUpSamples } = deps
  app.get('/docs/openapi.json', async ({ locale, localized }, reply) => {
    const samples = await findSamples()
    return (
      reply
        // The signatures of its examples hold only for a while.
        .header('cache-control', 'no-store')
        .header('access-control-allow-origin', '*')
        .type('application/json; charset=utf-8')
        .send(
          await openApiDocument(config, textKey(locale.language), {
            samples,
            now: clock(),
            title: localized.site.name,
          }),
        )
    )
  })

  await app.register(async (pages) => markdownPages(pages, deps))
  await app.register(async (pages) => {
    browserScope(pages, deps)
    await guidePages(pages, deps)
    await referencePages(pages, { ...deps, findSamples })
  })
}
