// @ts-check
/** The pages of the shop, as whole HTML documents without scripts. */

/** @import { Member } from './sign-in.js' */
/** @import { Mandate, Plan } from './mandates.js' */
/** @import { Order } from './orders.js' */
/** @import { Refused } from './payment.js' */
/** @import { Texts } from './texts.js' */
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
const SHANGHAI_MS = 8 * 3_600_000

/**
 * A moment in the time of the shop, which the footer names.
 * @param {Texts} t
 * @param {string} time ISO 8601
 */
function readable({ lang }, time) {
  const form = /** @type {const} */ ({ dateStyle: 'medium', timeStyle: 'short', timeZone: 'Asia/Shanghai' })
  const written = new Intl.DateTimeFormat(lang === 'en' ? 'en-GB' : lang, form).format(new Date(time))
  return html`<time datetime="${time}">${written}</time>`
}

/**
 * @param {Texts} t
 * @param {string} title
 * @param {Visitor} visitor
 * @param {Html} body
 */
function layout(t, title, visitor, body) {
  const who = visitor?.member
    ? html`<form method="post" action="/sign-out" class="who">
        ${hidden(visitor)}
        <span>@${visitor.member.username}</span><button class="quiet">${t.signOut}</button>
      </form>`
    : NOTHING
  return html`<!doctype html>
<html lang="${t.lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Sticker Shop</title>
<link rel="icon" href="/logos/sticker-shop.svg" type="image/svg+xml">
<link rel="stylesheet" href="/shop.css">
</head>
<body>
<header><a class="brand" href="/"><img src="/logos/sticker-shop.svg" alt="" width="32" height="32">Sticker Shop</a>${who}</header>
<main>${body}</main>
<footer>${t.footer}</footer>
</body>
</html>
`.text
}

/** @param {Visitor} visitor */
const hidden = (visitor) => html`<input type="hidden" name="form_token" value="${visitor?.formToken ?? ''}">`

/**
 * A form with one button.
 * @param {Visitor} visitor
 * @param {string} action
 * @param {string} label
 * @param {string} look the classes of the button
 */
const button = (visitor, action, label, look = '') =>
  html`<form method="post" action="${action}">${hidden(visitor)}<button class="${look}">${label}</button></form>`

/**
 * @param {Texts} t
 * @param {Visitor} visitor
 * @param {{
 *   amount: number, orders: Order[], orderId: string,
 *   plans: { plan: Plan, terms: import('./texts.js').Caps, held: Mandate | undefined }[]
 * }} shown `orders` are the visitor's own, newest first; `orderId` is of the order that a click makes
 */
export function homePage(t, visitor, { amount, orders, orderId, plans }) {
  const { product } = t
  const oneClick = plans.find(({ plan }) => plan === 'one_click')?.held
  const byHand = button(visitor, '/buy', product.buy(amount), oneClick ? '' : 'primary')
  const atOnce = oneClick
    ? button(visitor, `/mandates/${oneClick.reference}/buy/${orderId}`, product.buyAtOnce(amount), 'primary')
    : NOTHING
  const action = visitor?.member
    ? html`${atOnce}${byHand}`
    : html`<a class="button primary" href="/login">${product.signIn}</a>
      <p class="soft">${product.signInText}</p>`
  const offers = plans.map(({ plan, terms, held }) => {
    const texts = t.plans[plan]
    const begin = visitor?.member ? texts.begin : texts.beginSignedOut
    return html`<li class="offer">
      <h2>${texts.name}</h2>
      <p>${texts.text(terms)}</p>
      ${held ? html`<p class="row">${badge(t, held)}<a class="button" href="/mandates/${held.reference}">${t.mandate.manage}</a></p>` : button(visitor, `/mandates/${plan}`, begin)}
    </li>`
  })
  const body = html`<article class="product">
<img src="/sticker-pack.svg" alt="${t.picture}" width="320" height="320">
<div>
<h1>${product.name}</h1>
<p>${product.text}</p>
<p class="price">${amount} <small>${product.unit}</small></p>
${action}
</div>
</article>
<ul class="offers">${offers}</ul>
${orders.length > 0 ? html`<section><h2>${t.orders.title}</h2>${orderList(t, orders)}</section>` : NOTHING}`
  return layout(t, product.name, visitor, body)
}

/**
 * @param {Texts} t
 * @param {Order[]} orders
 */
