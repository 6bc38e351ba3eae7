/** Reads parameters by the rules of OAuth (RFC 6749 3.1): no parameter may be repeated, and an empty one is absent. */
import type { z } from 'zod'
import { AppError } from '../../platform/errors.ts'
import type { Parameters } from '../parameters.ts'

/** Parameters without repeated and empty values, in an object without a prototype. */
export type Single = Readonly<Record<string, string | undefined>>

/** Returns the single values. Throws invalid_request when any parameter, known or not, is repeated. */
export function singleValues(sent: Parameters): Single {
  const values: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(sent)) {
    if (typeof value !== 'string') throw new AppError('invalid_request', `${name} was given more than once`)
    if (value !== '') values[name] = value
  }
  return values
}

/** The parameters of a request of this shape, as text. Each may be missing. */
export type Sent<Shape extends z.ZodObject> = Readonly<
  Partial<Record<string & keyof Shape['shape'], string | undefined>>
>

/**
 * Returns the values of a form body that this shape names. Throws invalid_request without a body or for a repeated parameter, and
 * invalid_target for a repeated resource (RFC 8707).
 */
export function formValues<Shape extends z.ZodObject>(
  { shape }: Shape,
  body: Parameters | undefined,
): Sent<Shape> {
  if (body === undefined) throw new AppError('invalid_request', 'A form body is required')
  if (Array.isArray(body.resource)) throw new AppError('invalid_target', 'resource was given more than once')
  const values = singleValues(body)
  return Object.fromEntries(Object.keys(shape).map((name) => [name, values[name]])) as Sent<Shape>
}

/** Returns a parameter. Throws invalid_request when it is missing. */
export function requiredValue<Name extends string>(
  values: Readonly<Partial<Record<Name, string | undefined>>>,
  name: Name,
): string {
  const value = values[name]
  if (value === undefined) throw new AppError('invalid_request', `${name} is missing`)
  return value
}

/** Returns one parameter, before the others are checked. Throws invalid_request when it is repeated. */
export function singleValue(sent: Parameters, name: string): string | undefined {
  const value = sent[name]
  if (Array.isArray(value)) throw new AppError('invalid_request', `${name} was given more than once`)
  return value === '' ? undefined : value
}

/** Appends parameters to an address as text, because parsing and serialising the address could change it. */
export function withParameters(uri: string, parameters: Record<string, string>): string {
  const join = !uri.includes('?') ? '?' : /[?&]$/.test(uri) ? '' : '&'
  return uri + join + new URLSearchParams(parameters).toString()
}

/** Returns the names of a space-separated list (scope, prompt), each once, in the order sent. */
export function namesIn(list: string): string[] {
  return [...new Set(list.split(' ').filter((name) => name !== ''))]
}
