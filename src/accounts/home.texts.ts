/** Texts that lead to the documentation. */
import type { Texts } from '../web/languages.ts'

export const home = {
  toDocs: { en: 'API documentation', zh: '开发文档' },
} satisfies Texts
