/** Templates with one fault of each kind, and how the check has to report each: at the line and column of the template. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Fault } from './check.ts'

const DECLARED = `
declare module '../../../../../src/web/views.ts' {
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

/** Each planted fault: its file, its line, its column if it is known, and a part of its message. */
const FAULTS: [file: string, line: number, column: number | undefined, message: string][] = [
  ['undeclared.eta', 1, undefined, 'does not satisfy the constraint'],
  ['wrong.eta', 5, 14, "Property 'price' does not exist"],
  ['wrong.eta', 6, 8, "'string | undefined' is not assignable to parameter of type 'Shown'"],
  ['wrong.eta', 8, 14, "'bigint' is not assignable to parameter of type 'string'"],
  ['wrong.eta', 8, 50, "Property 'walet' does not exist"],
  ['wrong.eta', 9, 5, 'Expected 2 arguments, but got 1'],
  ['wrong.eta', 10, 13, '"/parts/absent"'],
  ['wrong.eta', 11, 19, "Parameter 'amount' implicitly has an 'any' type"],
  ['wrong.eta', 11, 44, "'unread' is declared but its value is never read"],
  ['wrong.eta', 12, 8, "is not assignable to parameter of type 'Shown'"],
  ['wrong.eta', 12, 45, "'it.user' is possibly 'undefined'"],
]

/** Writes the templates, and the file that declares their data. */
export function plant(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const files = {
    'data.ts': DECLARED,
    'right.eta': RIGHT,
    'wrong.eta': WRONG,
    'part.eta': '<b><%= it.reason %></b>\n',
    'undeclared.eta': '<p></p>\n',
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
}

/** Returns what is wrong with the report on the planted templates. */
export function unlikePlanted(found: Fault[]): string[] {
  const told = found.map(
    ({ file, line, column, message }) => [file.split('/').at(-1), line, column, message] as const,
  )
  const missed = FAULTS.filter(
    ([file, line, column, message]) =>
      !told.some(
        (each) =>
          each[0] === file &&
          each[1] === line &&
          each[2] === (column ?? each[2]) &&
          each[3].includes(message),
      ),
  )
  return [
    ...missed.map((fault) => `a planted fault was not found: ${fault.join(' ')}`),
    ...(told.length > FAULTS.length
      ? [`${told.length} faults of ${FAULTS.length} planted ones: ${told.join('\n')}`]
      : []),
  ]
}
