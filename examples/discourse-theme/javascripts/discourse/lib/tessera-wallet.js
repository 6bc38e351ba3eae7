/**
 * <tessera-wallet service="https://points.example.org" forum-id="42" lang="en">: the wallet of the reader in the forum's user menu, and all
 * other logic of the component. It needs nothing of the forum, so it runs on any page.
 *
 * It asks the service when it is connected, so never at page load, and again when the member comes back to the page. It stops when the menu
 * closes. It holds no token, opens no frame, and writes what it got as text only. `data-state` is `loading`, `wallet`, `signIn`, `other`, `hidden` or `offline`.
 */
const TIMEOUT_MS = 4_000

const TEXTS = {
  en: {
    wallet: 'Wallet',
    balance: 'Balance',
    earn: 'Earn points',
    all: 'All movements',
    none: 'No movements yet',
    frozen: 'This wallet is frozen',
    loading: 'Loading…',
    times: (/** @type {string} */ zone) => `Times in ${zone}`,
    hide: 'Hide wallet',
    states: {
      signIn: ['Sign in to see your wallet', 'Sign in'],
      other: ['Your wallet is open for another member', 'Switch'],
      hidden: ['Your wallet is not shown in the forum', 'Show it here'],
      offline: ['The wallet cannot be reached', 'Open the wallet'],
    },
    again: 'Try again',
    pay: 'Pay',
    payFor: (/** @type {string} */ title) => `Pay: ${title}`,
  },
  'zh-CN': {
    wallet: '钱包',
    balance: '余额',
    earn: '赚取积分',
    all: '全部记录',
    none: '还没有记录',
    frozen: '钱包已冻结',
    loading: '读取中…',
    times: (/** @type {string} */ zone) => `时间均为${zone}`,
    hide: '隐藏钱包',
    states: {
      signIn: ['登录后查看钱包', '登录'],
      other: ['钱包当前登录的是另一个账号', '切换'],
      hidden: ['你已关闭在论坛显示钱包', '重新显示'],
      offline: ['暂时无法连接钱包', '打开钱包'],
    },
    again: '重试',
    pay: '付款',
    payFor: (/** @type {string} */ title) => `付款：${title}`,
  },
}

/** Where the link of a state leads. */
const PATHS = {
  // The member is signed in at the forum, so one click leads there and back.
  signIn: '/sign-in/forum?return_to=%2Faccount',
  // It ends the session of the other member.
  other: '/sign-in/forum?return_to=%2Faccount',
  hidden: '/account/profile#forum-wallet',
  offline: '/account',
}

/** Lines of the icons, 20 by 20. The forum has none that a shadow root could use. */
const ICONS = {
  gift: 'M3.2 8h13.6v3H3.2zM4.6 11v5.8h10.8V11M10 8v8.8M10 8S9 3.7 6.9 3.7a2 2 0 0 0-.3 4M10 8s1-4.3 3.1-4.3a2 2 0 0 1 .3 4',
  heart: 'M10 16.6S3 12.6 3 7.9A3.7 3.7 0 0 1 10 6.2 3.7 3.7 0 0 1 17 7.9c0 4.7-7 8.7-7 8.7z',
  receipt: 'M5.2 3.2h9.6v13.6l-2.4-1.5-2.4 1.5-2.4-1.5-2.4 1.5zM8 7.1h4M8 10.5h4',
  swap: 'M3.6 7h11.8M12.6 4.1 15.5 7l-2.9 2.9M16.4 13H4.6M7.4 10.1 4.5 13l2.9 2.9',
  refund: 'M4.1 4.2v4.3h4.3M4.4 8.5a6.3 6.3 0 1 1-.5 3.9',
  sliders:
    'M3 6.2h6.8M14.4 6.2H17M3 13.8h2.6M10.2 13.8H17M9.9 6.2a2.2 2.2 0 1 0 4.4 0 2.2 2.2 0 1 0-4.4 0M5.7 13.8a2.2 2.2 0 1 0 4.4 0 2.2 2.2 0 1 0-4.4 0',
  wallet:
    'M3.2 6.5V15a1.5 1.5 0 0 0 1.5 1.5h10.6a1.5 1.5 0 0 0 1.5-1.5V8a1.5 1.5 0 0 0-1.5-1.5zM3.2 6.5a2 2 0 0 1 1.9-2.2L13.3 3v3.5M13.2 11.5h.1',
  alert: 'M10 3.2 17.8 16.5H2.2zM10 8.2v3.8M10 14.2v.1',
}

