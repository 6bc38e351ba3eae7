/** The check of a page's HTML finds each kind of fault. spec/pages 1.3. */
import { expect, it } from 'vitest'
import { markupFaults } from './markup.ts'

const OWN = 'http://own.example'
const page = (main: string, head = '') =>
  `<!doctype html><html lang="en"><head><title>T</title>${head}</head><body><main><h1>T</h1>${main}</main></body></html>`
const faultsOf = (html: string) => markupFaults(html, 'en', [OWN])

it('passes a page without faults', () => {
  const main = `<h2 id="a">A</h2><label>L <input name="x"></label><label for="y">Y</label><input id="y" aria-describedby="a">
    <input type="hidden" name="z"><img src="data:image/png;base64,AA" alt=""><img src="${OWN}/a.png" alt="A"><br><svg><use href="/i.svg#b"/></svg>`
  expect(faultsOf(page(main, '<script src="/e.js" type="module"></script>'))).toEqual([])
})

it.each([
  ['another language', page('').replace('"en"', '"zh-CN"')],
  ['not one h1', page('<h1>U</h1>')],
  ['not one main', page('').replaceAll('main>', 'aside>')],
  ['outside a landmark', page('').replace('<main>', '<p></p><main>')],
  ['closes another element', page('<p><b></p></b>')],
  ['h3 below h1', page('<h3>C</h3>')],
  ['two elements of the id a', page('<p id="a"></p><p id="a"></p>')],
  ['no b for', page('<label for="b">B</label>')],
  ['no label for', page('<input name="x">')],
  ['no text for', page('<img src="/a.png">')],
  ['inline <script>', page('<script>1</script>')],
  ['inline <style>', page('', '<style></style>')],
  ['inline in', page('<p style="color: red"></p>')],
  ['inline in', page('<button onclick="x()"></button>')],
  ['from elsewhere', page('<img src="https://other.example/a.png" alt="">')],
  ['from elsewhere', page('', '<link rel="stylesheet" href="//other.example/a.css">')],
])('finds %s', (fault, html) => {
  expect(faultsOf(html)).toEqual([expect.stringContaining(fault)])
})
