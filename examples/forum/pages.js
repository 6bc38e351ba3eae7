// @ts-check
/** The pages of the forum. */

/** @import { Community, Member } from './community.js' */

/**
 * @param {Member | undefined} member the member who is logged in
 * @param {{ siteUrl: string | undefined, community: Community }} forum `siteUrl` is the address of Tessera
 */
export function homePage(member, { siteUrl, community }) {
  const elsewhere =
    siteUrl === undefined ? '' : `<p><a href="${escapeHtml(siteUrl)}/sign-in">Sign in to Tessera</a></p>`
  if (member === undefined) {
    return page('Example forum', `<p>Nobody is logged in.</p><p><a href="/login">Log in</a></p>${elsewhere}`)
  }
  const who = `<p>Logged in as <strong>@${escapeHtml(member.username)}</strong>.</p>`
  const logOut = '<form method="post" action="/logout"><button>Log out</button></form>'
  const isStaff = member.moderator || member.admin
  const others = [...community.members.values()].filter((other) => other !== member)
  return page('Example forum', who + elsewhere + logOut + (isStaff ? staffForm(others, community) : ''))
}

/**
 * @param {Member[]} members
 * @param {Community} community
 */
function staffForm(members, community) {
  const rows = members.map((member) => {
    const act = community.isSuspended(member) ? 'Let in again' : 'Suspend for a week'
    return `<li><button name="id" value="${member.id}">${act} <small>@${escapeHtml(member.username)}</small></button></li>`
  })
  return `<h2>For moderators</h2><form method="post" action="/suspend"><ul>${rows.join('')}</ul></form>`
}

/**
 * @param {Member[]} members
 * @param {Community} community
 */
export function loginPage(members, community) {
  const rows = members.map((member) => {
    const isSuspended = community.isSuspended(member)
    const marks = [
      `trust level ${member.trust_level}`,
      member.admin && 'administrator',
      isSuspended && 'suspended',
    ]
    const note = escapeHtml(marks.filter(Boolean).join(', '))
    return `<li><button name="id" value="${member.id}"${isSuspended ? ' disabled' : ''}>${escapeHtml(member.name ?? member.username)} <small>@${escapeHtml(member.username)} · ${note}</small></button></li>`
  })
  return page(
    'Log in to the forum',
    `<p>This forum is an example: choose who you are.</p><form method="post" action="/login"><ul>${rows.join('')}</ul></form>`,
  )
}

/** @param {string} text */
export function messagePage(text) {
  return page('Example forum', `<p>${escapeHtml(text)}</p><p><a href="/">To the forum</a></p>`)
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
<title>${title}</title>
<style>
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #1f2933; background: #f4f1ea }
main { max-width: 30rem; margin: 8vh auto; padding: 2rem; background: #fff; border-radius: 12px; box-shadow: 0 1px 3px #0002 }
h1 { margin-top: 0; font-size: 1.4rem }
h2 { margin: 2rem 0 0; font-size: 1.1rem }
ul { list-style: none; padding: 0 }
button { font: inherit; padding: .6rem 1rem; border: 1px solid #c9c4b8; border-radius: 8px; background: #fff; cursor: pointer }
li button { width: 100%; margin-bottom: .5rem; text-align: left }
button:hover { background: #f4f1ea }
small { color: #66717d }
</style>
</head>
<body><main><h1>${title}</h1>${body}</main></body>
</html>
`
}

/** @param {string} text */
function escapeHtml(text) {
  const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return text.replace(/[&<>"']/g, (character) => entities[/** @type {keyof typeof entities} */ (character)])
}
