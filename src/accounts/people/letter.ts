/**
 * Writes a mail as plain text and as HTML. Both say the same, in the same order: what happened, the facts, one button. The
 * HTML names no address but this site's, and its only picture is the logo that the mail carries. spec/accounts 4.3.
 */
import { coloursOf, NEUTRALS, OWN_ACCENT } from '../../core/brand.ts'
import { escapeHtml } from '../../web/html.ts'
import type { Language } from '../../web/languages.ts'
import { spaceAfter } from '../../web/spacing.ts'

/** A mail in the words of one language and site. */
export type Letter = {
  language: Language
  site: string
  /** The address of this site. */
  address: string
  title: string
  greeting: string
  /** What happened. */
  text: string
  facts: [term: string, value: string][]
  /** What the reader can do, after the button that says no. */
  answers: [question: string, answer: string][]
  /** `hint` says what to do with a button that does not open. */
  button?: { label: string; url: string; isAlarm: boolean; hint: string } | undefined
  /** About the button's link. */
  note?: string | undefined
  /** Where the reader chooses to get no more mails of this kind. */
  choice?: { label: string; url: string } | undefined
  /** To whom this mail was sent, and what this site never asks for. */
  footer: string[]
}

/** The colours of tessera.css. Those of the button, the links and the strip come from the site's accent. */
const LIGHT = { ...NEUTRALS.light, alarm: '#a02d1c', onAlarm: '#ffffff' }
const DARK: typeof LIGHT = { ...NEUTRALS.dark, alarm: '#ffa18e', onAlarm: '#3d1f19' }
const GOLD = '#e6ae48'

const FONTS: Record<Language, string> = {
  en: "-apple-system,'Segoe UI',Roboto,Arial,sans-serif",
  'zh-CN': "-apple-system,'PingFang SC','Microsoft YaHei','Noto Sans SC','Noto Sans CJK SC',sans-serif",
}

/** The name of the attached logo in the HTML. */
export const LOGO_CID = 'logo'

/** Returns the part for readers without HTML. */
export function letterText(letter: Letter): string {
  const { language, facts, answers, button, note } = letter
  const width = Math.max(0, ...facts.map(([term]) => columnsOf(term)))
  const rows = facts.map(([term, value]) => `  ${term}${' '.repeat(width - columnsOf(term))}  ${value}`)
  const colon = language === 'en' ? ':' : '：'
  const blocks = [
    letter.greeting,
    letter.text,
    rows.join('\n'),
    button && `${button.label}${colon}\n${button.url}`,
    ...answers.map(([question, answer]) => question + spaceAfter(question) + answer),
    note,
    [
      '-- ',
      ...letter.footer,
      ...(letter.choice ? [`${letter.choice.label}${colon} ${letter.choice.url}`] : []),
      `${letter.site} · ${letter.address}/`,
    ].join('\n'),
  ]
  return `${blocks.filter(Boolean).join('\n\n')}\n`
}

/** The columns of a text in a mail program, where a Chinese character takes two. */
const columnsOf = (text: string) => [...text].reduce((sum, sign) => sum + (sign > '\u2e7f' ? 2 : 1), 0)

/**
 * Returns the HTML part. Mail programs read no style sheets and little of CSS, so it consists of tables with inline styles.
 * @param look the site's accent, or nothing for the service's own, and whether the mail carries the logo.
 */
