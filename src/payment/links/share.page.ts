/** …/links/:slug/share: the address of a link, ready for forums, sites and phones. spec/links 4.4. */
import { encode } from 'fast-png'
import type { FastifyInstance } from 'fastify'
import { encodeQR } from 'qr'
import type { Core } from '../../core/core.ts'
import { navFor } from '../apps/area.ts'
import type { OwnedRequest } from '../rights/owned.ts'
import type { Permitted } from '../rights/rights.ts'
import { addressOf, findLink, ONE, type ShownLink } from './links.page.ts'
import { htmlOf, markdownOf } from './share.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/links/share': {
      owned: Permitted
      nav: AreaNav
      link: ShownLink
      address: string
      markdown: string
      html: string
      /** An SVG. */
      qr: string
    }
  }
}

/** The white border without which scanners may not find the code. */
const QUIET_ZONE_MODULES = 4

/** The code as a file is as large as the library draws it, so posters can carry it. */
const FILE_SIDE_MAX_PX = 1_024

/** Draws the QR code of an address in black on white, as a PNG. */
function qrPng(url: string): Buffer {
  const { length } = encodeQR(url, 'raw', { border: QUIET_ZONE_MODULES })
  const rows = encodeQR(url, 'raw', {
    border: QUIET_ZONE_MODULES,
    scale: Math.floor(FILE_SIDE_MAX_PX / length),
  })
  const data = Uint8Array.from(rows.flat(), (isBlack) => (isBlack ? 0 : 255))
  return Buffer.from(encode({ width: rows.length, height: rows.length, data, channels: 1, depth: 8 }))
}

/** Registers the page within a browser scope of signed-in members. */
export function sharePage(app: FastifyInstance, deps: Core): void {
  app.get(`${ONE}/share`, async (request: OwnedRequest, reply) => {
    const { owned, link } = await findLink(request, deps, 'orders.read')
    const { locale } = request
    const { url } = link
    return reply.page('payment/links/share', {
      ...{ owned, link, address: addressOf(request, link.slug) },
      nav: await navFor(deps, request, owned),
      markdown: markdownOf(link, url, locale),
      html: htmlOf(link, url, locale),
      qr: encodeQR(url, 'svg', { border: QUIET_ZONE_MODULES }),
    })
  })

  app.get(`${ONE}/qr.png`, async (request: OwnedRequest, reply) => {
    const { link } = await findLink(request, deps, 'orders.read')
    return reply
      .header('content-disposition', `attachment; filename="qr-${link.slug}.png"`)
      .type('image/png')
      .send(qrPng(link.url))
  })
}
