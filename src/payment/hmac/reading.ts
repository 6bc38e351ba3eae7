/** Reads the parameters of a request by its shape. */
import type { z } from 'zod'
import { AppError } from '../../platform/errors.ts'
import type { FlatParameters } from '../wire-fields/fields.ts'

type Members = Readonly<Record<string, z.ZodType>>
type ReadMember<Shape extends Members> = <Name extends string & keyof Shape>(
  name: Name,
) => z.output<Shape[Name]>

/**
 * Makes the reader of one request, which checks and returns one parameter. An empty parameter counts as absent. Throws
 * parameter_missing with the names of all absent required parameters; the reader throws what `checked` throws.
 */
export function readerOf<Shape extends Members>(
  { shape }: { shape: Shape },
  parameters: FlatParameters,
): ReadMember<Shape> {
  const missing = Object.entries(shape)
    .filter(([name, schema]) => !parameters[name] && !isOptional(schema))
    .map(([name]) => name)
  if (missing.length > 0) throw new AppError('parameter_missing', `Missing parameter: ${missing.join(', ')}`)
  return (name) => checked(name, shape[name]!, parameters[name] || undefined)
}

/** Checks a value by its schema. Throws parameter_invalid with the parameter's name and its rule. */
export function checked<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  value: string | undefined,
): z.output<Schema> {
  const { success, data, error } = schema.safeParse(value)
  if (!success) throw new AppError('parameter_invalid', `Invalid ${name}: ${error.issues[0]!.message}`)
  return data
}

function isOptional(schema: z.ZodType): boolean {
  return schema._zod.optin === 'optional'
}
