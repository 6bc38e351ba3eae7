/** Lists the texts of the reference. */
import type { Texts, Translated } from '../web/languages.ts'
import { docs } from './docs.texts.ts'

export const texts = { docs } satisfies Texts

declare module '../web/languages.ts' {
  interface Messages extends Translated<typeof texts> {}
}
