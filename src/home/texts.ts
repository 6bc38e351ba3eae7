/** Lists the texts of the home page. */
import type { Spoken, Texts } from '../web/languages.ts'
import { front } from './home.texts.ts'

export const texts = { front } satisfies Texts

declare module '../web/languages.ts' {
  interface Messages extends Spoken<typeof texts> {}
}
