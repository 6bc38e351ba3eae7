/** The texts of all areas, and the same in each language. Pages read them as `it.t`. */
import { texts as accounts } from './accounts/texts.ts'
import { texts as admin } from './admin/texts.ts'
import { texts as docs } from './docs/texts.ts'
import { texts as identity } from './identity/texts.ts'
import { texts as payment } from './payment/texts.ts'
import { texts as privacy } from './privacy/texts.ts'
import { type Language, type Messages, speak } from './web/languages.ts'
import { texts as web } from './web/texts.ts'

export const texts = { ...web, ...accounts, ...identity, ...payment, ...privacy, ...docs, ...admin }

export const messages: Record<Language, Messages> = {
  en: speak(texts, 'en'),
  'zh-CN': speak(texts, 'zh-CN'),
}
