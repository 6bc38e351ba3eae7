// @ts-check
/** The pages of the shop. They need no script. */

/** @import { Order, PaymentForm } from './shop.js' */
/** @typedef {{ name: string, money: string }} Product */

const WAYS = /** @type {const} */ ([
  ['v1', 'form', 'V1 (MD5): your browser posts the order'],
  ['v1', 'api', 'V1 (MD5): the shop opens the payment'],
  ['v2', 'form', 'V2 (RSA): your browser posts the order'],
  ['v2', 'api', 'V2 (RSA): the shop opens the payment'],
])
const HEARD = {
  notify: 'The gateway notified the shop.',
  return: 'Your browser returned from the payment.',
  query: 'The shop asked the gateway.',
}

/**
 * @param {Product} product
 * @param {Order[]} orders newest first
 */
export function homePage(product, orders) {
  const ways = WAYS.map(
    ([version, way, label]) => `<form method="post" action="/orders">
<input type="hidden" name="version" value="${version}"><input type="hidden" name="way" value="${way}">
<button>${label}</button></form>`,
  )
  const rows = orders.map(
    (order) =>
      `<li><a href="/orders/${escapeHtml(order.id)}">${escapeHtml(order.id)}</a> ${order.version.toUpperCase()}, ${order.trade_no === undefined ? 'not paid yet' : 'paid'}</li>`,
  )
  const history = rows.length === 0 ? '' : `<h2>Orders</h2><ul>${rows.join('')}</ul>`
  return page(
    product.name,
    `<p class="price">${escapeHtml(product.money)}</p>
<p>Buy it by either version of the protocol, in either way. The price is in the shop's currency; you pay in points.</p>
${ways.join('\n')}${history}`,
  )
}

/**
 * The form that opens a payment. All its fields are signed. A shop with a script would submit it automatically.
 * @param {Order} order
 * @param {PaymentForm} form
 */
export function confirmPage(order, { action, fields }) {
  const inputs = Object.entries(fields).map(
    ([name, value]) =>
      `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(String(value))}">`,
  )
  return page(
    'Pay for your order',
    `<p>Order <code>${escapeHtml(order.id)}</code>, ${escapeHtml(order.money)}</p>
<form method="post" action="${escapeHtml(action)}">${inputs.join('')}<button>Go to the payment</button></form>`,
  )
}

/**
 * @param {Order} order
 * @param {Product} product
 */
export function orderPage(order, product) {
  const isPaid = order.trade_no !== undefined
  const news = order.heard.map((each) => `<li>${HEARD[each]}</li>`)
  return page(
    isPaid ? 'Paid' : 'Not paid yet',
    `<dl>
<dt>Product</dt><dd>${escapeHtml(product.name)}</dd>
<dt>Price</dt><dd>${escapeHtml(order.money)}</dd>
<dt>Order</dt><dd><code>${escapeHtml(order.id)}</code></dd>
<dt>Version</dt><dd>${order.version.toUpperCase()}</dd>
${isPaid ? `<dt>Trade</dt><dd><code>${escapeHtml(order.trade_no ?? '')}</code></dd>` : ''}
</dl>
${isPaid ? `<p>How the shop heard of it:</p><ul class="heard">${news.join('')}</ul>` : '<p>Reload this page after paying: the shop asks the gateway each time.</p>'}
<p><a href="/">Back to the shop</a></p>`,
  )
}

/** @param {{ title: string, text: string }} message */
export function messagePage({ title, text }) {
  return page(title, `<p>${escapeHtml(text)}</p><p><a href="/">Back to the shop</a></p>`)
}

/**
 * @param {string} title
 * @param {string} body
 */
function page(title, body) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Mug Shop</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/shop.css">
</head>
<body>
<main><p class="brand"><a href="/">Mug Shop</a></p><h1>${escapeHtml(title)}</h1>${body}</main>
<footer>An example of a shop whose plugin speaks the epay protocol. Nothing is shipped.</footer>
</body>
</html>
`
}

/** @param {string} text */
function escapeHtml(text) {
  const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return text.replace(/[&<>"']/g, (character) => entities[/** @type {keyof typeof entities} */ (character)])
}
