/**
 * Makes endpoints answer an unsupported method with 405 and `Allow` (RFC 9110 15.5.6), in the shape of their own errors. The
 * router alone would answer 404.
 */
import type { FastifyInstance, HTTPMethods } from 'fastify'
import { AppError } from '../platform/errors.ts'

/** The methods of one address, and the scope that renders its errors. */
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
  const wanted = [...methods]
    .filter((each) => each !== 'HEAD' && each !== 'OPTIONS')
    .sort()
    .join(' or ')
  const method = (scope.supportedMethods as HTTPMethods[]).filter((each) => !methods.has(each))
  scope.route({
    method,
    url: path,
    exposeHeadRoute: false,
    // Runs before the body is read, so that a fault of the body does not hide this one.
    onRequest: async (_request, reply) => {
      reply.header('allow', allow)
      throw new AppError('method_not_allowed', `Use ${wanted}`)
    },
    handler: async () => undefined,
  })
}
