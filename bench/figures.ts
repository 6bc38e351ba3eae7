/** The figures of docs/performance.md, as the benches printed them: medians with the lowest and highest round. */

export type Figure = {
  /** What is measured, in both languages. */
  what: { en: string; zh: string }
  /** A second, with its spread. */
  ours: string
  peer: { en: string; zh: string }
  theirs: string
  /** Ours ÷ the peer or limit: the median of the rounds' ratios where the bench prints it, otherwise of the medians. */
  ratio: number
  spread?: [low: number, high: number]
}

export type Group = { command: string; figures: Figure[] }

const inProcess = { en: 'the same functions in process', zh: '同样的函数，在进程内调用' }
const unbatched = { en: 'our server without batches', zh: '不分批的服务' }
const oidc = { en: 'node-oidc-provider', zh: 'node-oidc-provider' }
const bareHttp = { en: 'bare node:http', zh: '裸 node:http' }

export const GROUPS: Group[] = [
  {
    command: 'npm run bench:payment',
    figures: [
      {
        what: { en: 'transfers', zh: '转账' },
        ours: '1764 [1554–1924]',
        peer: inProcess,
        theirs: '2494 [1974–2518]',
        ratio: 0.74,
        spread: [0.62, 0.8],
      },
      {
        what: { en: 'payments on the page', zh: '页面付款' },
        ours: '772 [665–1127]',
        peer: inProcess,
        theirs: '2354 [1479–2676]',
        ratio: 0.48,
        spread: [0.25, 0.57],
      },
      {
        what: { en: 'transfers', zh: '转账' },
        ours: '1764 [1554–1924]',
        peer: unbatched,
        theirs: '459 [430–484]',
        ratio: 4.08,
        spread: [3.21, 4.19],
      },
      {
        what: { en: 'payments at one merchant', zh: '同一商户的付款' },
        ours: '976 [608–1228]',
        peer: unbatched,
        theirs: '221 [210–236]',
        ratio: 4.41,
        spread: [2.9, 5.21],
      },
      {
        what: { en: 'orders placed (initiate)', zh: '下单（initiate）' },
        ours: '2736 [1968–3562]',
        peer: { en: 'a bare durable insert', zh: '裸的持久写入' },
        theirs: '3734 [3304–4809]',
        ratio: 0.68,
        spread: [0.56, 0.77],
      },
      {
        what: { en: 'queries', zh: '查询' },
        ours: '4451 [3183–4834]',
        peer: { en: 'a bare select', zh: '裸的查询' },
        theirs: '4200 [4002–5267]',
        ratio: 0.94,
        spread: [0.76, 1.18],
      },
    ],
  },
  {
    command: 'npm run bench:gateway',
    figures: [
      {
        what: { en: 'V1 create', zh: 'V1 下单' },
        ours: '2307 [382–2630]',
        peer: { en: 'our initiate', zh: '我们的 initiate' },
        theirs: '2586 [2174–2813]',
        ratio: 0.88,
        spread: [0.15, 1.21],
      },
      {
        what: { en: 'notifications', zh: '通知' },
        ours: '788 [732–1047]',
        peer: { en: 'a bare loop of its client', zh: '同一客户端的空循环' },
        theirs: '3003 [2591–4802]',
        ratio: 0.26,
        spread: [0.19, 0.3],
      },
    ],
  },
  {
    command: 'npm run bench:identity',
    figures: [
      {
        what: { en: 'code exchange, RS256', zh: '换码，RS256' },
        ours: '731 [463–764]',
        peer: oidc,
        theirs: '413 [303–422]',
        ratio: 1.77,
      },
      {
        what: { en: 'code exchange, ES256', zh: '换码，ES256' },
        ours: '1551 [1019–1759]',
        peer: oidc,
        theirs: '517 [341–619]',
        ratio: 3,
      },
      {
        what: { en: 'refresh, RS256', zh: '刷新，RS256' },
        ours: '700 [552–804]',
        peer: oidc,
        theirs: '399 [263–466]',
        ratio: 1.76,
      },
      {
        what: { en: 'refresh, ES256', zh: '刷新，ES256' },
        ours: '1684 [1197–2135]',
        peer: oidc,
        theirs: '609 [384–622]',
        ratio: 2.77,
      },
      {
        what: { en: 'userinfo', zh: 'userinfo' },
        ours: '6541 [4076–8559]',
        peer: oidc,
        theirs: '1088 [798–1311]',
        ratio: 6.01,
      },
      {
        what: { en: 'discovery', zh: 'discovery' },
        ours: '14002 [12797–20637]',
        peer: bareHttp,
        theirs: '20281 [15661–30569]',
        ratio: 0.69,
      },
    ],
  },
]