export function letterHtml(letter: Letter, look: { accent: string; hasLogo: boolean }): string {
  const accent = look.accent || OWN_ACCENT
  const [light, dark] = [coloursOf(accent, 'light'), coloursOf(accent, 'dark')]
  const { language, title, facts, site, address } = letter
  const preview = facts.length === 0 ? letter.text : facts.map(([, value]) => value).join(' · ')
  const head = `<td style="padding:0 4px 12px">${headOf(letter, look.hasLogo)}</td>`
  const card = `<td class="card" bgcolor="${LIGHT.card}" style="background:${LIGHT.card};border:1px solid ${LIGHT.line};border-radius:16px;overflow:hidden">
${stripOf(light)}
${table('', `<td class="side" style="padding:28px 32px 30px;overflow-wrap:anywhere">\n${bodyOf(letter, light)}\n</td>`)}
</td>`
  const { choice } = letter
  const lines = [
    ...letter.footer.map(shown),
    ...(choice ? [linkTo(choice.url, light.link, choice.label)] : []),
    `${shown(site)} · ${linkTo(`${address}/`, light.link)}`,
  ]
  const foot = `<td class="soft link" style="padding:16px 4px 0;font-size:13px;line-height:20px;color:${LIGHT.soft};overflow-wrap:anywhere">${lines.join('<br>')}</td>`
  const column = table(
    `style="max-width:560px;text-align:start;font-family:${FONTS[language]}"`,
    [head, card, foot].join('</tr>\n<tr>'),
  )
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${styleOf(dark)}</style>
</head>
<body class="paper" style="margin:0;padding:0;background:${LIGHT.paper}">
<div style="display:none;max-height:0;overflow:hidden">${shown(preview)}</div>
${table(`class="paper" bgcolor="${LIGHT.paper}" style="background:${LIGHT.paper}"`, `<td align="center" style="padding:16px 8px 24px">\n${column}\n</td>`)}
</body>
</html>
`
}

type Colours = ReturnType<typeof coloursOf>

/** Returns the content of the card: the title, the words, the facts, the answers and the button. */
function bodyOf(letter: Letter, colours: Colours): string {
  const { title, greeting, text, facts, answers, button, note } = letter
  const paragraph = (html: string) => block('p', html, 'margin:0 0 16px;font-size:16px;line-height:25px')
  const small = (html: string) =>
    `<p class="soft link" style="margin:16px 0 0;font-size:14px;line-height:22px;color:${LIGHT.soft}">${html}</p>`
  return [
    block('h1', escapeHtml(title), 'margin:0 0 8px;font-size:22px;line-height:30px'),
    paragraph(`${shown(greeting)}<br>${shown(text)}`),
    facts.length > 0 && factsOf(facts),
    button && buttonOf(button, colours),
    ...answers.map(([question, answer]) =>
      small(`<strong>${shown(question)}</strong>${spaceAfter(question)}${shown(answer)}`),
    ),
    note && small(shown(note)),
    button && small(`${shown(button.hint)}<br>${linkTo(button.url, colours.link)}`),
  ]
    .filter(Boolean)
    .join('\n')
}

/** Escapes a text, and keeps the direction of its letters to itself. */
const shown = (text: string) => `<bdi>${escapeHtml(text)}</bdi>`

const table = (attributes: string, cells: string) =>
  `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" ${attributes}><tr>${cells}</tr></table>`

const block = (tag: 'p' | 'h1', html: string, style: string) =>
  `<${tag} class="ink" dir="auto" style="${style};color:${LIGHT.ink}">${html}</${tag}>`

const linkTo = (url: string, colour: string, label = url) =>
  `<a href="${escapeHtml(url)}" style="color:${colour};word-break:break-all">${escapeHtml(label)}</a>`

function headOf({ site }: Letter, hasLogo: boolean): string {
  const logo = `<td width="37"><img src="cid:${LOGO_CID}" width="28" height="28" alt="" style="display:block;border-radius:7px"></td>`
  return `<table role="presentation" cellpadding="0" cellspacing="0"><tr>${hasLogo ? logo : ''}<td class="ink" style="font-size:16px;font-weight:bold;color:${LIGHT.ink}">${shown(site)}</td></tr></table>`
}

/** The strip of three tiles at the top of the card. */
function stripOf({ accent, tint }: Colours): string {
  const tile = (name: string, colour: string, width: string) =>
    `<td class="${name}" height="6" bgcolor="${colour}" style="height:6px;${width}font-size:0;line-height:0;background:${colour}">&nbsp;</td>`
  const gap = '<td width="4" style="width:4px;font-size:0;line-height:0">&nbsp;</td>'
  const tiles = [tile('go', accent, 'width:55%;'), tile('tint', tint, 'width:30%;'), tile('gold', GOLD, '')]
  return table('', tiles.join(gap))
}

function factsOf(facts: Letter['facts']): string {
  const rows = facts.map(([term, value], index) => {
    const line = index === 0 ? '' : `border-top:1px solid ${LIGHT.line};`
    return `<td class="key soft line" width="112" valign="top" style="width:112px;padding:10px 12px 10px 0;${line}font-size:14px;line-height:22px;color:${LIGHT.soft}">${shown(term)}</td><td class="value ink line" valign="top" style="padding:10px 0;${line}font-size:15px;line-height:22px;color:${LIGHT.ink}">${shown(value)}</td>`
  })
  const inner = table('', rows.join('</tr>\n<tr>'))
  return table(
    'style="margin:16px 0"',
    `<td class="well side" bgcolor="${LIGHT.well}" style="background:${LIGHT.well};border-radius:10px;padding:6px 18px">${inner}</td>`,
  )
}

function buttonOf({ label, url, isAlarm }: NonNullable<Letter['button']>, colours: Colours): string {
  const [name, ground, ink] = isAlarm
    ? ['stop', LIGHT.alarm, LIGHT.onAlarm]
    : ['go', colours.accent, colours['on-accent']]
  return `<table role="presentation" class="wide" cellpadding="0" cellspacing="0"><tr><td class="${name}" bgcolor="${ground}" align="center" style="background:${ground};border-radius:10px"><a href="${escapeHtml(url)}" style="display:block;padding:13px 26px;font-size:16px;line-height:22px;font-weight:bold;color:${ink};text-decoration:none">${escapeHtml(label)}</a></td></tr></table>`
}

/** The rules for a dark screen and for a phone, for the mail programs that read them. */
function styleOf(dark: Colours): string {
  return `
@media (prefers-color-scheme: dark) {
.paper { background: ${DARK.paper} !important; }
.card { background: ${DARK.card} !important; border-color: ${DARK.line} !important; }
.well { background: ${DARK.well} !important; }
.ink { color: ${DARK.ink} !important; }
.soft { color: ${DARK.soft} !important; }
.line { border-color: ${DARK.line} !important; }
.go { background: ${dark.accent} !important; }
.go a { color: ${dark['on-accent']} !important; }
.stop { background: ${DARK.alarm} !important; }
.stop a { color: ${DARK.onAlarm} !important; }
.link a { color: ${dark.link} !important; }
.tint { background: ${dark.tint} !important; }
}
@media (max-width: 480px) {
.side { padding-left: 20px !important; padding-right: 20px !important; }
.key { width: 80px !important; }
.key, .value { padding-top: 6px !important; padding-bottom: 6px !important; }
.wide { width: 100% !important; }
}
`
}
