/** Reads the form of a group of settings: values as people type them, such as 5 for 5%, and as they are stored. */
import { z } from 'zod'
import type { SettingControl } from '../../core/setting-kinds.ts'
import { crossedBounds, type SettingName } from '../../core/setting-values.ts'
import { type SettingState, validated } from '../../core/settings.ts'
import { AppError } from '../../platform/errors.ts'
import { percentOf, shareOf } from '../wording/percent.ts'
import { colourIn } from './brand-sample.ts'

/** A form field of this prefix has the stored value that the page showed. */
export const SHOWN = 'shown.'

const Fields = z.record(z.string(), z.union([z.string(), z.array(z.string())]))
export type Fields = Record<string, string>

/** Returns the fields of a form by name; of repeated fields the last. */
export function fieldsOf(body: unknown): Fields {
  const { data = {} } = Fields.safeParse(body ?? {})
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : (value.at(-1) ?? ''),
    ]),
  )
}

const isNumber = ({ kind }: SettingControl) =>
  kind === 'number' || kind === 'points' || kind === 'pointsOrNone' || kind === 'idOrNone'

/** Returns a typed value as it is stored. Undefined when it cannot be read. */
function storedOf(control: SettingControl, typed: string): string | undefined {
  if (control.kind === 'rate') return shareOf(typed)
  if (control.kind === 'colour') return colourIn(typed) ?? typed.trim()
  if (isNumber(control)) return typed.replace(/(?<=\d)[,，\s_](?=\d)/g, '').trim()
  return typed.replaceAll('\r\n', '\n').trim()
}

/** Whether two stored values mean the same, such as 0.10 and 0.1. */
function isSame(control: SettingControl, one: string, other: string): boolean {
  return control.kind === 'rate' ? percentOf(one) === percentOf(other) : one === other
}

export type SettingDraft = {
  name: SettingName
  /** The stored values before and after. */
  before: string
  after: string
}

/**
 * `changed`: another administrator has changed it since the page was shown. `crossed`: it exceeds the largest transfer.
 * `crossedLater`: it does together with a change that waits for its approval.
 */
export type Problem = 'invalid' | 'changed' | 'crossed' | 'crossedLater'

export type Draft = {
  changes: SettingDraft[]
  problems: Map<SettingName, Problem>
  /** What was typed, by setting. */
  typed: Map<SettingName, string>
}

/**
 * Reads the settings of a form. A setting counts as changed if it differs from what the page showed. A switch that is off
 * sends nothing but what the page showed.
 */
export function readDraft(settings: SettingState[], fields: Fields): Draft {
  const draft: Draft = { changes: [], problems: new Map(), typed: new Map() }
  for (const { name, control, value } of settings) {
    const shown = fields[SHOWN + name] ?? value
    const isOff =
      control.kind === 'choice' && fields[SHOWN + name] !== undefined && fields[name] === undefined
    const typed = isOff ? offOf(control) : fields[name]
    if (typed === undefined) continue
    draft.typed.set(name, typed)
    const after = checked(name, control, typed)
    if (after === undefined) draft.problems.set(name, 'invalid')
    else if (isSame(control, after, shown)) continue
    else if (!isSame(control, shown, value) && !isSame(control, after, value))
      draft.problems.set(name, 'changed')
    else if (!isSame(control, after, value)) draft.changes.push({ name, before: value, after })
  }
  return draft
}

type Values = readonly { name: string; value: string }[]

/**
 * Notes a smallest transfer of the draft that exceeds the largest one. `settings` are all, with their values in force.
 * `waiting` are the changes that wait for their approval.
 */
export function noteCrossedBounds({ changes, problems }: Draft, settings: Values, waiting: Values): void {
  const drafted = changes.map(({ name, after }) => ({ name, value: after }))
  const note = (problem: Problem, values: Values) => {
    const textOf = new Map([...values, ...drafted].map(({ name, value }) => [name, value]))
    const [least] =
      crossedBounds(
        changes.map(({ name }) => name),
        (name) => textOf.get(name)!,
      ) ?? []
    if (least !== undefined) problems.set(least, problem)
  }
  note('crossedLater', [...settings, ...waiting])
  note('crossed', settings)
}

/** The choice of a switch that is off: the other one than `on` or `open`. */
function offOf({ options }: SettingControl & { kind: 'choice' }): string {
  return options.find((option) => option !== 'on' && option !== 'open')!
}

function checked(name: SettingName, control: SettingControl, typed: string): string | undefined {
  const stored = storedOf(control, typed)
  if (stored === undefined) return undefined
  try {
    return validated(name, stored)
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_form') return undefined
    throw error
  }
}
