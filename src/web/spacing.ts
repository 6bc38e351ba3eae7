/** The spaces between the parts of a text, as each language sets them: spec/pages 2.2. */

/** Marks around a name in a text, until its spaces are set. They are private characters of Unicode, as those of site-words.ts. */
const [BEGIN, END] = ['\uE003', '\uE004']

/** Characters that no space separates from Chinese: Chinese itself, its punctuation and emoji. */
const CLOSE = String.raw`[\p{Script=Han}\u3000-\u30FF\uFF00-\uFF60“”‘’\p{Emoji_Presentation}]`
const SPACED = String.raw`[\p{Script=Latin}\p{N}]`

const IS_CLOSE = new RegExp(`^${CLOSE}|${CLOSE}$`, 'u')
const NEEDLESS = new RegExp(
  `(?<=${CLOSE}) (?=${BEGIN}${CLOSE})|(?<=${CLOSE}${END}) (?=${CLOSE})|[${BEGIN}${END}]`,
  'gu',
)
const MISSING = new RegExp(
  String.raw`(?<=\p{Script=Han})(?=${BEGIN}${SPACED})|(?<=${SPACED}${END})(?=\p{Script=Han})`,
  'gu',
)

/** Marks a name that a Chinese text contains, for `withNameSpaces`. */
export const markName = (name: string) => `${BEGIN}${name}${END}`

/** Marks the Chinese names in the arguments of a text. Other strings stay as they are, because a text may compare them. */
export function markNames<T>(value: T): T {
  return markedNames(value) as T
}

function markedNames(value: unknown): unknown {
  if (typeof value === 'string') return IS_CLOSE.test(value) ? markName(value) : value
  if (Array.isArray(value)) return value.map(markedNames)
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype)
    return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, markedNames(inner)]))
}

/**
 * Sets the spaces beside the marked names of a Chinese text, and removes the marks. There is a space only where the name begins
 * or ends with a letter or a digit that is not Chinese: 登录 Tessera, but 登录星火论坛.
 */
export const withNameSpaces = (text: string) => text.replace(MISSING, ' ').replace(NEEDLESS, '')

/**
 * The dot between parts of a line, as HTML. The style draws it into the space, which a browser leaves out where the line breaks;
 * the letter has no size.
 */
export const DOT = '<i class="mid"> <i>·\u00A0</i></i>'

/** Returns the space after a text or bold text: none after Chinese punctuation, which has its own. */
export const spaceAfter = (text: string) =>
  /[，。、；：！？（）“”](<\/strong>)?$/.test(text.slice(-10)) ? '' : ' '

/**
 * Returns the space after what a view has written so far: its whole text, and the part written last. It looks at that part, because to
 * look at the end of the text copies the text, and a long page is written in thousands of parts. An empty part and a closing tag do
 * not show what stands before them.
 */
export function spaceBehind(page: { res: string; written?: string | undefined }): string {
  const { written } = page
  return spaceAfter(written === undefined || written === '' || written === '</strong>' ? page.res : written)
}

/** A moment as HTML whose text begins with a Chinese word. */
const CHINESE_MOMENT = /^<time [^>]*>\p{Script=Han}/u

/** Puts before a moment, as HTML, the space after what a view has written: none between Chinese words, 截至今天 but 截至 3月1日. */
export function withSpaceBefore(page: Parameters<typeof spaceBehind>[0], moment: string): string {
  if (!CHINESE_MOMENT.test(moment)) return spaceBehind(page) + moment
  const isBehindChinese = /\p{Script=Han}$/u.test((page.written || page.res).slice(-2))
  return isBehindChinese ? moment : spaceBehind(page) + moment
}

/** Joins sentences, with a space after each that needs one. */
export function joinSentences(sentences: readonly string[]): string {
  return sentences.reduce((text, sentence) => text + (text && spaceAfter(text)) + sentence, '')
}
