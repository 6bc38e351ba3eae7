/** The check of the templates refuses wrong code and data, at the line of the template. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { checkTypes } from './check.ts'

const ROOT = join(import.meta.dirname, '../..')

const DECLARED = `
declare module '../../../src/web/views.ts' {
  interface PageData {
    wrong: { order: { amount: bigint; description?: string; refunds: { reason: string }[] } }
    right: { order: { amount: bigint; description?: string; refunds: { reason: string }[] } }
  }
  interface PartData {
    part: { reason: string }
  }
}
export {}
`

const RIGHT = `<%
const { t, order } = it
layout('/layout', { title: t.common.wallet })
const isBig = (/** @type {bigint} */ amount) => amount > 100n // not '%>', nor "
%>
<p<% if (isBig(order.amount)) { %> class="big"<% } %>><%= it.points(order.amount) %></p>
<% if (order.description) { %><p><%= it.plain(order.description) %></p><% } %>
<% for (const { reason } of order.refunds) { %>
<%~ include('/part', { reason }) %>
<% } %>
`

const WRONG = `<%
const { t, order } = it
layout('/layout', { title: t.common.wallet })
%>
<p><%= order.price %></p>
<p><%= order.description %></p>
<p>
<%= it.plain(order.amount) %></p><p><%= t.common.walet %></p>
<%~ include('/part') %>
<%~ include('/parts/absent', {}) %>
<% const bySum = (amount) => amount; const unread = 1 %>
<p><%= order.refunds %> <%= bySum(1) %> <%= it.user.username %></p>
`

let folder: string

beforeAll(() => {
  mkdirSync(join(ROOT, 'node_modules/.cache'), { recursive: true })
  folder = mkdtempSync(join(ROOT, 'node_modules/.cache/views-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function write(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
}

it('every fault of a template is reported at its line and column', { timeout: 180_000 }, () => {
  write({
    'data.ts': DECLARED,
    'right.eta': RIGHT,
    'wrong.eta': WRONG,
    'part.eta': '<b><%= it.reason %></b>\n',
    'undeclared.eta': '<p></p>\n',
  })
  const sources = [join(ROOT, 'src/app.ts'), join(folder, 'data.ts')]
  const faults = checkTypes({
    views: folder,
    sources,
    scratch: join(folder, 'made'),
  })
  const found = faults.map(({ file, line, column, message }) => [
    file.split('/').at(-1),
    line,
    column,
    message,
  ])
  expect(found).toEqual([
    ['undeclared.eta', 1, expect.any(Number), expect.stringContaining('does not satisfy the constraint')],
    ['wrong.eta', 5, 14, expect.stringContaining("Property 'price' does not exist")],
    [
      'wrong.eta',
      6,
      8,
      expect.stringContaining("'string | undefined' is not assignable to parameter of type 'Shown'"),
    ],
    ['wrong.eta', 8, 14, expect.stringContaining("'bigint' is not assignable to parameter of type 'string'")],
    ['wrong.eta', 8, 50, expect.stringContaining("Property 'walet' does not exist")],
    ['wrong.eta', 9, 5, expect.stringContaining('Expected 2 arguments, but got 1')],
    ['wrong.eta', 10, 13, expect.stringContaining('"/parts/absent"')],
    ['wrong.eta', 11, 19, expect.stringContaining("Parameter 'amount' implicitly has an 'any' type")],
    ['wrong.eta', 11, 44, expect.stringContaining("'unread' is declared but its value is never read")],
    ['wrong.eta', 12, 8, expect.stringContaining("is not assignable to parameter of type 'Shown'")],
    ['wrong.eta', 12, 45, expect.stringContaining("'it.user' is possibly 'undefined'")],
  ])
})
