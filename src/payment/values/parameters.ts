/** The parameters of both doors: flat text, from forms and from JSON alike. */
import { malformed } from '../../web/parameters.ts'

/** Flat parameters as received, decoded. */
export type FlatParameters = Readonly<Record<string, string>>

/**
 * Reads a body or a query as flat strings; integers of a JSON body become their decimal text. Throws malformed_request
 * for a doubled parameter, a nested value, and any other value that two parsers could read differently.
 */
export function flatParameters(received: unknown): FlatParameters {
  if (received === undefined || received === null) return {}
  if (typeof received !== 'object' || Array.isArray(received)) {
    throw malformed('The body must be form parameters or a flat JSON object')
  }
  const parameters: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(received)) {
    if (Array.isArray(value)) throw malformed(`The parameter ${name} was given more than once`)
    if (typeof value !== 'string' && !Number.isSafeInteger(value)) {
      throw malformed(`The parameter ${name} must be text or an integer`)
    }
    parameters[name] = String(value)
  }
  return parameters
}
