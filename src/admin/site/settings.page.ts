/**
 * /admin/settings shows the site settings by group, and saves all changes of a group at once. Important changes are
 * confirmed first. Changes that need a second administrator become proposals.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { actorOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import type { SettingControl, Unit } from '../../core/setting-kinds.ts'
import {
  baseOf,
  type Group,
  isSetting,
  placeOf,
  SETTING_NAMES,
  type Section,
  type SettingBaseName,
  type SettingName,
  settingOf,
} from '../../core/setting-values.ts'
import { describeSettings, type SettingState, waitingSettings } from '../../core/settings.ts'
import { AppError } from '../../platform/errors.ts'
import { FormRefused, type FormView, textsIn } from '../../web/forms/forms.ts'
import { listUrl, searchText } from '../../web/lists.ts'
import type { Report } from '../../web/report.ts'
import { POINT, POINTS } from '../../web/site-words.ts'
import { refuseEarlier } from '../proposals/proposal-words.ts'
import { proposeWithin } from '../proposals/proposals.ts'
import { names } from '../wording/setting-names.texts.ts'
import { settingLabel, settingValue, typedValue } from '../wording/setting-words.ts'
import { type BrandSample, brandSample, colourIn, PRESETS } from './brand-sample.ts'
import { effectOf, isLoss } from './setting-effects.ts'
import {
  type Draft,
  type Fields,
  fieldsOf,
  noteCrossedBounds,
  readDraft,
  type SettingDraft,
  SHOWN,
} from './setting-form.ts'

const PATH = '/admin/settings'
const GROUP_NAMES = [...new Set(SETTING_NAMES.map((name) => placeOf(name).group))]
const Asked = z.object({ area: z.enum(GROUP_NAMES).catch('brand') })
const Tried = z.object({ try: z.string().max(20).optional().catch(undefined) })
const Searched = z.object({ q: searchText })

/** A setting of the form. */
export type SettingField = {
  name: SettingName
  control: SettingControl
  unit: Unit | undefined
  /** The stored value, and as people type it. */
  value: string
  typed: string
  /** The default in words, where the value differs from it. */
  standard: string | undefined
  changed: { by: string | null; at: Date } | undefined
}

type Line = { base: SettingBaseName; fields: SettingField[] }

declare module '../../web/views.ts' {
  interface PageData {
    'admin/site/settings': {
      group: Group
      sections: { name: Section; lines: Line[] }[]
      shownPrefix: string
      /** What the colour of the form looks like; the page of the brand alone shows it. */
      sample: BrandSample
      presets: typeof PRESETS
    }
    'admin/site/settings-found': {
      q: string
      found: { name: SettingName; group: Group; label: string; hint: string; value: string }[]
    }
  }
  interface PartData {
    'admin/site/setting-control': {
      field: SettingField
      of: FormView
      hintId: string
      shownPrefix: string
    }
    'admin/site/brand-sample': { sample: BrandSample; presets: typeof PRESETS }
    'admin/site/settings-head': { q?: string; group?: Group }
  }
}

/** Finds where an administrator goes on after a change. */
type FindLink = (request: FastifyRequest, deps: Core) => Promise<Report['link']>

/** Registers the pages. A change requires a recent sign-in. The caller's scope must require an administrator. */
export function settingPages(app: FastifyInstance, deps: Core, linkToNextStep: FindLink): void {
  app.get(PATH, async (request, reply) => {
    const { query, refused } = request
    return show(reply, await describeSettings(deps.db), groupIn(refused?.typed ?? fieldsOf(query)))
  })

  app.get(`${PATH}/find`, async (request, reply) => {
    const { q } = Searched.parse(request.query)
    return showFound(reply, await describeSettings(deps.db), q)
  })

  const requireFresh = requireFreshSignIn(deps)
  // To look at a colour changes nothing.
  const preHandler = async (request: FastifyRequest, reply: FastifyReply) =>
    isTrial(fieldsOf(request.body)) ? undefined : requireFresh(request, reply)
  const config = { page: ({ body }: FastifyRequest) => pathOf(groupIn(fieldsOf(body))) }
  app.post(PATH, { preHandler, config }, async (request, reply) => {
    const fields = fieldsOf(request.body)
    const settings = await describeSettings(deps.db)
    if (isTrial(fields)) return showTried(reply, settings, fields)
    const asked = settings.filter(({ name }) => name in fields || SHOWN + name in fields)
    if (asked.length === 0) throw new AppError('invalid_form', 'There is no such setting')
    const group = groupIn(fields)
    const draft = readDraft(asked, fields)
    noteCrossedBounds(draft, settings, await waitingSettings(deps.db, await deps.databaseTime()))
    refuseFaults(request, draft, settings)
    if (draft.changes.length === 0) {
      return reply.done(pathOf(group), { text: request.locale.t.settings.nothingChanged, tone: 'warn' })
    }
    const effects = effectsOf(request, draft.changes)
    if (effects.length > 0 && fields.confirmed !== 'yes') return ask(reply, group, { draft, effects })
    const change = { group, changes: draft.changes }
    return save(request, reply, deps, { ...change, linkToNextStep })
  })
}

