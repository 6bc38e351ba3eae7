/** What readers call the things of the documentation, in both languages. A word also finds what is called by the others of its row. */
const ROWS = [
  ['webhook', 'event', 'notification', 'notify', '事件', '通知'],
  ['login', 'signin', 'sign-in', 'sign in', 'sso', '登录', '登陆'],
  ['refund', 'chargeback', '退款'],
  ['callback', 'return', 'redirect', '回调', '跳转'],
  ['signature', 'signing', 'hmac', 'sign', '签名', '验签'],
  ['error', 'code', '错误', '错误码'],
  ['payout', 'withdraw', 'transfer', 'raffle', 'airdrop', '转账', '提现', '批量付款', '发放'],
  ['subscription', 'recurring', 'mandate', '订阅', '代扣', '预授权'],
  ['customer', 'payer', 'buyer', '买家', '付款人'],
  ['api key', 'apikey', 'secret', 'token', '密钥'],
  ['order', 'trade', 'invoice', '订单', '交易'],
  ['sandbox', 'test mode', '沙箱', '测试'],
  ['epay', 'gateway', '易支付', '网关'],
  ['oauth', 'oidc', 'openid', 'single sign-on', '单点登录'],
  ['rate limit', 'throttle', 'limits', '限流', '限额'],
  ['backup', 'restore', '备份', '恢复'],
] as const

/** Returns the other words for a word, small, which may be in the plural. */
export function synonymsOf(word: string): string[] {
  const forms = [word, word.replace(/s$/, '')]
  const rows = ROWS.filter((row) => row.some((each) => forms.includes(each)))
  return [...new Set(rows.flat())].filter((each) => !word.includes(each))
}
