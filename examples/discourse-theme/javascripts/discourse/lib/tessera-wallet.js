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
    latest: 'Newest movements',
    none: 'No movements yet',
    frozen: 'This wallet is frozen',
    loading: 'Loading…',
    from: (/** @type {string} */ host) => `From ${host} · read only when you open it`,
    times: (/** @type {string} */ zone) => `Times in ${zone}`,
    hide: 'Do not show it in the forum',
    states: {
      signIn: ['Sign in to see your wallet', 'Sign in'],
      other: ['Your wallet is open for another member', 'Switch'],
      hidden: ['Your wallet is not shown in the forum', 'Settings'],
      offline: ['The wallet cannot be reached', 'Open'],
    },
    again: 'Try again',
    pay: 'Pay',
    payFor: (/** @type {string} */ title) => `Pay: ${title}`,
  },
  'zh-CN': {
    wallet: '钱包',
    balance: '余额',
    earn: '赚取积分',
    latest: '最近记录',
    none: '还没有记录',
    frozen: '钱包已冻结',
    loading: '读取中…',
    from: (/** @type {string} */ host) => `来自 ${host} · 只在打开时读取`,
    times: (/** @type {string} */ zone) => `时间均为${zone}`,
    hide: '不在论坛显示',
    states: {
      signIn: ['登录后查看钱包', '登录'],
      other: ['钱包当前登录的是另一个账号', '切换'],
      hidden: ['你已关闭在论坛显示钱包', '设置'],
      offline: ['暂时无法连接钱包', '打开'],
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

/** The forum's own colours, and others where it has none. */
const STYLE = `
:host { display: block; padding: 0.75rem; color: var(--primary, #222); font-size: var(--font-0, 1rem); line-height: 1.4; }
* { box-sizing: border-box; margin: 0; }
.soft { color: var(--primary-high, #555); font-size: 0.875em; }
.amount { font-size: 1.75em; font-weight: 700; overflow-wrap: anywhere; }
.amount small { font-size: 0.5em; font-weight: 400; }
.links { display: flex; flex-wrap: wrap; gap: 0.5rem; margin-top: 0.75rem; }
.links a, button { display: inline-flex; flex: 1 1 auto; align-items: center; justify-content: center; min-height: 44px;
  padding: 0.25rem 0.875rem; border: 1px solid var(--primary-medium, #767676); border-radius: var(--d-button-border-radius, 4px);
  background: none; color: inherit; font: inherit; font-weight: 700; text-decoration: none; cursor: pointer; }
.links a:hover, button:hover { background: var(--primary-low, #e9e9e9); }
.alarm { color: var(--danger, #b3261e); }
a { color: var(--tertiary, #0b6bcb); }
a:focus-visible, button:focus-visible { outline: 2px solid var(--tertiary, #0b6bcb); outline-offset: 2px; }
h2 { margin-top: 1rem; font-size: 0.875em; color: var(--primary-high, #555); }
ul { list-style: none; padding: 0; }
li { display: flex; gap: 0.75rem; justify-content: space-between; padding: 0.5rem 0; border-bottom: 1px solid var(--primary-low, #e9e9e9); }
li > div { min-width: 0; overflow-wrap: anywhere; }
li > b { white-space: nowrap; font-variant-numeric: tabular-nums; }
li > b.gain { color: var(--success, #0a7a3f); }
.foot { margin-top: 0.75rem; }
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

/**
 * Writes moments as the pages of the service do: in its time zone, or in that of the browser where this one does not know it.
 * @param {string} language
 * @param {string | undefined} time_zone
 */
function timesIn(language, time_zone) {
  /** @param {Intl.DateTimeFormatOptions} options */
  const format = (options) => {
    try {
      return new Intl.DateTimeFormat(language, time_zone ? { ...options, timeZone: time_zone } : options)
    } catch {
      return new Intl.DateTimeFormat(language, options)
    }
  }
  const moments = format({ dateStyle: 'medium', timeStyle: 'short' })
  const zone = format({ timeZoneName: 'longGeneric' })
    .formatToParts(0)
    .find(({ type }) => type === 'timeZoneName')
  return { write: (/** @type {string} */ at) => moments.format(new Date(at)), zone: zone?.value ?? '' }
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

  /** @param {string} path @param {string} text */
  #link(path, text) {
    const base = this.#service
    if (base === undefined) return ''
    return element('a', { href: base + path, target: '_blank', rel: 'noopener noreferrer' }, text)
  }

  /** @param {Refusal} state */
  #showState(state) {
    const [text = '', action = ''] = this.#texts.states[state]
    const links = element('div', { class: 'links' }, this.#link(PATHS[state], action))
    if (state === 'offline' || state === 'signIn') {
      const again = element('button', { type: 'button' }, this.#texts.again)
      again.addEventListener('click', () => this.load())
      links.append(again)
    }
    this.#show(state, element('p', {}, text), links)
  }

  /** @param {Wallet} wallet */
  #showWallet({ balance, unit, frozen, time_zone, movements }) {
    const t = this.#texts
    const numbers = new Intl.NumberFormat(this.#language)
    const times = timesIn(this.#language, time_zone)
    const rows = movements.map(({ at, text, amount }) =>
      element(
        'li',
        {},
        element('div', {}, element('p', {}, String(text)), element('p', { class: 'soft' }, times.write(at))),
        element(
          'b',
          { class: amount > 0 ? 'gain' : '' },
          `${amount > 0 ? '+' : '−'}${numbers.format(Math.abs(amount))}`,
        ),
      ),
    )
    this.#show(
      'wallet',
      element('p', { class: 'soft' }, t.balance),
      element('p', { class: 'amount' }, `${numbers.format(balance)} `, element('small', {}, String(unit))),
      frozen ? element('p', { class: 'alarm' }, t.frozen) : '',
      element('div', { class: 'links' }, this.#link('/account', t.wallet), this.#link('/#earn', t.earn)),
      element('h2', {}, t.latest),
      rows.length > 0 ? element('ul', {}, ...rows) : element('p', { class: 'soft' }, t.none),
      element('p', { class: 'soft foot' }, t.from(new URL(this.#service ?? location.href).host)),
      movements.length > 0 ? element('p', { class: 'soft' }, t.times(times.zone)) : '',
      element('p', { class: 'soft' }, this.#link('/account/profile#forum-wallet', t.hide)),
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