/** Whether a form is sent to see its colour in the sample, and not to save it. */
const isTrial = (fields: Fields) => fields.try !== undefined

/** Shows the form again as it was typed, with a sample of its colour, or of the one whose button was pressed. */
function showTried(reply: FastifyReply, settings: SettingState[], fields: Fields): FastifyReply {
  const { request } = reply
  const { colour: texts } = request.locale.t.settings
  const { try: pressed, ...typed } = textsIn(fields)
  const site_accent = pressed || (typed.site_accent ?? '')
  const problem = colourProblem(request, site_accent)
  const sample = brandSample(site_accent)
  request.refused = {
    ...{ path: PATH, status: 200, typed: { ...typed, site_accent } },
    problems: problem === undefined ? {} : { site_accent: problem },
    summary: { title: texts.tried, text: problem ?? texts.triedText(sample.accent), tone: 'warn' },
  }
  return show(reply, settings, 'brand')
}

/** Returns what is wrong with a typed colour. Undefined for one that a site can have. */
function colourProblem({ locale }: FastifyRequest, typed: string): string | undefined {
  const { must, colour: texts } = locale.t.settings
  if (typed.trim() === '') return undefined
  if (colourIn(typed) === undefined) return must.colour()
  const { nearest } = brandSample(typed)
  return nearest && texts.tooLight(nearest)
}

const pathOf = (group: Group) => listUrl(PATH, { area: group })

/** Returns the group of a form: the one that it names, or that of its first setting. */
function groupIn(fields: Fields): Group {
  const { area } = Asked.parse(fields)
  if (fields.area === area) return area
  const first = Object.keys(fields)
    .map((name) => name.replace(SHOWN, ''))
    .find(isSetting)
  return first === undefined ? area : placeOf(first).group
}

function effectsOf({ locale }: FastifyRequest, changes: SettingDraft[]): string[] {
  return [
    ...new Set(changes.map((change) => effectOf(locale, change)).filter((effect) => effect !== undefined)),
  ]
}

/** Asks to confirm the changes of a form, with their effects. */
function ask(
  reply: FastifyReply,
  group: Group,
  { draft, effects }: { draft: Draft; effects: string[] },
): FastifyReply {
  const { locale } = reply.request
  const { confirm, groups } = locale.t.settings
  const { changes } = draft
  return reply.page('confirm', {
    title: confirm.title(groups[group]),
    lead: confirm.lead,
    facts: changes.map(({ name, before, after }) => ({
      term: settingLabel(locale, name),
      value: `${settingValue(locale, name, before)} → ${settingValue(locale, name, after)}`,
    })),
    notes: effects,
    action: PATH,
    fields: {
      area: group,
      confirmed: 'yes',
      ...Object.fromEntries(
        changes.flatMap(({ name, before }) => [
          [name, draft.typed.get(name)!],
          [SHOWN + name, before],
        ]),
      ),
    },
    button: confirm.button(changes.length),
    isDanger: changes.some(isLoss),
    cancel: pathOf(group),
  })
}

