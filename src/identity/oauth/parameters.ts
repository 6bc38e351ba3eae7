/** OAuth's reading of parameters (RFC 6749 3.1): none may be given twice, and one without a value counts as absent. */
import type { z } from 'zod'
import { AppError } from '../../platform/errors.ts'
import type { Parameters } from '../../web/parameters.ts'

/** What was sent, once each and never empty. Prototype-free. */
export type Single = Readonly<Record<string, string | undefined>>

/** Throws invalid_request when any parameter, known or not, was given twice. */
export function singleValues(sent: Parameters): Single {
  const values: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(sent)) {
    if (typeof value !== 'string') throw new AppError('invalid_request', `${name} was given more than once`)
    if (value !== '') values[name] = value
  }
  return values
}

/** The parameters of a request of this shape, as text: each may be missing. */
export type Sent<Shape extends z.ZodObject> = Readonly<
  Partial<Record<string & keyof Shape['shape'], string | undefined>>
>

/**
 * The values of a form body that are members of this shape. Throws invalid_request when there is no body, or as
 * `singleValues` does.
 */
export function formValues<Shape extends z.ZodObject>(
  { shape }: Shape,
  body: Parameters | undefined,
): Sent<Shape> {
  if (body === undefined) throw new AppError('invalid_request', 'A form body is required')
  const values = singleValues(body)
  return Object.fromEntries(Object.keys(shape).map((name) => [name, values[name]])) as Sent<Shape>
}

/** Throws invalid_request when the parameter is missing. */
export function requiredValue<Name extends string>(
  values: Readonly<Partial<Record<Name, string | undefined>>>,
  name: Name,
): string {
  const value = values[name]
  if (value === undefined) throw new AppError('invalid_request', `${name} is missing`)
  return value
}

/** One parameter on its own, for those that matter before the rest is looked at. */
export function singleValue(sent: Parameters, name: string): string | undefined {
  const value = sent[name]
  if (Array.isArray(value)) throw new AppError('invalid_request', `${name} was given more than once`)
  return value === '' ? undefined : value
}

/** The address with more parameters appended to its text: parsing and printing it again could change it. */
export function withParameters(uri: string, parameters: Record<string, string>): string {
  const join = !uri.includes('?') ? '?' : /[?&]$/.test(uri) ? '' : '&'
  return uri + join + new URLSearchParams(parameters).toString()
}

/** The names in a space-separated list (scope, prompt), each once, in the order sent. */
export function namesIn(list: string): string[] {
  return [...new Set(list.split(' ').filter((name) => name !== ''))]
}