/** The icon of each kind of movement. A kind that a newer service adds has that of a payment. */
const KINDS = new Map(
  /** @type {[string, keyof typeof ICONS][]} */ ([
    ['grant', 'gift'],
    ['tip', 'heart'],
    ['transfer', 'swap'],
    ['refund', 'refund'],
    ['reversal', 'refund'],
    ['adjustment', 'sliders'],
  ]),
)

/** The forum's own colours and measures, and others where it has none. */
const STYLE = `
:host { display: block; color: var(--primary, #222); font-size: var(--font-0, 1rem); line-height: 1.4; font-variant-numeric: tabular-nums; }
* { box-sizing: border-box; margin: 0; }
svg { flex: none; width: 1.25em; height: 1.25em; fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linecap: round; stroke-linejoin: round; }
.soft { color: var(--primary-high, #555); font-size: 0.875em; }
.head { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; justify-content: space-between; padding: 0.75rem; }
.amount { font-size: 1.5em; font-weight: 700; line-height: 1.25; overflow-wrap: anywhere; }
.amount small { font-size: 0.5em; font-weight: 400; }
.btn { display: inline-flex; align-items: center; justify-content: center; min-height: 44px; padding: 0.25rem 0.875rem; border: 0;
  border-radius: var(--d-button-border-radius, 4px); background: var(--d-button-default-bg-color, var(--primary-low, #e9e9e9));
  color: var(--d-button-default-text-color, inherit); font: inherit; text-decoration: none; cursor: pointer; }
.btn:hover { background: var(--d-button-default-bg-color--hover, var(--primary-medium, #aaa)); }
.btn.primary { background: var(--d-button-primary-bg-color, var(--tertiary, #0b6bcb)); color: var(--d-button-primary-text-color, var(--secondary, #fff)); }
.btn.primary:hover { background: var(--d-button-primary-bg-color--hover, var(--tertiary-hover, var(--tertiary, #0b6bcb))); }
.alarm { color: var(--danger, #b3261e); }
a { color: var(--tertiary, #0b6bcb); }
a:focus-visible, button:focus-visible { outline: 2px solid var(--tertiary, #0b6bcb); outline-offset: -2px; }
ul { list-style: none; padding: 0; border-top: 1px solid var(--primary-low, #e9e9e9); }
li { display: flex; gap: 0.625rem; align-items: center; padding: 0.375rem 0.75rem; }
li svg { color: var(--primary-medium, #767676); }
li > div { flex: 1; min-width: 0; line-height: 1.3; overflow-wrap: anywhere; }
li p:first-child { display: -webkit-box; overflow: hidden; -webkit-box-orient: vertical; -webkit-line-clamp: 2; }
li > b { font-weight: 600; white-space: nowrap; }
li > b.gain { color: var(--success, #0a7a3f); }
.all { display: flex; align-items: center; justify-content: center; min-height: 44px; border-top: 1px solid var(--primary-low, #e9e9e9); text-decoration: none; }
.all:hover { background: var(--d-hover, var(--primary-low, #e9e9e9)); }
.foot { display: flex; flex-wrap: wrap; align-items: center; gap: 0 0.75rem; justify-content: space-between; padding: 0.25rem 0.75rem 0.5rem; }
.foot a { display: inline-flex; align-items: center; min-height: 24px; color: inherit; }
.state { display: grid; gap: 0.75rem; justify-items: center; padding: 1.25rem 0.75rem; text-align: center; }
.state > svg { width: 2em; height: 2em; color: var(--primary-medium, #767676); }
.state .btn { width: 100%; }
`

/** @typedef {{ at: string, kind: string, text: string, amount: number }} Movement */
/** @typedef {{ forum_id: string, balance: number, unit: string, frozen: boolean, tips: boolean, time_zone?: string, movements: Movement[] }} Wallet */
/** @typedef {keyof typeof PATHS} Refusal */