const orderList = (t, orders) =>
  html`<ul class="orders">${orders.map(
    (order) => html`<li><a href="/orders/${order.id}">${order.description}</a>
      ${readable(t, order.created_at)}<span class="badge">${order.payment ? t.orders.paid : t.orders.unpaid}</span></li>`,
  )}</ul>`

/**
 * @param {Texts} t
 * @param {Mandate} mandate
 */
function badge(t, { state }) {
  const isGood = state?.status === 'active' && state.reason === null
  return html`<span class="${isGood ? 'badge good' : 'badge'}">${stateName(t, state)}</span>`
}

/**
 * @param {Texts} t
 * @param {Mandate['state']} state
 */
function stateName({ mandate: { states } }, state) {
  const { status, reason } = state ?? { status: 'pending', reason: null }
  if (status === 'paused' && reason === 'member') return states.member_paused
  const name = reason ?? status
  if (Object.hasOwn(states, name)) return states[/** @type {keyof typeof states} */ (name)]
  return status === 'paused' ? states.owner_changed : states[status]
}

/**
 * What a member has allowed the shop to charge, and what the shop has charged.
 * @param {Texts} t
 * @param {Visitor} visitor
 * @param {{ mandate: Mandate, orders: Order[], orderId: string, amount: number, tip: { amount: number, artist: string } | undefined, url: string }} shown
 *   `url` is the mandate's page at Tessera
 */
export function mandatePage(t, visitor, { mandate, orders, orderId, amount, tip, url }) {
  const { plan, reference, state } = mandate
  const texts = t.plans[plan]
  const { mandate: m } = t
  const isActive = state?.status === 'active'
  const at = `/mandates/${reference}`
  const act = plan === 'club' ? `${at}/charge` : `${at}/buy/${orderId}`
  const look = plan === 'club' ? '' : 'primary'
  const actions = isActive
    ? html`${button(visitor, act, texts.charge(amount), look)}
      ${texts.chargeText ? html`<p class="soft">${texts.chargeText}</p>` : NOTHING}
      ${plan === 'one_click' && tip ? button(visitor, `${at}/tip/${orderId}`, t.tip.give(tip.amount, tip.artist)) : NOTHING}
      ${button(visitor, `${at}/end`, texts.end)}`
    : state?.status === 'ended'
      ? button(visitor, `/mandates/${plan}`, texts.begin, 'primary')
      : button(visitor, `${at}/end`, texts.end)
  const body = html`<section class="sheet">
<h1>${texts.name}</h1>
<dl>
<dt>${m.state}</dt><dd>${badge(t, mandate)}</dd>
<dt>${m.limits}</dt><dd>${state ? (plan === 'club' ? m.fixed(state.charge_max) : m.upTo(state.charge_max, state.period_max)) : NOTHING}</dd>
${state?.spent != null && state.left !== null ? html`<dt>${m.thisPeriod}</dt><dd>${m.spent(state.spent, state.left)}</dd>` : NOTHING}
${isActive && state.next_charge_on ? html`<dt>${m.next}</dt><dd>${state.next_charge_on}</dd>` : NOTHING}
${isActive && plan !== 'club' && state.resets_at ? html`<dt>${m.resets}</dt><dd>${dayOf(state.resets_at)}</dd>` : NOTHING}
${state?.ends_on ? html`<dt>${m.until}</dt><dd>${state.ends_on}</dd>` : NOTHING}
</dl>
<h2>${m.charges}</h2>
${orders.length > 0 ? orderList(t, orders) : html`<p class="soft">${m.noCharges}</p>`}
${actions}
<p><a href="${url}">${m.atSite}</a></p>
<a class="button" href="/">${t.back}</a>
</section>`
  return layout(t, texts.name, visitor, body)
}

/** The day of a time in Asia/Shanghai, where periods begin. @param {string} time ISO 8601 */
function dayOf(time) {
  return new Date(Date.parse(time) + SHANGHAI_MS).toISOString().slice(0, 10)
}

/**
 * Why a charge was refused, and what the member can do.
 * @param {Texts} t
 * @param {Visitor} visitor
 * @param {{ refusal: Refused, mandate: Mandate, order: Order }} refused
 * @param {boolean} mayPayByHand
 */
