/** Lists the texts of privacy. */

import type { Texts, Translated } from '../web/languages.ts'
import { ownData } from './own-data.texts.ts'

export const texts = { ownData } satisfies Texts

declare module '../web/languages.ts' {
  interface Messages extends Translated<typeof texts> {}
}