/** Returns the address of the service without its last slash, or undefined for what is none. @param {unknown} text */
export function serviceOf(text) {
  if (typeof text !== 'string' || !URL.canParse(text)) return undefined
  const { protocol, origin, pathname } = new URL(text)
  if (protocol !== 'https:' && protocol !== 'http:') return undefined
  return origin + pathname.replace(/\/+$/, '')
}

/** The language of the service for a language of the forum. @param {string | null | undefined} tag */
export function languageOf(tag) {
  return /^zh\b/i.test((tag ?? '').replace('_', '-')) ? 'zh-CN' : 'en'
}

const DAY_MS = 86_400_000

/**
 * Writes moments as the pages of the service do: today and yesterday by name, 24 hours, the year only where it is another. It uses the
 * service's time zone, or that of the browser where this one does not know it. `zone` names it where it is not that of the browser.
 * @param {string} language
 * @param {string | undefined} time_zone
 * @param {Date} now
 */
export function timesIn(language, time_zone, now) {
  const tag = language === 'en' ? 'en-GB' : language
  /** @param {string} tag @param {Intl.DateTimeFormatOptions} options */
  const format = (tag, options) => {
    try {
      return new Intl.DateTimeFormat(tag, time_zone ? { ...options, timeZone: time_zone } : options)
    } catch {
      return new Intl.DateTimeFormat(tag, options)
    }
  }
  const clock = format(tag, { timeStyle: 'short' })
  const inYear = format(tag, { month: 'short', day: 'numeric' })
  const withYear = format(tag, { dateStyle: 'medium' })
  // The calendar of Sweden writes yyyy-mm-dd.
  const calendar = format('sv-SE', {})
  const relative = new Intl.RelativeTimeFormat(tag, { numeric: 'auto' })
  const today = calendar.format(now)
  const exact = { dateStyle: 'short', timeStyle: 'short' }
  const here = new Intl.DateTimeFormat(tag, /** @type {Intl.DateTimeFormatOptions} */ (exact))
  const there = format(tag, /** @type {Intl.DateTimeFormatOptions} */ (exact))
  const isHere = here.format(now) === there.format(now)
  const zone = format(tag, { timeZoneName: 'longGeneric' })
    .formatToParts(now)
    .find(({ type }) => type === 'timeZoneName')
  return {
    write(/** @type {string} */ at) {
      const moment = new Date(at)
      const day = calendar.format(moment)
      const days = (Date.parse(day) - Date.parse(today)) / DAY_MS
      const isThisYear = day.slice(0, 4) === today.slice(0, 4)
      const named =
        Math.abs(days) <= 1 ? relative.format(days, 'day') : (isThisYear ? inYear : withYear).format(moment)
      // The texts set spaces between digits and Chinese words.
      return `${named.replaceAll(/(?<=\d)(?=[年月日])|(?<=[年月])(?=\d)/g, '\u00A0')} ${clock.format(moment)}`
    },
    zone: isHere ? undefined : zone?.value,
  }
}

/**
 * Returns the address that tips the author of a post. Undefined for visitors, own posts, accounts of the forum itself and private messages.
 * @param {unknown} service
 * @param {{ user_id?: number, username?: string, post_number?: number, topic_id?: number, topic?: { slug?: string, archetype?: string } } | undefined} post
 * @param {{ id: number } | null | undefined} reader
 */
export function tipAddress(service, post, reader) {
  const base = serviceOf(service)
  if (base === undefined || !post || !reader) return undefined
  const { user_id = 0, username = '', topic, topic_id, post_number } = post
  if (!Number.isSafeInteger(user_id) || user_id <= 0 || user_id === reader.id) return undefined
  if (topic?.archetype === 'private_message') return undefined
  const query = new URLSearchParams({ to_id: String(user_id), to: username })
  if (topic_id && post_number) query.set('post', `/t/${topic?.slug || '-'}/${topic_id}/${post_number}`)
  return `${base}/tip?${query}`
}

/** The address of a payment link below the service. Orders, which one member pays once, have other addresses. */
const LINK_PATH = /^\/l\/[a-z0-9]{10}$/

/**
 * Returns the address of the payment link to which this one leads, or undefined for any other.
 * @param {string | null | undefined} href
 * @param {string[]} services
 */
