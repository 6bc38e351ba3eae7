// @ts-check
/// <reference lib="dom" />
/**
 * The script of the forum's pages. It uses the element of the theme component as Discourse's adapter does: the wallet in the menu, and
 * links to pay and to tip at posts.
 */
import {
  addPayLinks,
  defineTesseraWallet,
  tipAddress,
} from '../discourse-theme/javascripts/discourse/lib/tessera-wallet.js'

const { service = '', payments = '', reader, tips, tipText = '' } = document.body.dataset
const language = document.documentElement.lang
const readerIs = reader === undefined ? null : { id: Number(reader) }

defineTesseraWallet()

for (const post of document.querySelectorAll('.cooked')) addPayLinks(post, [service, payments], language)

if (tips !== undefined)
  for (const menu of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('.post-menu'))) {
    const { userId, username, topicId, slug, number } = menu.dataset
    const post = {
      user_id: Number(userId),
      ...(username === undefined ? {} : { username }),
      post_number: Number(number),
      topic_id: Number(topicId),
      ...(slug === undefined ? {} : { topic: { slug } }),
    }
    const href = tipAddress(service, post, readerIs)
    if (href === undefined) continue
    const link = document.createElement('a')
    Object.assign(link, { href, target: '_blank', rel: 'noopener noreferrer', className: 'btn' })
    link.textContent = tipText
    link.setAttribute('aria-label', `${tipText}: @${username}`)
    menu.append(link)
  }

const button = /** @type {HTMLButtonElement | null} */ (document.querySelector('#user-menu'))
const panel = /** @type {HTMLElement | null} */ (document.querySelector('#user-panel'))

/** Opens the menu with a new wallet, or closes it. The element asks the service only while it is in the page. @param {boolean} isOpen */
function setOpen(isOpen) {
  if (!button || !panel) return
  button.setAttribute('aria-expanded', String(isOpen))
  panel.hidden = !isOpen
  panel.querySelector('tessera-wallet')?.remove()
  if (!isOpen) return
  const wallet = document.createElement('tessera-wallet')
  for (const [name, value] of Object.entries({ service, 'forum-id': reader ?? '', lang: language }))
    wallet.setAttribute(name, value)
  panel.prepend(wallet)
}

button?.addEventListener('click', () => setOpen(panel?.hidden === true))
document.addEventListener('click', ({ target }) => {
  if (
    panel?.hidden === false &&
    !button?.contains(/** @type {Node} */ (target)) &&
    !panel.contains(/** @type {Node} */ (target))
  )
    setOpen(false)
})
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || panel?.hidden !== false) return
  setOpen(false)
  button?.focus()
})