/** Saves all changes or none. Throws FormRefused when an open proposal blocks one of them. */
async function save(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Core,
  { group, changes, linkToNextStep }: { group: Group; changes: SettingDraft[]; linkToNextStep: FindLink },
): Promise<FastifyReply> {
  const { settings } = deps
  const now = await deps.databaseTime()
  const by = actorOf(request)
  const proposed = new Set<SettingName>()
  await settings.changeAll(
    changes.map(({ name, after }) => ({ name, value: after, ...by, now })),
    async (tx, { name, value }) => {
      const change = { kind: 'setting', setting: name, value } as const
      const earlier = await proposeWithin(tx, change, by, now)
      refuseEarlier(request.locale, earlier, settingLabel(request.locale, name))
      proposed.add(name)
    },
  )
  const { locale } = request
  const { t } = locale
  const list = (of: SettingDraft[]) =>
    of
      .map(({ name, before, after }) =>
        t.settings.change(
          settingLabel(locale, name),
          settingValue(locale, name, before),
          settingValue(locale, name, after),
        ),
      )
      .join(t.settings.separator)
  const saved = changes.filter(({ name }) => !proposed.has(name))
  const waiting = changes.filter(({ name }) => proposed.has(name))
  const texts = [
    ...(saved.length === 0
      ? []
      : [
          saved.length === 1
            ? t.settings.savedOne(list(saved))
            : t.settings.savedAll(saved.length, list(saved)),
        ]),
    ...(waiting.length === 0 ? [] : [t.settings.proposed(list(waiting))]),
  ]
  const text = texts.join(' ')
  if (saved.length === 0) return reply.done('/admin/proposals', { text, tone: 'warn' })
  const link =
    waiting.length === 0
      ? await linkToNextStep(request, deps)
      : { href: '/admin/proposals', label: t.console.proposals.title }
  return reply.done(pathOf(group), link === undefined ? { text } : { text, link })
}

/** Throws FormRefused with what each faulty field must be. */
function refuseFaults(request: FastifyRequest, { problems, typed }: Draft, settings: SettingState[]): void {
  if (problems.size === 0) return
  const { locale } = request
  const { must, changedMeanwhile, crossed, crossedLater } = locale.t.settings
  const faulty = settings.filter(({ name }) => problems.has(name))
  throw new FormRefused(
    Object.fromEntries(
      faulty.map(({ name, control, value }) => {
        const bounds = {
          min: locale.points('min' in control ? control.min : 0),
          max: locale.points('max' in control ? control.max : 0),
        }
        const texts = {
          invalid: () =>
            (control.kind === 'colour' && colourProblem(request, typed.get(name)!)) ||
            must[control.kind](bounds),
          changed: () => changedMeanwhile(settingValue(locale, name, value)),
          crossed: () => crossed,
          crossedLater: () => crossedLater,
        }
        return [name, texts[problems.get(name)!]()]
      }),
    ),
  )
}

function show(reply: FastifyReply, settings: SettingState[], group: Group): FastifyReply {
  const shown = settings.filter(({ name }) => placeOf(name).group === group)
  const lines = (states: SettingState[]): Line[] =>
    [...Map.groupBy(states, ({ name }) => baseOf(name))].map(([base, levels]) => ({
      base,
      fields: levels.map((state) => fieldOf(reply, state)),
    }))
  const sections = [...Map.groupBy(shown, ({ name }) => placeOf(name).section)].map(([name, states]) => ({
    name,
    lines: lines(states),
  }))
  const { query, refused } = reply.request
  const accent = settings.find(({ name }) => name === 'site_accent')!.value
  const sample = brandSample(refused?.typed.site_accent ?? Tried.parse(query).try ?? accent)
  return reply.page('admin/site/settings', { group, sections, shownPrefix: SHOWN, sample, presets: PRESETS })
}

function fieldOf(
  { request: { locale } }: FastifyReply,
  { name, control, value, standard, history }: SettingState,
): SettingField {
  const [last] = history
  return {
    name,
    control,
    unit: settingOf(name).unit,
    value,
    typed: typedValue(locale, name, value),
    standard:
      value === standard ? undefined : locale.t.settings.byDefault(settingValue(locale, name, standard)),
    changed: last && { by: last.changed_by, at: last.created_at },
  }
}

function showFound(reply: FastifyReply, settings: SettingState[], q: string): FastifyReply {
  const { locale } = reply.request
  const values = new Map(settings.map(({ name, value }) => [name, value]))
  const found = findSettings(q).map((name) => ({
    name,
    group: placeOf(name).group,
    label: settingLabel(locale, name),
    hint: locale.t.settings.names[baseOf(name)].hint,
    value: settingValue(locale, name, values.get(name)!),
  }))
  return reply.page('admin/site/settings-found', { q, found })
}

/** Returns the settings whose label, hint or key contains every word, in the order of the settings. */
function findSettings(q: string): SettingName[] {
  const words = q.toLowerCase().split(/\s+/)
  return SETTING_NAMES.filter((name) => {
    const { label, hint } = names[baseOf(name)]
    const text = [name, label.en, label.zh, hint.en, hint.zh]
      .join('\n')
      .replaceAll(POINT, 'point')
      .replaceAll(POINTS, 'points 积分')
      .toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
