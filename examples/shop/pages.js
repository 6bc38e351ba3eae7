// @ts-check
/** The pages of the shop, as whole HTML documents without scripts. */

/** @import { Member } from './sign-in.js' */
/** @import { Order } from './shop.js' */
/** @typedef {{ member?: Member, formToken: string } | undefined} Visitor undefined without a session */

/** HTML that is safe to send. Only `html` creates it. */
class Html {
  /** @param {string} text */
  constructor(text) {
    this.text = text
  }
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/**
 * A template that escapes every value except results of `html` and lists of them.
 * @param {TemplateStringsArray} strings
 * @param {(string | number | Html | Html[])[]} values
 */
function html(strings, ...values) {
  return new Html(String.raw({ raw: strings }, ...values.map(escapeValue)))
}

/**
 * @param {string | number | Html | Html[]} value
 * @returns {string}
 */
function escapeValue(value) {
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map(escapeValue).join('')
  return String(value).replace(/[&<>"']/g, (sign) => ENTITIES[/** @type {keyof typeof ENTITIES} */ (sign)])
}

const NOTHING = html``

/** @param {number} points */
const inPoints = (points) => `${points.toLocaleString('en')} ${points === 1 ? 'point' : 'points'}`

/** @param {string} time ISO 8601 */
const readable = (time) => html`<time datetime="${time}">${time.slice(0, 16).replace('T', ' ')} UTC</time>`

/**
 * @param {string} title
 * @param {Visitor} visitor
 * @param {Html} body
 */
function layout(title, visitor, body) {
  const who = visitor?.member
    ? html`<form method="post" action="/sign-out" class="who">
        <input type="hidden" name="form_token" value="${visitor.formToken}">
        <span>@${visitor.member.username}</span><button class="quiet">Sign out</button>
      </form>`
    : NOTHING
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Sticker Shop</title>
<link rel="icon" href="/sticker-pack.svg" type="image/svg+xml">
<link rel="stylesheet" href="/shop.css">
</head>
<body>
<header><a class="brand" href="/"><img src="/sticker-pack.svg" alt="" width="32" height="32">Sticker Shop</a>${who}</header>
<main>${body}</main>
<footer>An example of a shop that sells for Tessera points. Nothing is shipped.</footer>
</body>
</html>
`.text
}

/**
 * @param {Visitor} visitor
 * @param {{ name: string, text: string, amount: number }} product
 * @param {Order[]} orders the visitor's own, newest first
 */
export function homePage(visitor, product, orders) {
  const action = visitor?.member
    ? html`<form method="post" action="/buy">
        <input type="hidden" name="form_token" value="${visitor.formToken}">
        <button class="primary">Buy for ${inPoints(product.amount)}</button>
      </form>`
    : html`<a class="button primary" href="/login">Sign in with Tessera</a>
      <p class="soft">Use your forum account. Your password stays with Tessera.</p>`
  const history = html`<section><h2>Your orders</h2><ul class="orders">${orders.map(
    (order) => html`<li><a href="/orders/${order.id}">${order.description}</a>
      ${readable(order.created_at)}<span class="badge">${order.payment ? 'paid' : 'not paid yet'}</span></li>`,
  )}</ul></section>`
  const body = html`<article class="product">
<img src="/sticker-pack.svg" alt="Three overlapping stickers: a star, a speech bubble and a cat" width="320" height="320">
<div>
<h1>${product.name}</h1>
<p>${product.text}</p>
<p class="price">${product.amount} <small>points</small></p>
${action}
</div>
</article>
${orders.length > 0 ? history : NOTHING}`
  return layout(product.name, visitor, body)
}

/**
 * @param {Visitor} visitor
 * @param {Order} order
 */
export function orderPage(visitor, order) {
  const { payment } = order
  if (payment === undefined) return unpaidPage(visitor, order)
  const body = html`<section class="sheet">
<div class="mark good" aria-hidden="true">✓</div>
<h1>Paid</h1>
<p>Thank you! Your stickers will be on their way soon.</p>
<dl>
<dt>Product</dt><dd>${order.description}</dd>
<dt>Amount</dt><dd>${inPoints(order.amount)}</dd>
<dt>Paid at</dt><dd>${readable(payment.paid_at)}</dd>
<dt>Order</dt><dd><code>${order.id}</code></dd>
<dt>Transaction</dt><dd><code>${payment.transaction_id}</code></dd>
</dl>
<p class="soft">Of these, the shop receives ${inPoints(payment.merchant_points)}, and
${inPoints(payment.platform_fee)} ${payment.platform_fee === 1 ? 'is' : 'are'} Tessera's fee.</p>
<a class="button" href="/">Back to the shop</a>
</section>`
  return layout('Paid', visitor, body)
}

/**
 * @param {Visitor} visitor
 * @param {Order} order
 */
function unpaidPage(visitor, order) {
  const resume = order.payment_url
    ? html`<a class="button primary" href="${order.payment_url}">Continue to payment</a>`
    : NOTHING
  const body = html`<section class="sheet">
<div class="mark" aria-hidden="true">…</div>
<h1>Not paid yet</h1>
<p>No points have been taken. Reload this page after paying, and it will find your payment.</p>
<dl>
<dt>Product</dt><dd>${order.description}</dd>
<dt>Amount</dt><dd>${inPoints(order.amount)}</dd>
<dt>Order</dt><dd><code>${order.id}</code></dd>
</dl>
${resume}
<a class="button" href="/">Back to the shop</a>
</section>`
  return layout('Not paid yet', visitor, body)
}

/**
 * A page with one message and a link back.
 * @param {Visitor} visitor
 * @param {{ title: string, text: string }} message
 */
export function messagePage(visitor, { title, text }) {
  const body = html`<section class="sheet">
<div class="mark" aria-hidden="true">!</div>
<h1>${title}</h1>
<p>${text}</p>
<a class="button" href="/">Back to the shop</a>
</section>`
  return layout(title, visitor, body)
}
