/** `npm run bench:charts` writes the table and the chart of docs/performance.md from bench/figures.ts, in both languages. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Figure, GROUPS } from './figures.ts'

const DOCS = join(import.meta.dirname, '../docs')
const LANGUAGES = { en: '', zh: '.zh-CN' } as const
type Language = keyof typeof LANGUAGES

const HEAD = {
  en: '| | ours a second | peer or limit | its rate | ours ÷ it | command |',
  zh: '| | 每秒，我们 | 对照或上限 | 它的每秒 | 我们 ÷ 它 | 命令 |',
}

/** The table of all figures. */
export function tableOf(language: Language): string {
  const rows = GROUPS.flatMap(({ command, figures }) =>
    figures.map(
      (figure) =>
        `| ${figure.what[language]} | ${figure.ours} | ${figure.peer[language]} | ${figure.theirs} | ${ratioOf(figure)} | \`${command}\` |`,
    ),
  )
  return [HEAD[language], '|---|---|---|---|---|---|', ...rows].join('\n')
}

function ratioOf({ ratio, spread }: Figure): string {
  return (
    ratio.toFixed(2) + (spread === undefined ? '' : ` [${spread.map((each) => each.toFixed(2)).join('–')}]`)
  )
}

const TITLE = { en: 'Each ratio as a bar from 1, and its spread', zh: '每个比值从 1 画起，带有范围' }
const ROW = 26
const [LEFT, WIDTH, RIGHT] = [390, 360, 50]
/** The chart is logarithmic, so half and double are equally far from 1. */
const [LOW, HIGH] = [0.125, 8]
const x = (ratio: number) =>
  LEFT + (WIDTH * Math.log2(Math.min(HIGH, Math.max(LOW, ratio)) / LOW)) / Math.log2(HIGH / LOW)

/** The chart of all ratios: a bar from 1, and a line for the spread of the rounds. */
export function chartOf(language: Language): string {
  const figures = GROUPS.flatMap((group) => group.figures)
  const height = ROW * (figures.length + 1)
  const marks = [0.25, 0.5, 1, 2, 4].map(
    (mark) =>
      `<line x1="${x(mark).toFixed(0)}" x2="${x(mark).toFixed(0)}" y1="0" y2="${height - ROW}" stroke="${mark === 1 ? '#555' : '#ccc'}"/><text x="${x(mark).toFixed(0)}" y="${height - 8}" text-anchor="middle">${mark}</text>`,
  )
  const bars = figures.map((figure, n) => {
    const y = n * ROW
    const [from, to] = [1, figure.ratio].map(x).sort((a, b) => a - b) as [number, number]
    const line = figure.spread?.map((each) => x(each).toFixed(0))
    return [
      `<text x="${LEFT - 8}" y="${y + 17}" text-anchor="end">${figure.what[language]} ÷ ${figure.peer[language]}</text>`,
      `<rect x="${from.toFixed(0)}" y="${y + 5}" width="${Math.max(1, to - from).toFixed(0)}" height="16" fill="${figure.ratio >= 1 ? '#2f7d5b' : '#b0793a'}"/>`,
      line &&
        `<line x1="${line[0]}" x2="${line[1]}" y1="${y + 13}" y2="${y + 13}" stroke="#111" stroke-width="2"/>`,
      `<text x="${LEFT + WIDTH + 8}" y="${y + 17}">${figure.ratio.toFixed(2)}</text>`,
    ].join('')
  })
  const size = `width="${LEFT + WIDTH + RIGHT}" height="${height}" viewBox="0 0 ${LEFT + WIDTH + RIGHT} ${height}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="sans-serif" font-size="12" fill="#222"><title>${TITLE[language]}</title><rect width="100%" height="100%" fill="#fff"/>\n${[...marks, ...bars].join('\n')}\n</svg>\n`
}

const TABLE = /(<!-- bench:charts -->\n)[\s\S]*?(\n<!-- end -->)/

/** The document with its present table. */
export function withTable(document: string, language: Language): string {
  return document.replace(TABLE, `$1${tableOf(language)}$2`)
}

if (import.meta.main) {
  for (const [language, suffix] of Object.entries(LANGUAGES) as [Language, string][]) {
    const file = join(DOCS, `performance${suffix}.md`)
    await writeFile(file, withTable(await readFile(file, 'utf8'), language))
    await writeFile(join(DOCS, `performance${suffix}.svg`), chartOf(language))
  }
}
