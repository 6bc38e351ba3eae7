// @ts-check
/** The pages of the shop. They need no script. */

/** @import { Order, PaymentForm, Price } from './shop.js' */
/** @import { Texts } from './texts.js' */

const WAYS = /** @type {const} */ ([
  ['v1', 'form'],
  ['v1', 'api'],
  ['v2', 'form'],
  ['v2', 'api'],
])

/**
 * @param {Texts} t
 * @param {Price} price
 * @param {Order[]} orders newest first
 */
export function homePage(t, price, orders) {
  const { product, ways } = t
  const rows = orders.map(
    (order) =>
      `<li><a href="/orders/${escapeHtml(order.id)}">${escapeHtml(order.id)}</a> ${order.trade_no === undefined ? t.orders.unpaid : t.orders.paid}</li>`,
  )
  const history =
    rows.length === 0 ? '' : `<h2>${t.orders.title}</h2><ul class="orders">${rows.join('')}</ul>`
  return page(
    t,
    product.name,
    `<div class="product">
<img src="/mug.svg" alt="${product.picture}" width="320" height="320">
<div><h1>${escapeHtml(product.name)}</h1>
<p>${product.text}</p>
<p class="price">${escapeHtml(price.money)} <small>${product.price(escapeHtml(price.points))}</small></p>
<p class="soft">${product.terms}</p>
${orderForm('v1', 'api', product.buy, 'primary')}</div></div>
<details><summary>${ways.title}</summary><p>${ways.text}</p>
${WAYS.map(([version, way]) => orderForm(version, way, ways[version][way])).join('\n')}</details>${history}`,
  )
}

/**
 * @param {typeof WAYS[number][0]} version
 * @param {typeof WAYS[number][1]} way
 * @param {string} label
 * @param {string} [style]
 */
function orderForm(version, way, label, style = '') {
  return `<form method="post" action="/orders">
<input type="hidden" name="version" value="${version}"><input type="hidden" name="way" value="${way}">
<button class="${style}">${label}</button></form>`
}

/**
 * The form that opens a payment. All its fields are signed. A shop with a script would submit it automatically.
 * @param {Texts} t
 * @param {Order} order
 * @param {PaymentForm} form
 */
export function confirmPage(t, order, { action, fields }) {
  const inputs = Object.entries(fields).map(
    ([name, value]) =>
      `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(String(value))}">`,
  )
  return page(
    t,
    t.confirm.title,
    `<h1>${t.confirm.title}</h1>
<dl>${fact(t.order.number, `<code>${escapeHtml(order.id)}</code>`)}${fact(t.order.price, escapeHtml(order.money))}</dl>
<form method="post" action="${escapeHtml(action)}">${inputs.join('')}<button class="primary">${t.confirm.go}</button></form>`,
  )
}

/**
 * @param {Texts} t
 * @param {Order} order
 */
export function orderPage(t, order) {
  const { order: o } = t
  const { trade_no } = order
  const news = order.heard.map((each) => `<li>${o.heard[each]}</li>`)
  const title = trade_no === undefined ? o.unpaid : o.paid
  return page(
    t,
    title,
    `<h1>${title}</h1><p>${trade_no === undefined ? o.unpaidText : o.thanks}</p>
<dl>${fact(o.product, escapeHtml(t.product.name))}${fact(o.price, escapeHtml(order.money))}
${fact(o.number, `<code>${escapeHtml(order.id)}</code>`)}</dl>
<h2>${o.developers}</h2>
<dl>${fact(o.version, order.version.toUpperCase())}${trade_no === undefined ? '' : fact(o.trade, `<code>${escapeHtml(trade_no)}</code>`)}</dl>
${news.length === 0 ? '' : `<p>${o.heardTitle}</p><ul class="heard">${news.join('')}</ul>`}
<p><a href="/">${t.back}</a></p>`,
  )
}

/**
 * @param {string} name
 * @param {string} value HTML
 */
function fact(name, value) {
  return `<dt>${name}</dt><dd>${value}</dd>`
}

/**
 * @param {Texts} t
 * @param {{ title: string, text: string }} message
 */
export function messagePage(t, { title, text }) {
  return page(
    t,
    title,
    `<h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p><p><a href="/">${t.back}</a></p>`,
  )
}

/**
 * @param {Texts} t
 * @param {string} title
 * @param {string} body
 */
function page(t, title, body) {
  return `<!doctype html>
<html lang="${t.lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Mug Shop</title>
<link rel="icon" href="/logo.svg" type="image/svg+xml">
<link rel="stylesheet" href="/shop.css">
</head>
<body>
<header><a class="brand" href="/"><img src="/logo.svg" alt="" width="32" height="32">Mug Shop</a></header>
<main>${body}</main>
<footer>${t.footer}</footer>
</body>
</html>
`
}

/** @param {string} text */
function escapeHtml(text) {
  const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return text.replace(/[&<>"']/g, (character) => entities[/** @type {keyof typeof entities} */ (character)])
}
