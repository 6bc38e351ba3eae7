/** Lists the routes of the application, from the router itself. */
import type { FastifyInstance, HTTPMethods } from 'fastify'

export type Route = { path: string; methods: HTTPMethods[] }

/** Returns the addresses of all routes with their methods. */
export function routesOf(app: FastifyInstance): Route[] {
  const above: string[] = []
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', label = '', methods] = /^([│ ]*)[├└]── (\S*)(?: \(([^)]*)\))?/.exec(line) ?? []
      above.splice(indent.length / 4, above.length, label)
      const path = above.join('').replace(/^\/+/, '/')
      return methods === undefined ? [] : [{ path, methods: methods.split(', ') as HTTPMethods[] }]
    })
}
