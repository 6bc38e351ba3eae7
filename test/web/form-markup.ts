/** Reads the forms of a page as a browser does: what their fields hold, and which are marked as wrong. */
import { attribute, unescaped } from '../harness/markup.ts'

export type Field = {
  name: string
  /** The type of an input, or the name of another element. */
  type: string
  value: string
  /** What it takes: its `inputmode`, or else its type. */
  mode: string
  /** Whether people type in it. */
  isTyped: boolean
  /** Whether no answer may hold its value. */
  isSecret: boolean
  isRequired: boolean
  /** Whether it is marked, and described by a problem. */
  isWrong: boolean
  hasFocus: boolean
}

export type Form = {
  action: string
  /** All but the hidden ones. */
  fields: Field[]
  /** What it sends as it is, by its first button. */
  values: Record<string, string>
  /** Whether it is a form of this route, with these values. */
  isOf(route: string, values?: Record<string, string>): boolean
}

/** Fields of codes and secrets, and one into which people paste their private key. */
const SECRETS = ['code', 'recovery_code', 'client_secret', 'public_key']
const TYPED = ['text', 'url', 'email', 'password', 'textarea']

export function formsIn(html: string): Form[] {
  const forms = html.matchAll(/<form method="post" action="([^"]*)"[^>]*>(.*?)<\/form>/gs)
  return [...forms].map(([, address = '', inner = '']) => {
    const action = unescaped(address)
    const elements = inner.matchAll(/<input\b[^>]*>|<textarea\b.*?<\/textarea>|<select\b.*?<\/select>/gs)
    // Of radio buttons only the chosen one is a field.
    const fields = [...elements]
      .map(([element]) => fieldIn(element, html))
      .filter(({ type, value }) => type !== 'radio' || value !== '')
    const [button = ''] = /<button(?![^>]*\btype="button")[^>]*>/.exec(inner) ?? []
    const sent = fields.filter(({ type, value }) => type !== 'checkbox' || value !== '')
    const values = Object.fromEntries([
      ...sent.map(({ name, value }) => [name, value]),
      ...(button.includes(' name=') ? [[attribute(button, 'name'), attribute(button, 'value')]] : []),
    ])
    return {
      action,
      fields: fields.filter(({ type }) => type !== 'hidden'),
      values,
      isOf: (route, asked = {}) =>
        new RegExp(`^${route.replaceAll(/:[^/]+/g, '[^/]+')}$`).test(action.split('?')[0]!) &&
        Object.entries(asked).every(([name, value]) => values[name] === value),
    }
  })
}

function fieldIn(element: string, html: string): Field {
  const [tag = '', kind = ''] = /^<(\w+)[^>]*>/.exec(element) ?? []
  const type = kind === 'input' ? attribute(tag, 'type') : kind
  const name = attribute(tag, 'name')
  const described = attribute(tag, 'aria-describedby').split(' ')
  return {
    name,
    type,
    value: valueIn(element, tag, type),
    mode: attribute(tag, 'inputmode') || type,
    isTyped: TYPED.includes(type) && !/ hidden\b/.test(tag),
    isSecret: type === 'password' || SECRETS.includes(name),
    isRequired: / required\b/.test(tag),
    isWrong: tag.includes(' aria-invalid="true"') && described.some((id) => isProblem(html, id)),
    hasFocus: / autofocus\b/.test(tag),
  }
}

function valueIn(element: string, tag: string, type: string): string {
  if (type === 'textarea') return unescaped(element.slice(tag.length, -'</textarea>'.length))
  if ((type === 'checkbox' || type === 'radio') && !/ checked\b/.test(tag)) return ''
  if (type !== 'select') return attribute(tag, 'value')
  const [option = '', , text = ''] =
    /<option( [^>]*)? selected[^>]*>([^<]*)/.exec(element) ?? /<option( [^>]*)?>([^<]*)/.exec(element) ?? []
  return option.includes(' value=') ? attribute(option, 'value') : unescaped(text)
}

/** A problem stands beside its field, or above a form of which any part may be wrong. */
function isProblem(html: string, id: string): boolean {
  return (
    html.includes(`<p class="problem" id="${id}"`) ||
    html.includes(`<p class="problem" role="alert" id="${id}"`) ||
    html.includes(`<div class="flash bad" role="alert" id="${id}"`)
  )
}

/** What a field must refuse: nothing where something is required, too much, and what it cannot mean. */
export function faultsOf({ isRequired, mode }: Field): string[] {
  const unreadable = { numeric: 'soon', decimal: 'soon', url: 'no address', email: 'nobody' }[mode]
  return [...(isRequired ? [''] : []), 'x'.repeat(5_000), ...(unreadable === undefined ? [] : [unreadable])]
}
