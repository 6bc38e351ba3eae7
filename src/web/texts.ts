/** Lists the texts that every page may show. */
import { common } from './common.texts.ts'
import { errors } from './errors.texts.ts'
import { forms } from './forms/forms.texts.ts'
import type { Texts, Translated } from './languages.ts'
import { lists } from './lists.texts.ts'
import { periods } from './periods/periods.texts.ts'

export const texts = { common, errors, forms, lists, periods } satisfies Texts

declare module './languages.ts' {
  interface Messages extends Translated<typeof texts> {}
}
