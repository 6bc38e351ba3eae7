/** Texts of the signature debugger, and of the list of refused requests. */
import type { Texts } from '../../web/languages.ts'

export const signatures = {
  lead: {
    en: 'Why a request was refused, and what its signature should be.',
    zh: '请求为何被拒绝，签名应当是什么。',
  },
  paste: { en: 'Check a request', zh: '检查一个请求' },
  pasteHint: {
    en: 'As you send it: a URL, a form body, JSON, a curl command, a PHP array or name=value lines. Nothing is stored.',
    zh: '按实际发送的样子粘贴：网址、表单正文、JSON、curl 命令、PHP 数组，或每行一个 name=value。内容不会保存。',
  },
  check: { en: 'Check the signature', zh: '检查签名' },
  unreadable: {
    en: 'There are no parameters in this text. Paste them as you send them, at most 8,000 characters.',
    zh: '没有找到任何参数。请按实际发送的样子粘贴，最多 8000 个字符。',
  },
  right: { en: 'The signature is correct.', zh: '签名正确。' },
  rightButRefused: {
    en: 'The signature is correct, but the request is refused.',
    zh: '签名正确，但请求被拒绝。',
  },
  wrong: { en: 'The signature is wrong.', zh: '签名错误。' },
  unsigned: {
    en: 'The request has no signature. This is the string to sign:',
    zh: '请求中没有签名。应当签名的字符串是：',
  },
  also: { en: 'Also', zh: '另外' },
  door: { en: 'Read as', zh: '识别为' },
  doors: {
    hmac: { en: 'HMAC API', zh: 'HMAC 接口' },
    v1: { en: 'gateway V1 (MD5)', zh: '网关 V1（MD5）' },
    v2: { en: 'gateway V2 (RSA)', zh: '网关 V2（RSA）' },
  },
  keyExpected: { en: 'Key to use', zh: '应使用的密钥' },
  keyUsed: { en: 'Key that was used', zh: '实际使用的密钥' },
  keys: {
    token: { en: 'token', zh: 'Token' },
    secret_key: { en: 'Secret Key', zh: 'Secret Key' },
    merchant_key: { en: 'Merchant KEY', zh: '商户 KEY' },
    public_key: { en: 'your public key', zh: '你的公钥' },
  },
  keyChanged: { en: 'in another form', zh: '已被改写' },
  stringExpected: { en: 'String to sign', zh: '应当签名的字符串' },
  stringUsed: { en: 'String that was signed', zh: '实际签名的字符串' },
  signatureExpected: { en: 'Expected signature', zh: '应有的签名' },
  signatureReceived: { en: 'Received signature', zh: '收到的签名' },
  digestExpected: { en: 'Expected SHA-256 of the string', zh: '字符串应有的 SHA-256' },
  digestReceived: { en: 'Hash inside the received signature', zh: '收到的签名中的摘要' },
  nothing: { en: 'nothing', zh: '无' },
  withKeysOnly: {
    en: 'Only members who may see the keys see the rest, because it is enough to send this request.',
    zh: '其余部分只对可以查看密钥的人显示：拿到完整签名的人可以发送这个请求。',
  },
  afterSignIn: {
    en: 'The rest is shown after a fresh sign-in, because it is enough to send this request.',
    zh: '重新登录后才显示其余部分：拿到完整签名的人可以发送这个请求。',
  },
  rsaHint: {
    en: 'Only your private key can make this signature, so the hashes are compared.',
    zh: '只有你的私钥能生成这个签名，因此这里比较摘要。',
  },
  parameters: { en: 'Parameters as received', zh: '读到的参数' },
  fingerprints: { en: 'Compare fingerprints', zh: '比对指纹' },
  fingerprintsText: {
    en: 'Keys are never shown here. These commands print the fingerprint of the key that you have; put it in place of KEY. For the HMAC API, that is the Secret Key.',
    zh: '这里从不显示密钥。用下面的命令可以算出你手中密钥的指纹，请用它替换 KEY。HMAC 接口用的是 Secret Key。',
  },
  refused: { en: 'Refused requests', zh: '被拒绝的请求' },
  refusedLead: (kept: number) => ({
    en: `The last ${kept}, kept for up to 30 days. Their keys are never shown.`,
    zh: `最近 ${kept} 个，最多保留 30 天，其中的密钥不会显示。`,
  }),
  refusedNothing: { en: 'No refused requests', zh: '没有被拒绝的请求' },
  refusedNothingText: {
    en: 'Requests with a wrong signature or a wrong field appear here, each with the reason.',
    zh: '签名或参数有误的请求会显示在这里，并说明原因。',
  },
  answered: { en: 'Response', zh: '响应' },
  from: { en: 'From', zh: '来自' },
  open: { en: 'Compare', zh: '比对签名' },
} satisfies Texts
