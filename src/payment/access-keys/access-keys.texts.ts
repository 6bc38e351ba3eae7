// This room: access keys of payment applications, and the tokens that programs get with them.
// Verbs: createAccessKey, revokeAccessKey, revokeKeysMadeBy, accessKeysOf, proveKey, issueToken, endToken, makeFindToken, tokenRoutes.
// Tables: access_keys, access_key_tokens.
// Clauses: spec/access-keys 1.1–1.3, 2.1 and 2.2.
/** Texts of the page of an application's access keys. */
import type { AccessScope } from '../../database/tables/access-keys.ts'
import type { Text, Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

export const accessKeys = {
  title: { en: 'Access keys', zh: '访问密钥' },
  lead: {
    en: 'For scripts, n8n and forum workflows: a program exchanges its key for a token and needs no signature.',
    zh: '适用于脚本、n8n 和论坛工作流：程序用密钥换取令牌，无需签名。',
  },
  off: {
    en: 'Access keys are switched off on this site. No token is issued or accepted. You can still revoke keys.',
    zh: '本站已关闭访问密钥，不再发放也不接受令牌。你仍可撤销密钥。',
  },
  emptyText: {
    en: 'Create one for each program, so that you can revoke one without stopping the others.',
    zh: '建议为每个程序分别创建，撤销其中一个不会影响其他程序。',
  },
  may: { en: 'Allowed', zh: '权限' },
  scopes: {
    'orders:read': { en: 'Read orders and transfers', zh: '查看订单与转账' },
    'orders:write': { en: 'Create orders', zh: '创建订单' },
    transfers: { en: `Send ${POINTS}`, zh: `转出${POINTS}` },
    payouts: { en: 'Run payouts', zh: '批量付款与取消' },
    mandates: { en: 'Offer, charge and end mandates', zh: '发起、扣款和终止预授权' },
  } satisfies Record<AccessScope, Text>,
  /** Of a scope that takes points out of the owner's wallet. */
  movesPoints: { en: `Moves ${POINTS}`, zh: '动用余额' },
  movesPointsText: {
    en: 'Such a program spends the owner’s balance without asking again.',
    zh: '这样的程序可直接动用所有者的余额，不会再次询问。',
  },
  ownersOnly: {
    en: `Only the owner can make a key that sends ${POINTS}.`,
    zh: `只有所有者能创建可转出${POINTS}的密钥。`,
  },
  expires: { en: 'Expires', zh: '到期时间' },
  expired: { en: 'Expired', zh: '已到期' },
  soon: { en: 'Expires soon', zh: '即将到期' },
  madeBy: { en: 'Created by', zh: '创建者' },
  from: { en: 'From', zh: '允许的地址' },
  revoke: { en: 'Revoke', zh: '撤销' },
  makeTitle: { en: 'Create an access key', zh: '创建访问密钥' },
  name: { en: 'Name', zh: '名称' },
  nameHint: { en: 'Which program uses it, such as “Raffle script”.', zh: '使用它的程序，例如“抽奖脚本”。' },
  mayTitle: { en: 'The program may', zh: '允许程序' },
  days: { en: 'It expires after', zh: '有效期' },
  term: (days: number, until: string) => ({ en: `${days} days, on ${until}`, zh: `${days} 天，至 ${until}` }),
  daysHint: {
    en: 'To replace a key, create a second one and revoke the first.',
    zh: '更换密钥时，先创建新的，再撤销旧的。',
  },
  addresses: { en: 'Addresses that may use it', zh: '允许使用的地址' },
  addressesHint: {
    en: 'IP addresses or ranges, one a line. Empty: any address that this application allows.',
    zh: 'IP 地址或网段，每行一个。留空则为此应用允许的任何地址。',
  },
  make: { en: 'Create the key', zh: '创建密钥' },
  made: (name: string) => ({ en: `“${name}” is created.`, zh: `已创建“${name}”。` }),
  revoked: (name: string) => ({
    en: `“${name}” is revoked. Its tokens have ended.`,
    zh: `已撤销“${name}”，其令牌已失效。`,
  }),
  problems: {
    name: { en: 'Enter a name of at most 40 characters.', zh: '请填写不超过 40 个字符的名称。' },
    scopes: { en: 'Tick at least one.', zh: '请至少勾选一项。' },
    days: (max: number) => ({ en: `Enter whole days, from 1 to ${max}.`, zh: `请填写 1 到 ${max} 的整数。` }),
    off: { en: 'Access keys are switched off on this site.', zh: '本站已关闭访问密钥。' },
    full: (max: number) => ({
      en: `An application has at most ${max} access keys. Revoke one first.`,
      zh: `每个应用最多 ${max} 个访问密钥，请先撤销一个。`,
    }),
  },
  ask: {
    revoke: (name: string) => ({ en: `Revoke “${name}”?`, zh: `撤销“${name}”？` }),
    note: {
      en: 'Programs with this key are refused from now on, with the tokens that they have. This cannot be undone.',
      zh: '使用此密钥的程序及其现有令牌会立即被拒绝，且无法恢复。',
    },
    button: { en: 'Revoke the key', zh: '撤销密钥' },
  },
  secretTitle: { en: 'Your new access key', zh: '新的访问密钥' },
  secretText: {
    en: 'The secret is shown only now. Put it into your program, and keep it out of its code.',
    zh: '密钥仅在此时显示。请填入你的程序，不要写进代码。',
  },
  secretMoves: {
    en: 'A program with this key spends the owner’s balance without asking again.',
    zh: '持有此密钥的程序可直接动用所有者的余额，不会再次询问。',
  },
  clientId: { en: 'Client ID', zh: '客户端 ID' },
  clientSecret: { en: 'Client secret', zh: '客户端密钥' },
  sample: { en: 'Try it in a shell', zh: '在终端中试用' },
  sampleHint: {
    en: 'The first command gets a token, which lasts an hour. The second uses it.',
    zh: '第一条命令换取令牌（一小时内有效），第二条使用它。',
  },
  tokenAddress: { en: 'Token endpoint (POST)', zh: '令牌端点（POST）' },
  apiAddress: { en: 'Paths of the API begin with', zh: '接口地址的开头' },
  removed: {
    title: { en: 'Access keys that this member created', zh: '该成员创建的访问密钥' },
    hint: {
      en: 'Ticked ones are revoked. A member who knows a secret can use it until the key is revoked.',
      zh: '勾选的会被撤销。知道密钥内容的成员在撤销之前仍可使用它。',
    },
  },
} satisfies Texts
