/**
 * Types of the data of views. A room declares the data of its pages and parts beside the code that shows them:
 * `declare module '…/web/views.ts' { interface PageData { 'payment/buyer/pay': { … } } }`.
 */
import type { FastifyRequest } from 'fastify'
import type { Count } from '../database/counts.ts'
import type { assetUrl } from './assets.ts'
import type { FailureLinks, PageFailure } from './back.ts'
import type { BarChart, sparkPath } from './bar-chart.ts'
import type { FormView, MakeFormView, RefusedForm } from './forms/forms.ts'
import type { LateForm } from './forms/kept-forms.ts'
import type { Icon, icon } from './icons.ts'
import type { Locale } from './languages.ts'
import type { ShownRows } from './lists.ts'
import type { PeriodAsked } from './periods/periods.ts'
import type { Report } from './report.ts'
import type { Site } from './site.ts'
import type { spaceBehind, withSpaceBefore } from './spacing.ts'

/** The navigation of an area, which replaces that of the member. */
export type AreaNav = {
  label: string
  /** A line in the footer of its pages. */
  note?: string
  back?: { href: string; label: string }
  /** The application of these pages. The link leads to the choice of another one. */
  app?: AreaApp & {
    /** Other applications of the member. */
    others?: AreaApp[]
  }
  /** A search over the pages of the area. `isBeside`: not in the bar of a phone, because the page has a search of its own. */
  search?: Search & { isBeside?: boolean }
  /** `folds`: the group is closed on the pages of the others, unless it `isOpen`. */
  groups: { title?: string; links: AreaLink[]; folds?: boolean; isOpen?: boolean }[]
  /** The links in the bar at the foot of a phone. Without it, the first four. */
  bar?: AreaLink[]
}

/** An application in the navigation. */
type AreaApp = { name: string; logo_url: string | null; note: string; href: string }

/** A form that searches, with what was searched for. */
export type Search = { action: string; label: string; hint: string; query: string }

/** A link, and the addresses below it. `isAlone`: its own address only. `covers`: the addresses below this one instead. */
export type AreaLink = {
  href: string
  label: string
  /** For the bar at the foot of a phone. */
  short?: string
  icon: Icon
  count?: number
  isAlone?: boolean
  covers?: string[]
}

/** The data of each page, beside the common data. */
export interface PageData {
  error: FailureLinks & { failure: PageFailure; late: LateForm | undefined; requestId: string }
  /** Asks before an act, and says its effect. Its form posts `fields` to `action`. */
  confirm: {
    title: string
    /** The shop that it is about, for the title of the window. */
    shop?: string
    lead: string
    facts: { term: string; value: string; tone?: 'good' | 'warn' | 'bad' }[]
    notes: string[]
    action: string
    fields: Record<string, string>
    /** Further things that the act may include, each ticked. */
    boxes?:
      | { title: string; hint: string; name: string; choices: { value: string; label: string }[] }
      | undefined
    button: string
    isDanger: boolean
    cancel: string
  }
}

