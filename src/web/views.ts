/**
 * Types of the data of views. A room declares the data of its pages and parts beside the code that shows them:
 * `declare module '…/web/views.ts' { interface PageData { 'payment/buyer/pay': { … } } }`.
 */
import type { FastifyRequest } from 'fastify'
import type { PageCode } from '../platform/errors.ts'
import type { assetUrl } from './assets.ts'
import type { Locale } from './languages.ts'

/** A failure, as the error page shows it. */
export type PageFailure = {
  code: PageCode | 'internal_error'
  status: number
  message: string
  retry_after_seconds?: number | undefined
}

/** The data of each page, beside the common data. */
export interface PageData {
  error: { failure: PageFailure; requestId: string }
}

/** The data of each part, beside the common data. */
export interface PartData {
  layout: { title: string; body: string; isSheet?: boolean; isTest?: boolean }
  'parts/app-logo': { app: { name: string; logo_url: string | null } }
  'parts/avatar': { user: { username: string; avatar_url: string | null } }
  /** Below a list: the addresses of the next page and of the first one, and the moment where a search stopped. */
  'parts/pager': {
    older: string | undefined
    before: bigint | undefined
    newest: string
    isSearch?: boolean
    lookedBackTo?: Date | undefined
  }
  'parts/secret-field': { label: string; value: string; hint?: string }
  'parts/tabs': { tabs: { href: string; label: string }[] }
}

/** The common data of all pages. */
export type Common = Locale & {
  user: NonNullable<FastifyRequest['session']>['user'] | undefined
  path: string
  canSwitchLanguage: boolean
  asset: typeof assetUrl
  plain(text: string): string
  announcement: string
  arePaymentsPaused: boolean
  formTokenField: string
  formToken: string
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
