// @ts-check
/** The pages of the forum. */
import { escapeHtml } from './html.js'
import { textsIn } from './texts.js'

/** @import { Community, Member } from './community.js' */
/** @import { Language } from './texts.js' */
/** @import { Topic } from './topics.js' */

/**
 * What every page knows. `siteUrl` is the address of Tessera, and `paymentUrl` that of its payments.
 * @typedef {{
 *   language: Language, member?: Member | undefined, siteUrl?: string | undefined, paymentUrl?: string | undefined,
 *   hasTips?: boolean | undefined
 * }} View
 * @typedef {{ topic: Topic, posts: string[] }} Shown the posts as HTML
 */

/**
 * @param {View} view
 * @param {Community} community
 * @param {Shown | undefined} shown
 */
export function homePage(view, community, shown) {
  const { member, siteUrl, language } = view
  const t = textsIn(language)
  const elsewhere =
    siteUrl === undefined ? '' : `<p><a href="${escapeHtml(siteUrl)}/account">${t.service}</a></p>`
  const topic = shown === undefined ? '' : topicOf(shown, community)
  if (member === undefined)
    return page(view, t.title, `<p>${t.loggedOut} <a href="/login">${t.logIn}</a></p>${elsewhere}${topic}`)
  const who = `<p>${t.as} <strong>@${escapeHtml(member.username)}</strong></p>`
  const isStaff = member.moderator || member.admin
  const others = [...community.members.values()].filter((other) => other !== member)
  const staff = isStaff ? staffForm(others, community, language) : ''
  return page(view, t.title, who + elsewhere + topic + staff)
}

/**
 * @param {Shown} shown
 * @param {Community} community
 */
function topicOf({ topic, posts }, community) {
  const shown = topic.posts.map(({ user }, i) => {
    const author = community.members.get(user)
    const username = escapeHtml(author?.username ?? '')
    const data = { 'user-id': user, username, 'topic-id': topic.id, slug: topic.slug, number: i + 1 }
    const attributes = Object.entries(data).map(([name, value]) => `data-${name}="${value}"`)
    return `<article class="post" id="post_${i + 1}">
<header><span class="avatar" aria-hidden="true">${initialOf(username)}</span><strong>@${username}</strong></header>
<div class="cooked">${posts[i] ?? ''}</div>
<div class="post-menu" ${attributes.join(' ')}></div></article>`
  })
  return `<section><h2>${escapeHtml(topic.title)}</h2>${shown.join('')}</section>`
}

/** @param {string} name */
const initialOf = (name) => [...name][0]?.toUpperCase() ?? ''

/**
 * @param {Member[]} members
 * @param {Community} community
 * @param {Language} language
 */
function staffForm(members, community, language) {
  const t = textsIn(language)
  const rows = members.map((member) => {
    const act = community.isSuspended(member) ? t.letIn : t.suspend
    return `<li><button name="id" value="${member.id}">${act} <small>@${escapeHtml(member.username)}</small></button></li>`
  })
  return `<h2>${t.moderators}</h2><form method="post" action="/suspend"><ul>${rows.join('')}</ul></form>`
}

/**
 * @param {View} view
 * @param {Member[]} members
 * @param {Community} community
 */
export function loginPage(view, members, community) {
  const t = textsIn(view.language)
  const rows = members.map((member) => {
    const isSuspended = community.isSuspended(member)
    const marks = [
      `${t.level} ${member.trust_level}`,
      member.admin && t.administrator,
      isSuspended && t.suspended,
    ]
    const note = escapeHtml(marks.filter(Boolean).join(view.language === 'en' ? ', ' : '、'))
    return `<li><button name="id" value="${member.id}"${isSuspended ? ' disabled' : ''}>${escapeHtml(member.name ?? member.username)} <small>@${escapeHtml(member.username)} · ${note}</small></button></li>`
  })
  return page(
    view,
    t.logInTitle,
    `<p>${t.logInLead}</p><form method="post" action="/login"><ul>${rows.join('')}</ul></form>`,
  )
}

/** @param {string} text @param {View} view */
export function messagePage(text, view = { language: 'en' }) {
  const t = textsIn(view.language)
  return page(view, t.title, `<p>${escapeHtml(text)}</p><p><a href="/">${t.toForum}</a></p>`)
}

/** @param {View} view */
function bar({ language, member }) {
  const t = textsIn(language)
  const other = language === 'en' ? 'zh-CN' : 'en'
  const menu =
    member === undefined
      ? ''
      : `<button id="user-menu" class="avatar" aria-expanded="false" aria-controls="user-panel" aria-label="${t.menu}">${initialOf(escapeHtml(member.username))}</button>
<div id="user-panel" hidden><form method="post" action="/logout"><button>${t.logOut}</button></form></div>`
  return `<nav><a href="/">${t.title}</a><a href="/language?to=${other}" lang="${other}">${t.language}</a>${menu}</nav>`
}