export function refusedPage(t, visitor, { refusal, mandate, order }, mayPayByHand) {
  const { refused: r } = t
  const body = html`<section class="sheet">
<div class="mark" aria-hidden="true">!</div>
<h1>${r.title}</h1>
<p>${reasonOf(t, refusal, order)}</p>
<dl>
<dt>${t.order.product}</dt><dd>${order.description}</dd>
<dt>${t.order.amount}</dt><dd>${t.points(order.amount)}</dd>
</dl>
${mayPayByHand ? button(visitor, `/orders/${order.id}/pay`, t.order.byHand, 'primary') : NOTHING}
<a class="button" href="/mandates/${mandate.reference}">${r.mandate}</a>
<a class="button" href="/">${t.back}</a>
</section>`
  return layout(t, r.title, visitor, body)
}

/**
 * The reason of a refusal in plain words. Tessera never tells how many points the member has.
 * @param {Texts} t
 * @param {Refused} refusal
 * @param {{ amount: number }} order
 * @returns {string}
 */
export function reasonOf({ refused: r }, { code, data, message }, { amount }) {
  switch (code) {
    case 1010:
      return r.points(amount)
    case 1013:
      return r.daily
    case 1017:
      return r.paused
    case 1019:
      return r.frozen
    case 1009:
    case 1020:
      return r.unavailable
    case 1022:
      return Object.hasOwn(r.inactive, data.reason)
        ? r.inactive[/** @type {keyof typeof r.inactive} */ (data.reason)]
        : r.inactive.other
    case 1023:
      return r.tooLarge(data.limit, data.exactly === true)
    case 1024:
      return r.limit(data.left, dayOf(data.resets_at))
    case 1029:
      return r.tooOften
    default:
      return r.other(message)
  }
}

/**
 * @param {Texts} t
 * @param {Visitor} visitor
 * @param {Order} order
 * @param {string} receipt its address at Tessera, for the payer
 */
export function orderPage(t, visitor, order, receipt) {
  const { payment } = order
  if (payment === undefined) return unpaidPage(t, visitor, order)
  const body = html`<section class="sheet">
<div class="mark good" aria-hidden="true">✓</div>
<h1>${t.order.paid}</h1>
<p>${order.isTip ? t.order.tipThanks : t.order.thanks}</p>
<dl>
<dt>${t.order.product}</dt><dd>${order.description}</dd>
<dt>${t.order.amount}</dt><dd>${t.points(order.amount)}</dd>
<dt>${t.order.paidAt}</dt><dd>${readable(t, payment.paid_at)}</dd>
<dt>${t.order.order}</dt><dd><code>${order.id}</code></dd>
<dt>${t.order.transaction}</dt><dd><code>${payment.transaction_id}</code></dd>
</dl>
<p class="soft">${t.order.shares(payment.merchant_points, payment.platform_fee)}</p>
<a class="button" href="${receipt}">${t.order.receipt}</a>
${order.mandate ? html`<a class="button" href="/mandates/${order.mandate}">${t.refused.mandate}</a>` : NOTHING}
<a class="button" href="/">${t.back}</a>
</section>`
  return layout(t, t.order.paid, visitor, body)
}

/**
 * @param {Texts} t
 * @param {Visitor} visitor
 * @param {Order} order
 */
function unpaidPage(t, visitor, order) {
  const resume = order.payment_url
    ? html`<a class="button primary" href="${order.payment_url}">${t.order.resume}</a>`
    : button(visitor, `/orders/${order.id}/pay`, t.order.byHand, 'primary')
  const body = html`<section class="sheet">
<div class="mark" aria-hidden="true">…</div>
<h1>${t.order.unpaid}</h1>
<p>${t.order.unpaidText}</p>
<dl>
<dt>${t.order.product}</dt><dd>${order.description}</dd>
<dt>${t.order.amount}</dt><dd>${t.points(order.amount)}</dd>
<dt>${t.order.order}</dt><dd><code>${order.id}</code></dd>
</dl>
${resume}
<a class="button" href="/">${t.back}</a>
</section>`
  return layout(t, t.order.unpaid, visitor, body)
}

/**
 * A page with one message and a link back.
 * @param {Texts} t
 * @param {Visitor} visitor
 * @param {{ title: string, text: string }} message
 */
export function messagePage(t, visitor, { title, text }) {
  const body = html`<section class="sheet">
<div class="mark" aria-hidden="true">!</div>
<h1>${title}</h1>
<p>${text}</p>
<a class="button" href="/">${t.back}</a>
</section>`
  return layout(t, title, visitor, body)
}
