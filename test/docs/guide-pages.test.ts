/** The guides as pages: what markdown may become, whose identifiers they show, their links, and their search. */
import { describe, expect, it } from 'vitest'
import { filled, inSiteWords } from '../../src/docs/guides/fill.ts'
import { GUIDES, guideIn, guidePath, linkOf } from '../../src/docs/guides/guides.ts'
import { readDocument, sectionsOf, writeDocument } from '../../src/docs/guides/markdown.ts'
import { programsAt } from '../../src/docs/guides.page.ts'
import { highlighted } from '../../src/docs/reference/highlight.ts'
import { OPERATIONS, operationId } from '../../src/docs/reference/openapi.ts'
import { createTestApp } from '../../src/payment/apps/test-apps.ts'
import { escapeHtml } from '../../src/web/html.ts'
import { makePerson } from '../harness/cast.ts'
import { makeShop } from '../harness/gateway-shop.ts'
import { setSetting, useTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { messages } from '../harness/messages.ts'

const LANGUAGES = ['en', 'zh-CN'] as const

const test = await useTestApp()
const shop = await makeShop(test)
const owner = await shop.owner.signIn()
const stranger = await makePerson(test)

const writer = {
  prose: escapeHtml,
  code: escapeHtml,
  link: linkOf,
  page: (path: string) => (path === '/docs/rules' ? 'Rules' : undefined),
  programs: (href: string) => ['sh', 'js', 'php'].map((language) => ({ language, code: href })),
  words: { copy: 'Copy', copied: 'Copied', sample: 'Sample' },
}
const written = (markdown: string) => writeDocument(readDocument(`# Title\n\n${markdown}`), writer)

async function read(path: string, language: string = 'en'): Promise<string> {
  const headers = { accept: 'text/html', 'accept-language': language }
  const answer = await test.app.inject({ url: path, headers })
  expect(answer.statusCode, path).toBe(200)
  return answer.body
}

describe('markdown', () => {
  it.each([
    '<script>alert(1)</script>',
    'text <img src=x onerror=alert(1)> text',
    '<div onclick="x()">\n\nin it\n\n</div>',
    '`<b>`',
    '```html\n<b>&</b>\n```',
    '| <b>a</b> |\n|---|\n| <i>b</i> |',
    '[<b>x</b>](https://a.example/"><script>)',
    '![<b>x</b>](https://a.example/x.png)',
    '- <b>a</b>\n- [ ] <img src=x onerror=alert(1)>',
    '> ## <b>a</b>',
  ])('shows raw HTML as text: %s', (markdown) => {
    const tags = [...written(markdown).matchAll(/<\/?([a-z0-9]+)/g)].map(([, name]) => name)
    for (const name of ['script', 'img', 'b', 'i']) expect(tags).not.toContain(name)
    expect(written(markdown)).not.toMatch(/<[^>]*\son\w+=/)
  })

  it.each(['javascript:alert(1)', 'data:text/html,x', '//other.example', 'vbscript:x', '../../SECURITY.md'])(
    'makes no link of %s',
    (href) => expect(written(`[word](${href})`)).toBe('<p>word</p>'),
  )

  it('opens at each heading, whose link names its text', () => {
    expect(written('## What **it** `costs`?\n\n##### 余额 2')).toBe(
      [
        '<h2 id="what-it-costs"><a href="#what-it-costs">What <strong>it</strong> <code>costs</code>?</a></h2>',
        '<h4 id="余额-2"><a href="#余额-2">余额 2</a></h4>',
      ].join('\n'),
    )
  })

  it('leads from guide to guide, and to places in them', () => {
    expect(written('[a](merchant.md) [b](start.md#next)')).toBe(
      '<p><a href="/docs/merchant">a</a> <a href="/docs#next">b</a></p>',
    )
  })

  it('names the third column of a table in each row, for phones, which show no heads', () => {
    const cellsIn = (markdown: string) => written(markdown).match(/<td.*?<\/td>/g)
    expect(cellsIn('| Code | Meaning | What <to> do |\n|---|---|---|\n| 1 | late | wait |')).toEqual([
      '<td role="cell">1</td>',
      '<td role="cell">late</td>',
      '<td role="cell" data-label="What &lt;to&gt; do:">wait</td>',
    ])
    expect(cellsIn('| 编号 | 含义 | 怎么做 |\n|---|---|---|\n| 1 | 晚 | 等 |')).toContain(
      '<td role="cell" data-label="怎么做：">等</td>',
    )
  })

  it('shows programs below each other in tabs, the first one open', () => {
    const html = written('**Node.js**\n\n```js\n1\n```\n\n**PHP**\n\n```php\n2\n```')
    expect(html.match(/<input type="radio" name="(\S+)"[^>]* checked>/g)).toHaveLength(1)
    expect(new Set([...html.matchAll(/name="(sample-\d+)"/g)].map(([, name]) => name)).size).toBe(1)
    expect([...html.matchAll(/<label[^>]*>([^<]+)</g)].map(([, label]) => label)).toEqual(['Node.js', 'PHP'])
  })
})

describe('a link to an operation with the title "samples"', () => {
  const labels = (html: string) => [...html.matchAll(/<label[^>]*>([^<]+)</g)].map(([, label]) => label)

  it('becomes the programs of the operation', () => {
    expect(labels(written('[Send](/docs/v1/x "samples")'))).toEqual(['Shell', 'Node.js', 'PHP'])
    expect(labels(written('[Send](/docs/v1/x "samples in sh, php")'))).toEqual(['Shell', 'PHP'])
    expect(written('Read [this](/docs/v1/x "samples").')).toBe('<p>Read <a href="/docs/v1/x">this</a>.</p>')
  })

  it('names an operation of the gateway', () => {
    expect(programsAt('/docs/v1/post_payment_api_mapi_php').map(({ language }) => language)).toContain('java')
    expect(() => programsAt('/docs/payment/post_payment_query')).toThrow('No operation')
  })
})

describe('marked code', () => {
  const shownText = (html: string) => html.replaceAll(/<[^>]+>/g, '')

  it.each([
    ['sh', `a='x y' # z`, `<var>a</var>=<i>'x y'</i> <em># z</em>`],
    ['sh', 'printf %s "$TEXT" | cut -f 1', '<b>printf</b> %s <i>"$TEXT"</i> | <b>cut</b> -f 1'],
    [
      'js',
      `const x = { url: 'http://a' } // b`,
      `<b>const</b> x = { <var>url</var>: <i>'http://a'</i> } <em>// b</em>`,
    ],
    ['python', 'KEY = f"{x}" # y', '<var>KEY</var> = <i>f"{x}"</i> <em># y</em>'],
    ['php', `<?php $a = 'b';`, `<b><?php</b> <var>$a</var> = <i>'b'</i>;`],
    ['json', '{"a": "b", "c": true}', '{<var>"a"</var>: <i>"b"</i>, <var>"c"</var>: <b>true</b>}'],
    ['unknown', 'if "x"', 'if "x"'],
  ])('has its parts: %s', (language, code, html) => {
    expect(highlighted(code, language, (text) => text)).toBe(html)
  })

  it('says what the code says, and nothing of it is HTML', () => {
    for (const language of ['sh', 'js', 'python', 'php', 'go', 'java', 'json', 'ini']) {
      const code = `<b>"<i>'</i> & # // /* \`\\ " </b>\n$x = a: 'b"'`
      expect(shownText(highlighted(code, language, escapeHtml))).toBe(escapeHtml(code))
    }
  })
})

describe('a text for a reader', () => {
  const values = { 'https://YOUR-TESSERA': 'https://id.example', 'https://YOUR-TESSERA-PAYMENTS': '<&' }

  it('has known values, marked and escaped', () => {
    expect(filled('https://YOUR-TESSERA-PAYMENTS/x https://YOUR-TESSERA/y <YOUR-PID>', values)).toBe(
      '<mark>&lt;&amp;</mark>/x <mark>https://id.example</mark>/y &lt;YOUR-PID&gt;',
    )
  })

  it('has the site’s own words', () => {
    const words = { site: 'Spark', point: 'spark', points: 'sparks' }
    expect(inSiteWords('Points of Tessera: one point, 2 points, 积分', 'en', words)).toBe(
      'Sparks of Spark: one spark, 2 sparks, sparks',
    )
  })

  it('has a space in Chinese only beside the Latin letters of a name', () => {
    const text = '用 Tessera 收取积分，共 990 积分。'
    const chinese = { site: '星火论坛', point: '火花', points: '火花' }
    const latin = { site: 'Spark', point: 'Coin', points: 'Coin' }
    expect(inSiteWords(text, 'zh', chinese)).toBe('用星火论坛收取火花，共 990 火花。')
    expect(inSiteWords(text, 'zh', latin)).toBe('用 Spark 收取 Coin，共 990 Coin。')
    expect(inSiteWords('“Sign in” Tessera shows.', 'en', chinese)).toBe('“Sign in” 星火论坛 shows.')
  })
})

describe.each(LANGUAGES)('the guides in %s', (language) => {
  it('are pages whose links and places exist', async () => {
    for (const name of GUIDES) {
      const html = await read(guidePath(name), language)
      const main = html.slice(html.indexOf('<main'))
      expect(main, name).toContain(`<h1>${escapeHtml(guideIn(language, name).title)}</h1>`)
      for (const [, href] of main.matchAll(/href="(\/docs[^"]*|#[^"]*)"/g)) {
        const [path, place] = href!.split('#')
        const target = path === '' ? html : await read(path!, language)
        if (place) expect(target, `${name}: ${href}`).toContain(`id="${decodeURIComponent(place)}"`)
      }
    }
  })

  it('show a visitor the addresses of the site, and no identifier', async () => {
    const html = await read('/docs/gateway-clients', language)
    expect(html).toContain('<mark>http://127.0.0.1')
    expect(html).toContain('<code>YOUR-PID</code>')
  })
})

it.each([
  ['/docs/recipes', '/docs/sign-in-clients'],
  ['/docs/start', '/docs'],
])('the address %s leads to the guide at %s', async (path, guide) => {
  const answer = await test.app.inject(path)
  expect([answer.statusCode, answer.headers.location]).toEqual([302, guide])
})

describe('a reader', () => {
  it('finds the identifiers of their own application, marked', async () => {
    expect((await owner.get('/docs/gateway-clients')).body).toContain(`<mark>${shop.pidText}</mark>`)
    const { body } = await owner.get('/docs/merchant')
    expect(body).toContain(`PAYMENT_ID</var>=<mark>${shop.payment_id}</mark>`)
    expect(body).not.toContain(shop.token)
    const operation = await owner.get('/docs/payment/post_payment_query')
    expect(operation.body).toContain(`PAYMENT_ID</var>=<mark>${shop.payment_id}</mark>`)
  })

  it('finds none of another member', async () => {
    const { body } = await (await stranger.signIn()).get('/docs/merchant')
    expect(body).not.toContain(shop.payment_id)
    expect(body).toContain('PAYMENT_ID</var>=YOUR-PAYMENT-ID')
  })

  it('chooses the application, and only an own one', async () => {
    const other = await createTestApp(test.deps, {
      applicant_id: shop.owner.id,
      name: 'Another shop',
      description: 'Tea',
      callback_url: 'https://tea.example/paid',
      ip: '127.0.0.1',
    })
    const latest = await owner.get('/docs/merchant')
    expect(latest.body).toContain(`<mark>${other.payment_id}</mark>`)
    const choose = (payment_id: string) =>
      owner.submit(latest, '/docs/applications', { payment_id, client_id: '', return_to: '/docs/merchant' })
    const chosen = await choose(shop.payment_id)
    expect([chosen.status, chosen.location]).toEqual([303, '/docs/merchant'])
    expect((await owner.get('/docs/merchant')).body).toContain(`<mark>${shop.payment_id}</mark>`)
    for (const stray of ['pay_of_somebody_else', '<script>', 'a'.repeat(500)]) {
      expect((await choose(stray)).status).toBe(303)
      expect((await owner.get('/docs/merchant')).body).toContain(`<mark>${other.payment_id}</mark>`)
    }
  })
})

describe('the error codes', () => {
  const idsIn = (html: string) => [...html.matchAll(/<h2 id="(\w+)"/g)].map(([, id]) => id)

  it('are found by number, by word and by area', async () => {
    expect(idsIn(await read('/docs/codes'))).toEqual(['identity', 'payment', 'v1', 'v2'])
    expect(idsIn(await read('/docs/codes?of=v1'))).toEqual(['v1'])
    const one = await read('/docs/codes?q=1001')
    expect(idsIn(one)).toEqual(['payment'])
    expect(one.match(/<li id="/g)).toHaveLength(1)
    expect(one).toContain('<li id="c1001"><div class="grow"><p><a href="#c1001"><code>1001</code></a>')
    expect(one).toContain('href="/docs/codes?of=v2&amp;q=1001"')
    const currentIn = (html: string) => /<a href="([^"]+)" aria-current="true">[^<]+<span>(\d+)</.exec(html)
    expect(currentIn(one)).toBeNull()
    expect(currentIn(await read('/docs/codes?q=1001&of=payment'))!.slice(1)).toEqual([
      '/docs/codes?of=payment&amp;q=1001',
      '1',
    ])
    // The status is behind the code, and has no column of its own.
    expect(one).toMatch(/<code>1001<\/code><\/a> <span class="soft small">HTTP \d{3}<\/span><\/p>/)
    const word = await read('/docs/codes?q=SIGNATURE&of=v2')
    expect(idsIn(word)).toEqual(['v2'])
    expect(word).toContain('<input type="hidden" name="of" value="v2">')
    expect(await read('/docs/codes?q=nothing-like-it')).toContain(messages.en.docs.noSuchCode)
    expect(idsIn(await read('/docs/codes?of=nowhere&of=v1'))).toHaveLength(4)
  })

  it('begin with those met most, which lead to the others and have places of their own', async () => {
    const start = await read('/docs/codes')
    const shown = [...start.matchAll(/<li id="([^"]+)"/g)].map(([, id]) => id)
    expect(shown).toEqual(expect.arrayContaining(['invalid_grant', 'c1001', 'v1-invalid_signature']))
    expect(shown).not.toContain('c1500')
    expect(start).toContain('<a href="/docs/codes?of=payment#c1001"><code>1001</code></a>')
    expect(start).toContain('<li><a href="/docs/codes?of=payment"><span class="grow">')
    expect(start).toContain(`<a href="/docs/codes" aria-current="true">${messages.en.docs.mostMet}</a>`)
    const all = await read('/docs/codes?of=payment')
    expect(all).toContain('<li id="c1500">')
    const ids = [...all.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe('the navigation', () => {
  it.each([
    ['/docs', 'begin'],
    ['/docs/merchant', 'payments'],
    ['/docs/sign-in-clients', 'signIn'],
    ['/docs/v1/post_payment_api_mapi_php', undefined],
  ] as const)('of %s has the group of the page open, and payments', async (path, chapter) => {
    const html = await read(path)
    const side = html.slice(html.indexOf('<nav class="side"'), html.indexOf('<main'))
    const groups = [...side.matchAll(/<details( open)?><summary class="tiny">([^<]*)/g)]
    expect(groups).toHaveLength(5)
    const { chapters, api } = messages.en.docs
    const opened = new Set([chapters.payments, chapter === undefined ? api : chapters[chapter]])
    expect(new Set(groups.filter(([, open]) => open).map(([, , title]) => title))).toEqual(opened)
  })
})

it.each(LANGUAGES)('the contents of the recipes name each client in %s', async (language) => {
  const html = await read('/docs/sign-in-clients', language)
  const contents = html.slice(
    html.indexOf('<details class="contents">'),
    html.indexOf('</details>', html.indexOf('<details class="contents">')),
  )
  for (const id of ['auth-js', 'openid-client', 'go-oidc']) expect(contents).toContain(`href="#${id}"`)
})

it.each(LANGUAGES)('the first page begins with three roads in %s', async (language) => {
  const html = await read('/docs', language)
  const roads = html.slice(html.indexOf('<ul class="panel flush list">'), html.indexOf('<h2'))
  expect(roads.match(/<li>/g)).toHaveLength(3)
  for (const name of ['merchant', 'oauth-application', 'operator']) expect(roads).toContain(`"/docs/${name}"`)
  const [, step] = /href="#([^"]+)"/.exec(roads)!
  expect(html).toContain(`<h2 id="${step}"`)
})

describe('the search', () => {
  it.each([
    ['en', 'create an order', '/docs/payment/post_payment_pay_process'],
    ['en', 'xboard', '/docs/gateway-clients#xboard'],
    ['en', '1001', '/docs/codes?of=payment#c1001'],
    ['en', 'slow_down', '/docs/codes?of=identity#slow_down'],
    ['en', 'v1 get an order', '/docs/v1/post_payment_api_api_php_act_order'],
    ['zh-CN', '独角数卡', '/docs/gateway-clients#独角数卡-dujiaoka'],
    ['zh-CN', '转账', '/docs/payment/post_payment_transfer'],
    ['en', 'webhooks', '/docs/notifications'],
    ['en', '退款', '/docs/notifications/order.refunded'],
    ['zh-CN', 'webhook', '/docs/notifications'],
  ])('in %s finds %s', async (language, query, href) => {
    const html = await read(`/docs/search?q=${encodeURIComponent(query)}`, language)
    expect(html).toContain(`href="${href}"`)
  })

  it('looks into texts, names the page of each place, and marks the words', async () => {
    const html = await read('/docs/search?q=ambiguous')
    expect(html).toMatch(/<span class="small">[^<]+<\/span><br><span class="soft small">/)
    expect(html).toMatch(/<mark>ambiguous<\/mark>/i)
  })

  it('says how many places it found, also where it lists the best only', async () => {
    const placesIn = (html: string) => html.slice(html.indexOf('<article')).match(/<strong>/g)
    const some = await read('/docs/search?q=ambiguous')
    const { found, areas } = messages.en.docs
    const count = placesIn(some)!.length
    expect(some).toContain(`>${found(count, count)}<`)
    const many = await read('/docs/search?q=order')
    expect(placesIn(many)).toHaveLength(10)
    const counts = Array.from({ length: 1_000 }, (_, i) => 11 + i)
    expect(counts.filter((all) => many.includes(`>${found(10, all)}<`))).toHaveLength(1)
    expect(many).toMatch(
      /<a href="\/docs\/search\?q=order&amp;page=[^"]+">[^<]+<\/a> <span class="soft small">\d+</,
    )
    // A text that has the word begins at its own beginning.
    expect(areas.payment.text).toContain('order')
    const onPage = await read('/docs/search?q=order&page=%2Fdocs%2Fpayment')
    expect(onPage.replaceAll(/<\/?mark>/g, '')).toContain(areas.payment.text)
  })

  const firstIn = (html: string) =>
    /href="(\/docs\/[^"]+)"/.exec(html.slice(html.indexOf('<section class="stack">')))![1]

  it('puts a title that has the translated word before a path that has the word', async () => {
    const first = firstIn(await read('/docs/search?q=order', 'zh-CN'))
    expect(decodeURI(first!)).toBe('/docs/merchant#从订单到付款')
  })

  it('puts the guide about a word first, and shows a text that many places share once', async () => {
    const html = await read('/docs/search?q=refund')
    expect(firstIn(html)).toBe('/docs/merchant#refund-an-order')
    const all = await read('/docs/search?q=refund&page=%2Fdocs%2Fpayment')
    const group = all.slice(all.indexOf('<section class="stack">'))
    const excerpts = group.match(/ class="soft small">…?.*?<\/(span|p)>/g)!
    expect(new Set(excerpts).size).toBe(excerpts.length)
    expect(group.match(/<strong>/g)!.length).toBeGreaterThan(excerpts.length)
    expect(all.match(/<section class="stack">/g)).toHaveLength(1)
  })

  it('begins a text where it begins, or where the word is that its title lacks', async () => {
    const { introduction } = OPERATIONS.find((each) => operationId(each) === 'post_payment_api_pay_close')!
    const byTitle = (await read('/docs/search?q=close+an+unpaid')).replaceAll(/<\/?mark>/g, '')
    expect(byTitle).toContain(`<span class="soft small">${introduction.en.slice(0, 30)}`)
    const byText = await read('/docs/search?q=ambiguous')
    expect(byText).toMatch(/<span class="soft small">…[^\n]{0,40}<mark>ambiguous<\/mark>/i)
  })

  it('ends an excerpt at its cell, and shows one code a row', async () => {
    const document = readDocument('# A\n\n| b | c |\n|---|---|\n| d\te | f |\n\n- g\n- h\n\ni\nj')
    expect(sectionsOf(document)).toEqual([{ text: ['b', 'c', 'd e', 'f', 'g', 'h', 'i j'].join('\n') }])
    const excerptsIn = (html: string) =>
      [
        ...html
          .replaceAll(/<\/?mark>/g, '')
          .matchAll(/<span class="soft small">(.*?)<\/span><\/span><\/a>/gs),
      ].map(([, text]) => text!.replaceAll('…', ''))
    const excerpts = excerptsIn(await read('/docs/search?q=refund&page=%2Fdocs%2Fmandates'))
    expect(excerpts.length).toBeGreaterThan(1)
    expect(excerpts.filter((text) => text.includes('\n'))).toEqual([])
    const codes = await read(`/docs/search?q=${encodeURIComponent('签名')}&page=%2Fdocs%2Fcodes`, 'zh-CN')
    const rows = codes.slice(codes.indexOf('<ul class="panel flush list">')).split('<li>').slice(1)
    expect(rows.length).toBeGreaterThan(1)
    for (const row of rows) expect(row.match(/href="\/docs\/codes\?of=/g)).toHaveLength(1)
  })

  it('is offered at an address without a page, with what its words find', async () => {
    const { statusCode, body } = await test.app.inject('/docs/webhook-signature')
    expect(statusCode).toBe(404)
    expect(body).toContain('value="webhook signature"')
    expect(body).toContain('href="/docs/notifications"')
    expect(body).toContain('action="/docs/search"')
  })

  it('shows the path of an operation', async () => {
    const html = await read('/docs/search?q=mapi.php')
    expect(html).toContain('<code class="small soft">/payment/api/<mark>mapi.php</mark></code>')
  })

  it.each(['', 'nothing of this kind', '<script>alert(1)</script>', 'a'.repeat(5_000)])(
    'answers %s with a page',
    async (query) => {
      const html = await read(`/docs/search?q=${encodeURIComponent(query)}`)
      expect(html).not.toContain('<script>alert')
      expect(html).toContain('name="q"')
    },
  )
})

it('a site’s own name and points are in the guides of developers', async () => {
  await setSetting(test, 'site_name_en', 'Spark')
  await setSetting(test, 'point_one_en', 'spark')
  await setSetting(test, 'point_many_en', 'sparks')
  const html = await read('/docs')
  const main = textOf(html.slice(html.indexOf('<main'), html.indexOf('</main>')))
  for (const word of [/\bSpark\b/, /\bsparks\b/]) expect(main).toMatch(word)
  for (const word of [/\bTessera\b/, /\bpoints\b/]) expect(main).not.toMatch(word)
  const { title } = guideIn('en', 'operator')
  expect(title).toContain('Tessera')
  expect(await read('/docs/operator')).toContain(`<h1>${title}</h1>`)
  expect(await read('/docs/discourse')).toContain(`>${title}</a>`)
})

describe.each(LANGUAGES)('for agents, in %s,', (language) => {
  const { docs } = messages[language]

  it('the list names every page, which is there in Markdown and in the file of all', async () => {
    const list = await read('/docs/llms.txt', language)
    const all = await read('/docs/llms-full.txt', language)
    const paths = [...list.matchAll(/\]\(http:\/\/127\.0\.0\.1:\d+(\/docs\S*\.md)\)/g)].map(
      ([, path]) => path!,
    )
    const { paths: described } = (await test.app.inject('/docs/openapi.json')).json<{ paths: object }>()
    expect(paths).toContain('/docs.md')
    expect((await test.app.inject('/docs/start.md')).headers.location).toBe('/docs.md')
    expect(paths.length).toBeGreaterThan(GUIDES.length + Object.keys(described).length)
    for (const path of paths) {
      const { headers, statusCode, body } = await test.app.inject({
        url: path,
        headers: { 'accept-language': language },
      })
      expect([statusCode, headers['content-type']], path).toEqual([200, 'text/markdown; charset=utf-8'])
      expect(all, path).toContain(body.split('\n')[0])
      expect(body.split('\n').filter((line) => line.startsWith('```')).length % 2, path).toBe(0)
      for (const [, href] of body.matchAll(/\]\((\/docs[^)#\s]*)/g)) await read(href!, language)
    }
    expect(all).toContain(docs.areas.rules.title)
  })

  it('a page names its Markdown, which has the values of the site and no HTML of the page', async () => {
    const page = await read('/docs/gateway-clients', language)
    expect(page).toContain('href="/docs/gateway-clients.md"')
    const markdown = await read('/docs/gateway-clients.md', language)
    expect(markdown).toContain(`# ${guideIn(language, 'gateway-clients').title}`)
    expect(markdown).toMatch(/http:\/\/127\.0\.0\.1:\d+/)
    expect(markdown).not.toMatch(/<mark>|&amp;|YOUR-TESSERA/)
  })

  it('an operation has its programs; the file of all has those for a shell', async () => {
    const page = await read('/docs/v1/post_payment_api_mapi_php.md', language)
    expect(page).toContain('```python')
    const all = await read('/docs/llms-full.txt', language)
    expect(all).toContain('```sh')
    expect(all).not.toContain('```java\n')
  })
})

describe.each(LANGUAGES)('a path of a page in %s', (language) => {
  const t = messages[language]

  it('is shown as the title of the page', async () => {
    const start = await read('/docs', language)
    expect(start).toContain(`<a href="/docs/codes">${t.docs.areas.codes.title}</a>`)
    for (const name of GUIDES) {
      const html = await read(guidePath(name), language)
      expect(
        html.match(/<code>\/(?:docs|apps|admin|account|payment\/applications)[a-z/-]*<\/code>/g),
        name,
      ).toBeNull()
    }
    const query = new URLSearchParams({ q: language === 'en' ? 'refund' : '申请', page: '/docs/merchant' })
    const found = await read(`/docs/search?${query}`, language)
    const title = t.common.payments
    const merchant = await read('/docs/merchant', language)
    expect(merchant).toMatch(
      language === 'en' ? /\w <a href="\/payment\/applications"/ : /打开<a href="\/payment\/applications"/,
    )
    expect(found).toContain(language === 'en' ? ` at ${title}, ` : `打开${title}`)
    expect(found).not.toMatch(/[^"=]\/payment\/applications/)
  })

  it('has the title that its own page has in the navigation', () => {
    expect(t.docs.otherPages).toEqual({
      '/account/applications': t.common.authorisedApps,
      '/account/data': t.profile.ownData,
      '/account/mandates': t.ownMandates.title,
      '/admin': t.common.administration,
      '/admin/abuse': t.console.abuse.title,
      '/admin/apps': t.registeredApps.title,
      '/admin/forum': t.console.forum.title,
      '/admin/groups': t.localGroups.title,
      '/admin/links': t.console.linkReview.title,
      '/admin/mandates': t.console.mandateReview.title,
      '/admin/members': t.members.title,
      '/admin/settings': t.settings.title,
      '/apps': t.common.applications,
      '/payment/applications': t.common.payments,
      '/payment/links': t.teamLinks.own.title,
    })
  })
})

it('the bar has the search, the other language and the sign-in of a visitor', async () => {
  const html = await read('/docs')
  const bar = html.slice(html.indexOf('<header'), html.indexOf('</header>'))
  expect(bar).toContain('action="/docs/search"')
  expect(bar).toContain('action="/language"')
  expect(bar).toContain('href="/sign-in"')
})
