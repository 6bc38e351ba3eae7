/** Lists the texts that every page may show. */
import { common, forms, lists, paper, periods } from './common.texts.ts'
import { errors } from './errors.texts.ts'
import type { Texts, Translated } from './languages.ts'

export const texts = { common, errors, forms, lists, paper, periods } satisfies Texts

declare module './languages.ts' {
  interface Messages extends Translated<typeof texts> {}
}