/** The data of each part, beside the common data. */
export interface PartData {
  layout: {
    title: string
    body: string
    /** A page without navigation: narrow, in two halves, or a form beside a plate. */
    sheet?: 'narrow' | 'broad' | 'split' | 'goods'
    /** Tags by which other sites preview the page, by name. */
    tags?: [name: string, content: string][]
    isTest?: boolean
    /** Its form says at each field what is wrong, so the page does not say it at its top, too. */
    marksFields?: boolean
    /** What each sheet of its print has at the foot, beside the number of the sheet. */
    foot?: string
    /** A page that reports a failure. It belongs to no place of the bar. */
    isFailure?: boolean
    nav?: AreaNav
  }
  'parts/app-logo': { app: { name: string; logo_url: string | null }; size?: 's' | 'l' }
  'parts/avatar': { user: { username: string; avatar_url: string | null }; size?: 's' | 'l' }
  /**
   * The page has two colours: of the whole bar and, in it, of the part. `tips` has the figures of each bar, and `name` no other
   * chart of the page has.
   */
  'parts/bar-chart': {
    chart: BarChart
    name: string
    label: string
    tips: string[]
    legend: { whole?: string; part?: string }
    from: string
    to: string
  }
  'parts/chips': {
    label: string
    /** Where a phone finds the search of the list, which it hides until then. */
    search?: string
    chips: { href: string; label: string; isCurrent: boolean; count: Count | undefined }[]
  }
  /** A value with a button that copies it. `isLine`: one line, which scrolls. `isNarrow`: in a narrow column. */
  'parts/copy-field': { name: string; label: string; value: string; isLine?: true; isNarrow?: true }
  /** Opens a guide with the identifiers of an application. */
  'parts/open-guide': { guide: string; choice: Record<string, string>; label?: string }
  'parts/empty': { picture: Icon; title: string; text?: string; link?: { href: string; label: string } }
  /** `attributes` are the further ones, as HTML. With `rows` it takes several lines. `isSecret`: it is not sent back. */
  'parts/field': {
    of: FormView
    name: string
    label: string
    attributes: string
    stored?: string | number | bigint | null | undefined
    hint?: string | undefined
    unit?: string
    type?: string
    rows?: number
    isOptional?: boolean
    isSecret?: boolean
    isWide?: boolean
  }
  'parts/language': object
  /** The time that a list is limited to: the named times, and the days that the reader chooses. */
  'parts/period': { asked: PeriodAsked }
  'parts/days': { asked: PeriodAsked }
  'parts/own-days': { asked: PeriodAsked }
  'parts/nav-links': { links: AreaLink[] }
  'parts/side': { nav?: AreaNav }
  'parts/spark': { values: number[]; label: string }
  /** The head of a printed sheet: the site that issues it, its title and its number. The page may name it in its heading. */
  'parts/paper-head': { title: string; number?: string; host: string; isHeading?: boolean }
  /** Below a list: the addresses of the next page and of the first one, and the moment where a search stopped. */
  'parts/pager': {
    older: string | undefined
    before: bigint | undefined
    newest: string
    isSearch?: boolean
    lookedBackTo?: Date | undefined
    shown?: ShownRows | undefined
  }
  /** The search of a list beside its chips. `hidden`: what else its address has. */
  'parts/find': {
    action: string
    asked: PeriodAsked & { q: string }
    hidden: Record<string, string | undefined>
    hint: string
    isOpen: boolean
  }
  'parts/search': { search: Search; id: string }
  'parts/secret-field': { label: string; value: string; hint?: string }
  'parts/tabs': { tabs: { href: string; label: string }[] }
}

/** The common data of all pages. */
export type Common = Omit<Locale, 'when' | 'dayOf' | 'dayNamed' | 'dayOrMonth'> & {
  /** A moment as people say it at the time of the request. See Locale. */
  when(moment: Date): string
  /** The day of a moment, with its year unless it is this one. See Locale. */
  dayOf(moment: Date): string
  /** The heading of the rows of a day. See Locale. */
  dayNamed(moment: Date): string
  /** The heading of the rows of a day, or of a month. See Locale. */
  dayOrMonth(moment: Date): string
  site: Site
  icon: typeof icon
  /** The space after what a view has written. Only the renderer calls it. */
  spaceBehind: typeof spaceBehind
  /** A moment with the space before it. Only the renderer calls it. */
  withSpaceBefore: typeof withSpaceBefore
  joinSentences(sentences: readonly string[]): string
  /** What the member's last act did, once. */
  report: Report | undefined
  user: NonNullable<FastifyRequest['session']>['user'] | undefined
  path: string
  /** Where the page continues in another language. */
  thisPage: string
  /** Hidden fields of the form that the page shows again, for the switch of languages, as HTML. */
  repeated: string
  /** The links of the member, and which of some links the page belongs to. */
  navGroups: AreaNav['groups']
  here(links: readonly AreaLink[]): string | undefined
  /** The class of the colour behind an initial. */
  hue(name: string): string
  spark: typeof sparkPath
  asset: typeof assetUrl
  plain(text: string): string
  announcement: string
  arePaymentsPaused: boolean
  formTokenField: string
  formToken: string
  /** A form of the page. */
  form: MakeFormView
  /** The refused form that the page answers. */
  refusedForm: RefusedForm | undefined
}

/** The type of `it` in a view. */
export type It<V extends keyof PageData | keyof PartData> = Common & (PageData & PartData)[V]

/** The types that `<%= %>` may show. Undefined, null and objects would show as words of the program. */
export type Shown = string | number | bigint | boolean

/** Eta passes a view's data on to its parts, so a view passes only data that it lacks or has narrowed. */
type Passed<Part, Here> = {
  [K in keyof Part as K extends keyof Here ? (Here[K] extends Part[K] ? never : K) : K]: Part[K]
} & { [K in keyof Part as K extends keyof Here ? (Here[K] extends Part[K] ? K : never) : never]?: Part[K] }

type Arguments<Part, Here> =
  object extends Passed<Part, Here> ? [data?: Passed<Part, Here>] : [data: Passed<Part, Here>]

/** The functions that a view may call. */
export type Tools<Here> = {
  include<V extends keyof PartData>(view: `/${V}`, ...data: Arguments<PartData[V], Here>): string
  layout(view: '/layout', ...data: Arguments<PartData['layout'], Here & { body: string }>): void
}