export function paymentLinkOf(href, services) {
  if (!href || !URL.canParse(href)) return undefined
  const { origin, pathname } = new URL(href)
  const address = origin + pathname
  return services.some((base) => address.startsWith(base) && LINK_PATH.test(address.slice(base.length)))
    ? address
    : undefined
}

/**
 * Puts a link *Pay* at each card and each text link of a post that leads to a payment link. It fetches nothing, because the forum made the
 * card. A second run on the same post changes nothing.
 * @param {Element} post
 * @param {unknown[]} services the address of the service, and of its payments if that is another
 * @param {string | null | undefined} language
 */
export function addPayLinks(post, services, language) {
  const bases = services.map(serviceOf).filter((base) => base !== undefined)
  const texts = TEXTS[languageOf(language)]
  /** @param {string} address @param {string} title */
  const payLink = (address, title) =>
    element(
      'a',
      {
        class: 'btn btn-primary tessera-pay no-track-link',
        ...{ href: address, target: '_blank', rel: 'noopener noreferrer' },
        'aria-label': texts.payFor(title.trim() || address),
      },
      texts.pay,
    )
  for (const card of post.querySelectorAll('aside.onebox')) {
    const source =
      card.getAttribute('data-onebox-src') ?? card.querySelector('.source a')?.getAttribute('href')
    const address = paymentLinkOf(source, bases)
    if (address === undefined || card.querySelector('.tessera-pay')) continue
    const body = card.querySelector('.onebox-body') ?? card
    body.append(element('p', {}, payLink(address, card.querySelector('h3')?.textContent ?? '')))
  }
  for (const link of post.querySelectorAll('a[href]')) {
    const address = paymentLinkOf(link.getAttribute('href'), bases)
    // The picture of the share page is a button of its own.
    if (address === undefined || link.closest('aside.onebox, .tessera-pay') || link.querySelector('img'))
      continue
    if (link.nextElementSibling?.matches('.tessera-pay')) continue
    link.after(' ', payLink(address, link.textContent ?? ''))
  }
}

/** Opens the member's own payment links beside the composer. @param {unknown} service */
export function openOwnLinks(service) {
  const base = serviceOf(service)
  if (base !== undefined) window.open(`${base}/payment/links`, '_blank', 'noopener,noreferrer')
}

/**
 * @param {string} name
 * @param {Record<string, string>} attributes
 * @param {(Node | string)[]} children strings become text
 */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

/** @param {keyof typeof ICONS} name */
function iconOf(name) {
  /** @param {string} part */
  const make = (part) => document.createElementNS('http://www.w3.org/2000/svg', part)
  const [svg, path] = [make('svg'), make('path')]
  svg.setAttribute('viewBox', '0 0 20 20')
  svg.setAttribute('aria-hidden', 'true')
  path.setAttribute('d', ICONS[name])
  svg.append(path)
  return svg
}

