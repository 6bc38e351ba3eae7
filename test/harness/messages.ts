/** The texts of pages in the words of a site that has not chosen its own. */
import { schema } from '../../src/core/setting-values.ts'
import { texts } from '../../src/texts.ts'
import { type Language, type Messages, translate } from '../../src/web/languages.ts'
import { siteWords } from '../../src/web/site-words.ts'

const settings = schema.parse({})

export const messages: Record<Language, Messages> = {
  en: translate(texts, 'en', siteWords(settings, 'en')),
  'zh-CN': translate(texts, 'zh-CN', siteWords(settings, 'zh-CN')),
}
