/** Lists the texts of the home page. */
import type { Texts, Translated } from '../web/languages.ts'
import { front } from './home.texts.ts'
import { launch } from './launch.texts.ts'

export const texts = { front, launch } satisfies Texts

declare module '../web/languages.ts' {
  interface Messages extends Translated<typeof texts> {}
}
