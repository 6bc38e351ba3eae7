/** The expressions that texts of the API must fit, in words. Programs read the expressions in the OpenAPI document. */
import { TRANSACTION_ID } from '../../payment/wire-fields/fields.ts'
import { MONEY } from '../../payment/wire-fields/money.ts'
import type { Text } from '../../web/languages.ts'

const digits = (range: string): Text => ({ en: `${range} digits`, zh: `${range} 位数字` })
const hexadecimal = (count: number, en: string, zh: string): Text => ({
  en: `${count} ${en} digits`,
  zh: `${count} 位${zh}`,
})

const LIMITS: Record<string, Text> = {
  "^[!-%'-~]{1,128}$": {
    en: '1 to 128 visible ASCII characters, no &',
    zh: '1 至 128 个可见 ASCII 字符，不含 &',
  },
  "^[!-%'-9;-~]+$": {
    en: 'visible ASCII characters, no & and no colon',
    zh: '可见 ASCII 字符，不含 & 和冒号',
  },
  '^[A-Za-z0-9._\\-|]{1,128}$': {
    en: '1 to 128 ASCII letters, digits and . _ - |',
    zh: '1 至 128 个英文字母、数字或 . _ - |',
  },
  '^[A-Za-z0-9_.-]{1,32}$': {
    en: '1 to 32 ASCII letters, digits and . _ -',
    zh: '1 至 32 个英文字母、数字或 . _ -',
  },
  '^[1-9][0-9]{0,15}$': {
    en: 'a whole number of 1 to 16 digits, the first not 0',
    zh: '1 至 16 位整数，首位不为 0',
  },
  '^[1-9][0-9]{0,17}$': {
    en: 'a whole number of 1 to 18 digits, the first not 0',
    zh: '1 至 18 位整数，首位不为 0',
  },
  [MONEY.source]: {
    en: 'a number with at most 8 digits before the point and 20 after it',
    zh: '数字，小数点前最多 8 位，小数点后最多 20 位',
  },
  [TRANSACTION_ID.source]: {
    en: 'txn_ and 24 small letters and digits',
    zh: 'txn_ 加 24 个小写字母或数字',
  },
  '^mdt_[a-z0-9]{24}$': {
    en: 'mdt_ and 24 small letters and digits',
    zh: 'mdt_ 加 24 个小写字母或数字',
  },
  '^\\d{10}$': { en: '10 digits', zh: '10 位数字' },
  '^\\d{1,3}$': digits('1–3'),
  '^\\d{1,4}$': digits('1–4'),
  '^\\d{1,7}$': digits('1–7'),
  '^\\d{1,10}$': digits('1–10'),
  '^\\d+$': { en: 'digits', zh: '数字' },
  '^[0-9a-fA-F]{64}$': hexadecimal(64, 'hexadecimal', '十六进制'),
  '^[0-9a-f]{64}$': hexadecimal(64, 'lower-case hexadecimal', '小写十六进制'),
  '^[0-9a-f]{32}$': hexadecimal(32, 'lower-case hexadecimal', '小写十六进制'),
}

/** The limit that an expression sets, in words; the expression itself if it has none. */
export function limitOf(pattern: string, language: keyof Text): string {
  return LIMITS[pattern]?.[language] ?? pattern
}
