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
        ours: '1219 [887–1308]',
        peer: inProcess,
        theirs: '1807 [1255–2451]',
        ratio: 0.62,
        spread: [0.53, 1.02],
      },
      {
        what: { en: 'payments on the page', zh: '页面付款' },
        ours: '1087 [610–1588]',
        peer: inProcess,
        theirs: '2049 [1180–2158]',
        ratio: 0.56,
        spread: [0.38, 0.77],
      },
      {
        what: { en: 'transfers', zh: '转账' },
        ours: '1219 [887–1308]',
        peer: unbatched,
        theirs: '278 [239–360]',
        ratio: 3.72,
        spread: [3.09, 4.66],
      },
      {
        what: { en: 'payments at one merchant', zh: '同一商户的付款' },
        ours: '1004 [685–1250]',
        peer: unbatched,
        theirs: '181 [134–217]',
        ratio: 5.66,
        spread: [4.63, 6.91],
      },
      {
        what: { en: 'orders placed (initiate)', zh: '下单（initiate）' },
        ours: '1779 [1697–2378]',
        peer: { en: 'a bare durable insert', zh: '裸的持久写入' },
        theirs: '2502 [2083–2645]',
        ratio: 0.85,
        spread: [0.67, 0.95],
      },
      {
        what: { en: 'queries', zh: '查询' },
        ours: '3629 [1711–4096]',
        peer: { en: 'a bare select', zh: '裸的查询' },
        theirs: '2540 [2265–3068]',
        ratio: 1.43,
        spread: [0.72, 1.81],
      },
    ],
  },
  {
    command: 'npm run bench:gateway',
    figures: [
      {
        what: { en: 'V1 create', zh: 'V1 下单' },
        ours: '1598 [1307–1679]',
        peer: { en: 'our initiate', zh: '我们的 initiate' },
        theirs: '2203 [2051–2306]',
        ratio: 0.73,
        spread: [0.59, 0.78],
      },
      {
        what: { en: 'notifications', zh: '通知' },
        ours: '663 [521–696]',
        peer: { en: 'a bare loop of its client', zh: '同一客户端的空循环' },
        theirs: '3181 [1975–3379]',
        ratio: 0.21,
        spread: [0.2, 0.31],
      },
    ],
  },
  {
    command: 'npm run bench:identity',
    figures: [
      {
        what: { en: 'code exchange, RS256', zh: '换码，RS256' },
        ours: '607 [595–631]',
        peer: oidc,
        theirs: '333 [291–340]',
        ratio: 1.82,
      },
      {
        what: { en: 'code exchange, ES256', zh: '换码，ES256' },
        ours: '1161 [1132–1410]',
        peer: oidc,
        theirs: '383 [368–451]',
        ratio: 3.03,
      },
      {
        what: { en: 'refresh, RS256', zh: '刷新，RS256' },
        ours: '613 [602–681]',
        peer: oidc,
        theirs: '323 [306–341]',
        ratio: 1.9,
      },
      {
        what: { en: 'refresh, ES256', zh: '刷新，ES256' },
        ours: '1334 [1096–1756]',
        peer: oidc,
        theirs: '461 [332–501]',
        ratio: 2.89,
      },
      {
        what: { en: 'userinfo', zh: 'userinfo' },
        ours: '4419 [3346–5348]',
        peer: oidc,
        theirs: '856 [709–1044]',
        ratio: 5.16,
      },
      {
        what: { en: 'discovery', zh: 'discovery' },
        ours: '10004 [8912–17669]',
        peer: bareHttp,
        theirs: '15220 [9325–19838]',
        ratio: 0.66,
      },
    ],
  },
]