export class TesseraWallet extends HTMLElement {
  /** @type {AbortController | undefined} */
  #asking
  /** The member comes back from the service, where they signed in or paid. */
  #returned = () => {
    if (document.visibilityState === 'visible') void this.load()
  }
  #root = this.attachShadow({ mode: 'open' })

  connectedCallback() {
    // A sheet of the document's own needs no permission of the forum's content security policy.
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(STYLE)
    this.#root.adoptedStyleSheets = [sheet]
    document.addEventListener('visibilitychange', this.#returned)
    void this.load()
  }

  disconnectedCallback() {
    document.removeEventListener('visibilitychange', this.#returned)
    this.#asking?.abort()
  }

  get #service() {
    return serviceOf(this.getAttribute('service'))
  }

  get #language() {
    return languageOf(this.getAttribute('lang'))
  }

  get #texts() {
    return TEXTS[this.#language]
  }

  /** Asks the service, and shows what it says. */
  async load() {
    this.#asking?.abort()
    const asking = new AbortController()
    this.#asking = asking
    // A wallet that is read again stays in view until the answer.
    if (this.dataset.state !== 'wallet')
      this.#show('loading', element('p', { class: 'soft' }, this.#texts.loading))
    const answer = await this.#ask(asking.signal)
    // The menu was closed, or another question is newer.
    if (asking.signal.aborted) return
    if (typeof answer === 'string') this.#showState(answer)
    else this.#showWallet(answer)
  }

  /** @param {AbortSignal} signal @returns {Promise<Wallet | Refusal>} */
  async #ask(signal) {
    const service = this.#service
    if (service === undefined) return 'offline'
    const query = new URLSearchParams({ forum_id: this.getAttribute('forum-id') ?? '', lang: this.#language })
    try {
      const response = await fetch(`${service}/forum/wallet.json?${query}`, {
        credentials: 'include',
        redirect: 'error',
        referrerPolicy: 'no-referrer',
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      })
      if (response.status === 401) return 'signIn'
      if (response.status === 409) return 'other'
      const body = await response.json()
      if (response.status === 403 && body.error === 'hidden') return 'hidden'
      return response.ok && Array.isArray(body.movements) ? body : 'offline'
    } catch {
      return 'offline'
    }
  }

  /** @param {string} path @param {string} text @param {Record<string, string>} [attributes] */
  #link(path, text, attributes) {
    const base = this.#service
    if (base === undefined) return ''
    return element(
      'a',
      { href: base + path, target: '_blank', rel: 'noopener noreferrer', ...attributes },
      text,
    )
  }

  /** @param {Refusal} state */
  #showState(state) {
    const [text = '', action = ''] = this.#texts.states[state]
    const hasFailed = state === 'offline'
    const parts = [
      iconOf(hasFailed ? 'alert' : 'wallet'),
      element('p', {}, text),
      this.#link(PATHS[state], action, { class: hasFailed ? '' : 'btn primary' }),
    ]
    if (hasFailed) {
      const again = element('button', { type: 'button', class: 'btn' }, this.#texts.again)
      again.addEventListener('click', () => this.load())
      parts.splice(2, 0, again)
    }
    this.#show(state, element('div', { class: 'state' }, ...parts))
  }

  /** @param {Wallet} wallet */
  #showWallet({ balance, unit, frozen, time_zone, movements }) {
    const t = this.#texts
    const numbers = new Intl.NumberFormat(this.#language)
    const times = timesIn(this.#language, time_zone, new Date())
    const rows = movements.map(({ at, kind, text, amount }) =>
      element(
        'li',
        {},
        iconOf(KINDS.get(kind) ?? 'receipt'),
        element('div', {}, element('p', {}, String(text)), element('p', { class: 'soft' }, times.write(at))),
        element(
          'b',
          { class: amount > 0 ? 'gain' : '' },
          `${amount > 0 ? '+' : '−'}${numbers.format(Math.abs(amount))}`,
        ),
      ),
    )
    const hasRows = rows.length > 0
    const amount = element('p', { class: 'amount' }, `${numbers.format(balance)} `)
    amount.append(element('small', {}, String(unit)))
    const figure = element('div', {}, element('p', { class: 'soft' }, t.balance), amount)
    if (frozen) figure.append(element('p', { class: 'alarm' }, t.frozen))
    const earn = this.#link('/#earn', t.earn, { class: hasRows ? 'btn' : 'btn primary' })
    const foot = element('p', { class: 'soft foot' }, new URL(this.#service ?? location.href).host)
    if (hasRows && times.zone !== undefined) foot.append(element('span', {}, t.times(times.zone)))
    foot.append(this.#link('/account/profile#forum-wallet', t.hide))
    this.#show(
      'wallet',
      element('div', { class: 'head' }, figure, hasRows ? earn : ''),
      hasRows
        ? element('ul', {}, ...rows)
        : element('div', { class: 'state' }, iconOf('wallet'), element('p', {}, t.none), earn),
      this.#link('/account', hasRows ? t.all : t.wallet, { class: 'all' }),
      foot,
    )
  }

  /** @param {string} state @param {(Node | string)[]} children */
  #show(state, ...children) {
    this.dataset.state = state
    const section = element('section', { 'aria-label': this.#texts.wallet, 'aria-live': 'polite' })
    section.setAttribute('aria-busy', String(state === 'loading'))
    section.append(...children)
    this.#root.replaceChildren(section)
  }
}

/** Makes the element known to the page, once. */
export function defineTesseraWallet() {
  if (customElements.get('tessera-wallet') === undefined)
    customElements.define('tessera-wallet', TesseraWallet)
}