/**
 * @param {View} view
 * @param {string} title
 * @param {string} body
 */
function page(view, title, body) {
  const { language, member, siteUrl, paymentUrl, hasTips } = view
  const data = {
    service: siteUrl,
    payments: paymentUrl,
    reader: member?.id,
    ...(hasTips ? { tips: 'on', 'tip-text': language === 'en' ? 'Tip' : '打赏' } : {}),
  }
  const attributes = Object.entries(data).map(([name, value]) =>
    value === undefined ? '' : ` data-${name}="${escapeHtml(String(value))}"`,
  )
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
${siteUrl === undefined ? '' : '<script type="module" src="/client.js"></script>'}
</head>
<body${attributes.join('')}>${bar(view)}<main><h1>${title}</h1>${body}</main></body>
</html>
`
}

/** The colours have the names of Discourse, which the element of the wallet reads. */
const STYLE = `
:root { --primary: #222; --secondary: #fff; --tertiary: #0b6bcb; --primary-low: #e9e9e9; --primary-medium: #8b8b8b; --primary-high: #5c5c5c;
  --success: #0a7a3f; --danger: #b3261e; --ground: #f4f1ea; color-scheme: light dark }
@media (prefers-color-scheme: dark) { :root { --primary: #ddd; --secondary: #222; --tertiary: #5fb0f5; --primary-low: #3a3a3a;
  --primary-medium: #8b8b8b; --primary-high: #b5b5b5; --success: #4cc38a; --danger: #ff8a80; --ground: #161616 } }
* { box-sizing: border-box }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: var(--primary); background: var(--ground) }
a { color: var(--tertiary) }
nav { position: relative; display: flex; gap: 1rem; align-items: center; padding: .5rem 1rem; background: var(--secondary); box-shadow: 0 1px 3px #0003 }
nav a { display: inline-flex; align-items: center; min-height: 44px }
nav a:first-child { margin-right: auto; color: inherit; font-weight: 700; text-decoration: none }
main { max-width: 44rem; margin: 1.5rem auto; padding: 1.5rem; background: var(--secondary); border-radius: 12px; box-shadow: 0 1px 3px #0002 }
h1 { margin: 0; font-size: 1.4rem }
h2 { margin: 1.5rem 0 0; font-size: 1.15rem }
ul { list-style: none; padding: 0 }
button, .btn { font: inherit; min-height: 44px; padding: .5rem 1rem; border: 1px solid var(--primary-medium); border-radius: 8px; background: none;
  color: inherit; cursor: pointer }
.btn { display: inline-flex; align-items: center; text-decoration: none }
.btn-primary { border: 0; background: var(--tertiary); color: var(--secondary) }
li button { width: 100%; margin-bottom: .5rem; text-align: left }
button:hover { background: var(--primary-low) }
small { color: var(--primary-high) }
.avatar { display: inline-flex; flex: none; align-items: center; justify-content: center; width: 44px; height: 44px; padding: 0; border: 0;
  border-radius: 50%; background: var(--primary-low); font-weight: 700 }
#user-panel { position: absolute; z-index: 1; top: 100%; right: 0; width: min(22rem, 100%); background: var(--secondary); box-shadow: 0 4px 16px #0004 }
#user-panel form { border-top: 1px solid var(--primary-low) }
#user-panel form button { width: 100%; border: 0; border-radius: 0; color: var(--primary-high) }
.post { padding: 1rem 0; border-bottom: 1px solid var(--primary-low) }
.post:last-child { border: 0 }
.post header { display: flex; gap: .75rem; align-items: center }
.cooked { overflow-wrap: anywhere }
.post-menu { display: flex; gap: .5rem; justify-content: flex-end }
.onebox { margin: 1rem 0; padding: 1rem; border: 1px solid var(--primary-low); border-radius: 8px }
.onebox .source, .label1 { font-size: .875rem }
.onebox h3 { margin: .25rem 0; font-size: 1.05rem }
.onebox p { margin: .25rem 0 }
.onebox .tessera-pay { margin-top: .5rem }
.thumbnail { float: right; width: 40%; max-width: 12rem; height: auto; margin: 0 0 .5rem 1rem; border-radius: 6px }
.onebox::after { content: ''; display: block; clear: both }
@media (max-width: 30rem) { main { margin: 0; padding: 1rem; border-radius: 0 } .thumbnail { float: none; width: 100%; max-width: none; margin: 0 } }
`
