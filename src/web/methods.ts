/**
 * What the endpoints of programs answer to a method that they do not have: 405 with `Allow`, in the shape of their own
 * errors, where the router would say that there is no such address.
 */
import type { FastifyInstance, HTTPMethods } from 'fastify'
import { AppError } from '../platform/errors.ts'

/** The routes of one address, and where their errors are rendered. */
type Address = { scope: FastifyInstance; path: string; methods: Set<HTTPMethods> }

/** Mounts routes in a scope, and refuses every other method at their addresses. */
export async function refuseOtherMethods(scope: FastifyInstance, mount: () => Promise<void>): Promise<void> {
  const addresses = new Map<string, Address>()
  scope.addHook('onRoute', function (this: FastifyInstance, { url, method, routePath: path }) {
    const address = addresses.get(url) ?? { scope: this, path, methods: new Set() }
    addresses.set(url, address)
    for (const each of [method].flat()) address.methods.add(each as HTTPMethods)
  })
  await mount()
  for (const address of [...addresses.values()]) refuseAt(address)
}

function refuseAt({ scope, path, methods }: Address): void {
  const allow = [...methods].sort().join(', ')
  const method = (scope.supportedMethods as HTTPMethods[]).filter((each) => !methods.has(each))
  scope.route({
    method,
    url: path,
    exposeHeadRoute: false,
    // Before the body is read: whatever is in it, another method is what must be said.
    onRequest: async (_request, reply) => {
      reply.header('allow', allow)
      throw new AppError('method_not_allowed', `Use ${allow}`)
    },
    handler: async () => undefined,
  })
}
