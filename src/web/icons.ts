/** The icons of pages: the names in views/assets/icons.svg. */
import { assetUrl } from './assets.ts'

/** The names of the icons. test/web/icons.test.ts compares them with the file. */
export const ICONS = [
  'alert',
  'apps',
  'bell',
  'book',
  'chart',
  'check',
  'clock',
  'close',
  'code',
  'copy',
  'desktop',
  'down',
  'download',
  'external',
  'eye',
  'flag',
  'gift',
  'globe',
  'home',
  'info',
  'key',
  'left',
  'link',
  'mail',
  'more',
  'passkey',
  'phone',
  'print',
  'qr',
  'receipt',
  'refresh',
  'refund',
  'right',
  'scale',
  'search',
  'shield',
  'shop',
  'sliders',
  'swap',
  'ticket',
  'user',
  'users',
  'wallet',
] as const

export type Icon = (typeof ICONS)[number]

/** Returns the markup of an icon. Screen readers skip it, because a word stands beside it or names its link. */
export const icon = (name: Icon): string =>
  `<svg class="icon" aria-hidden="true"><use href="${assetUrl('icons.svg')}#${name}"/></svg>`
