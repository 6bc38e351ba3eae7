/** Lists the texts of what both kinds of applications share. */
import type { Texts, Translated } from '../web/languages.ts'
import { appLogo } from './app-logos.texts.ts'
import { shopLink } from './links.texts.ts'

export const texts = { appLogo, shopLink } satisfies Texts

declare module '../web/languages.ts' {
  interface Messages extends Translated<typeof texts> {}
}
