/** Texts of each mistake that the signature debugger finds: what happened, and what to do instead. */

import type { Text, Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'
import type { MistakeCode } from './mistakes.ts'

/** Writes the error of a clock in words, from seconds. */
function behind(seconds: string): Text {
  const amount = Math.abs(Number(seconds))
  const isBehind = Number(seconds) > 0
  const [count, en, zh] =
    amount < 7_200
      ? [Math.round(amount / 60), 'min', '分钟']
      : amount < 172_800
        ? [Math.round(amount / 3_600), 'h', '小时']
        : [Math.round(amount / 86_400), 'days', '天']
  return {
    en: `${count} ${en} ${isBehind ? 'behind' : 'ahead of'}`,
    zh: `${isBehind ? '慢' : '快'} ${count} ${zh}`,
  }
}

/** The text of one mistake. `what` gives the detail: names of parameters, a number. */
type Told = (what: string) => Text

export const mistakes = {
  url_encoded: () => ({
    en: 'The values were URL-encoded before signing. Sign the raw values; encode them only to send them.',
    zh: '签名前对值做了 URL 编码。请用原始值签名，只在发送时编码。',
  }),
  sent_unencoded: () => ({
    en: 'A + in a value was sent without encoding, so it arrived as a space. Encode values when you send them: + is %2B.',
    zh: '值中的 + 没有编码就发送，到达时变成了空格。发送时请编码：+ 应为 %2B。',
  }),
  sent_encoded_twice: () => ({
    en: 'The values were encoded twice on the way: they arrive still encoded. Let only one library encode them.',
    zh: '值被编码了两次，到达时仍是编码后的样子。请只让一个库负责编码。',
  }),
  html_escaped: () => ({
    en: 'The values were HTML-escaped before signing (& as &amp;). Sign the raw values.',
    zh: '签名前对值做了 HTML 转义（& 变成 &amp;）。请用原始值签名。',
  }),
  json_escaped: () => ({
    en: 'The values were signed as JSON writes them (\\/ or \\u4f1a). Sign the raw values.',
    zh: '签名用的是 JSON 转义后的值（\\/ 或 \\u4f1a）。请用原始值签名。',
  }),
  backslashes_lost: () => ({
    en: 'Backslashes were removed before signing, but they were sent. Sign exactly what you send.',
    zh: '签名前去掉了反斜杠，发送时却还在。发送什么就签什么。',
  }),
  unseen_lost: () => ({
    en: 'Invisible characters were removed from a value before signing, but they were sent. Sign exactly what you send.',
    zh: '签名前去掉了值中的不可见字符，发送时却还在。发送什么就签什么。',
  }),
  trimmed: () => ({
    en: 'Spaces around a value were removed before signing, but they were sent. Sign exactly what you send.',
    zh: '签名前去掉了值两端的空格，发送时却还在。发送什么就签什么。',
  }),
  unicode_form: () => ({
    en: 'An accented letter was signed in one Unicode form and sent in another. Sign the same text that you send.',
    zh: '签名与发送时，带重音的字母用了不同的 Unicode 形式。请用同一段文本。',
  }),
  decimal_form: (what) => ({
    en: `An amount was written differently when it was signed (${what}). Format it once, then sign and send that text.`,
    zh: `签名时金额的写法不同（${what}）。请只生成一次文本，用它签名并发送。`,
  }),
  quoted: () => ({
    en: 'The values were signed with quotation marks around them. Sign the bare values.',
    zh: '签名时值的两边带了引号。请用不带引号的值。',
  }),
  not_signed: (what) => ({
    en: `Sent, but not signed: ${what}. Sign every parameter that you send.`,
    zh: `已发送但没有签名：${what}。发送的参数都要参与签名。`,
  }),
  signed_extra: (what) => ({
    en: `Signed, but not part of the string: ${what}. Leave it out.`,
    zh: `参与了签名但不应出现：${what}。请去掉。`,
  }),
  empty_kept: (what) => ({
    en: `Signed with an empty value: ${what}. Empty values are left out of the string.`,
    zh: `空值参与了签名：${what}。空值不参与签名。`,
  }),
  zero_dropped: (what) => ({
    en: `Left out because its value is 0: ${what}. PHP’s empty() causes this; leave out only empty text.`,
    zh: `值为 0 的参数被漏掉：${what}。这是 PHP 的 empty() 造成的；只有空文本才不参与签名。`,
  }),
  null_as_text: (what) => ({
    en: `An empty value was signed as the word null: ${what}. Use empty text.`,
    zh: `空值被当作单词 null 参与了签名：${what}。请用空文本。`,
  }),
  unsorted: () => ({
    en: 'The parameters are not in order. Sort them by name, byte by byte: digits, then uppercase letters, then _, then lowercase letters.',
    zh: '参数没有排序。请按名称逐字节排序：数字、大写字母、下划线、小写字母。',
  }),
  trailing_ampersand: () => ({
    en: 'The string ends with &. Nothing follows the last value.',
    zh: '字符串末尾多了 &。最后一个值之后不应有任何内容。',
  }),
  no_separator: () => ({
    en: 'The parameters are not joined by &. Write name=value&name=value.',
    zh: '参数之间没有用 & 连接。格式是 name=value&name=value。',
  }),
  values_only: () => ({
    en: 'Only the values were signed. Write name=value&name=value.',
    zh: '只对值做了签名。格式是 name=value&name=value。',
  }),
  json_signed: () => ({
    en: 'The JSON text was signed. Sign name=value&name=value.',
    zh: '对 JSON 文本做了签名。应当签名 name=value&name=value。',
  }),
  case_changed: () => ({
    en: 'The string was converted to uppercase or lowercase before signing. Leave it as it is.',
    zh: '签名前把字符串转成了大写或小写。请保持原样。',
  }),
  raw_token: () => ({
    en: 'The token itself was used as the key. Use its SHA-256 in hex: the Secret Key.',
    zh: '直接把 Token 当作密钥。应使用它的 SHA-256 十六进制值，即 Secret Key。',
  }),
  decoded_hex_key: () => ({
    en: 'The Secret Key was decoded from hex to bytes. Use its 64 characters as they are.',
    zh: '把 Secret Key 从十六进制解码成了字节。请原样使用它的 64 个字符。',
  }),
  upper_case_key: () => ({
    en: 'The key was converted to uppercase or lowercase. Use it exactly as it is shown.',
    zh: '密钥被转成了大写或小写。请完全照原样使用。',
  }),
  base64_key: () => ({
    en: 'The hash of the token was used as Base64. The Secret Key is that hash in lowercase hex.',
    zh: '把 Token 的哈希以 Base64 使用。Secret Key 是该哈希的小写十六进制。',
  }),
  key_hashed_again: () => ({
    en: 'The key was hashed more than once. Hash the token once with SHA-256, or use the Secret Key as it is.',
    zh: '密钥被多次哈希。请对 Token 做一次 SHA-256，或直接使用 Secret Key。',
  }),
  key_whitespace: () => ({
    en: 'There is a space or a line break around the key. Trim it.',
    zh: '密钥两端有空格或换行。请去掉。',
  }),
  other_key: (what) => ({
    en: `Another value was used as the key: the ${what}.`,
    zh: `把 ${what} 当成了密钥。`,
  }),
  ended_key: (what) => ({
    en: `This was signed with an earlier key that ended on ${what}. Use the current key.`,
    zh: `签名用的是你的旧密钥，它已于 ${what} 失效。请换成当前的密钥。`,
  }),
  no_key: () => ({
    en: 'No key was used: it is empty when the signature is made. Check the setting that holds it.',
    zh: '没有使用密钥：生成签名时它是空的。请检查保存密钥的设置。',
  }),
  foreign_key: (what) => ({
    en: `The request was signed with a key of your other application ${what}. Use the key of this one.`,
    zh: `签名用的是你另一个应用 ${what} 的密钥。请使用本应用的密钥。`,
  }),
  wrong_public_key: (what) => ({
    en: `The signature was not made with the private key that belongs to the public key here${what === '' ? '' : ` (it is one of ${what} bits)`}. Paste your own public key into the application, not ours, and check that the plugin has the private key of the same pair.`,
    zh: `签名不是由这里登记的公钥所对应的私钥生成的${what === '' ? '' : `（该密钥为 ${what} 位）`}。请在应用页面粘贴你自己的公钥，而不是平台公钥，并确认插件中的私钥与它是一对。`,
  }),
  algorithm: (what) => ({
    en: `Another algorithm was used: ${what}. The HMAC API takes HMAC-SHA-256, V1 plain MD5, V2 RSA with SHA-256.`,
    zh: `使用了其他算法：${what}。HMAC 接口用 HMAC-SHA-256，V1 用普通 MD5，V2 用 RSA 加 SHA-256。`,
  }),
  not_hmac: () => ({
    en: 'The key was hashed together with the string. Use HMAC-SHA-256, which takes the key as a separate argument.',
    zh: '把密钥和字符串拼在一起做了哈希。应使用 HMAC-SHA-256，密钥单独传入。',
  }),
  swapped: () => ({
    en: 'The key and the string were swapped when HMAC was called.',
    zh: '调用 HMAC 时把密钥和字符串的位置写反了。',
  }),
  hashed_twice: () => ({
    en: 'The string was hashed twice. Hash it once, and send the result in hex.',
    zh: '哈希了两次。只做一次哈希，发送它的十六进制。',
  }),
  key_ampersand: () => ({
    en: 'The KEY was appended with &. Append it directly after the last value.',
    zh: 'KEY 之前多加了 &。应直接接在最后一个值之后。',
  }),
  key_named: () => ({
    en: 'The KEY was appended as &key=…. Append the KEY alone, directly after the last value.',
    zh: 'KEY 以 &key=… 的形式追加。应只把 KEY 直接接在最后一个值之后。',
  }),
  key_in_front: () => ({
    en: 'The KEY was put in front. Append it directly after the last value.',
    zh: 'KEY 被放在了前面。应直接接在最后一个值之后。',
  }),
  key_appended: () => ({
    en: 'The Merchant KEY was appended, as V1 does. V2 signs the string alone.',
    zh: '像 V1 那样追加了商户 KEY。V2 只对字符串本身签名。',
  }),
  rsa_pss: () => ({
    en: 'The signature is RSA-PSS. V2 takes RSA with PKCS#1 v1.5 padding.',
    zh: '签名是 RSA-PSS。V2 使用 PKCS#1 v1.5 填充。',
  }),
  rsa_raw: () => ({
    en: 'The string or its hash was encrypted with the private key. Sign it instead: SHA256withRSA does every step.',
    zh: '用私钥加密了字符串或它的哈希。应当做签名：SHA256withRSA 会完成所有步骤。',
  }),
  signature_form: (what) => ({
    en:
      what === '16'
        ? 'Only the middle 16 characters of the MD5 were sent. Send all 32.'
        : `The signature has the wrong format${what === '' ? '' : ` (${what})`}. The HMAC API and V1 take bare hex; V2 takes standard Base64, URL-encoded once.`,
    zh:
      what === '16'
        ? '只发送了 MD5 中间的 16 个字符。请发送全部 32 个。'
        : `签名的格式不对${what === '' ? '' : `（${what}）`}。HMAC 接口和 V1 使用纯十六进制；V2 使用标准 Base64，只做一次 URL 编码。`,
  }),
  no_signature: (what) => ({
    en:
      what === ''
        ? 'The signature is missing or empty.'
        : `The signature is missing or has another name: ${what} was sent. The HMAC API takes signature, the gateway takes sign.`,
    zh:
      what === ''
        ? '签名缺失或为空。'
        : `签名缺失或参数名不对：收到的是 ${what}。HMAC 接口的参数名是 signature，网关是 sign。`,
  }),
  rsa_key_unreadable: () => ({
    en: 'The signature is empty: the private key could not be read. A PKCS#8 key has the heading BEGIN PRIVATE KEY, a PKCS#1 key BEGIN RSA PRIVATE KEY; with the wrong heading it does not load. A key pair generated here is PKCS#8.',
    zh: '签名为空：私钥没有读出来。PKCS#8 私钥的标头是 BEGIN PRIVATE KEY，PKCS#1 私钥的标头是 BEGIN RSA PRIVATE KEY，放错标头就无法加载。这里生成的密钥是 PKCS#8。',
  }),
  wrong_key: () => ({
    en: 'The parameter key is not the Merchant KEY of this application.',
    zh: '参数 key 不是本应用的商户 KEY。',
  }),
  key_hashed_twice: () => ({
    en: 'The Secret Key was hashed once more before use. That is accepted here; the correct way is to use it as it is.',
    zh: 'Secret Key 在使用前又被哈希了一次。这里可以接受；直接使用才是正确做法。',
  }),
  upper_case_hash: () => ({
    en: 'The signature is in uppercase. That is accepted here; other servers require lowercase.',
    zh: '签名是大写的。这里可以接受；其他服务器要求小写。',
  }),
  stale_clock: (what) => ({
    en: `The timestamp is ${behind(what).en} our clock; at most 5 minutes are accepted. Use a new one for each request, and set the clock of the server. A request that you copied a while ago is always too old.`,
    zh: `时间戳比我们的时钟${behind(what).zh}；最多允许相差 5 分钟。请为每个请求重新生成，并校准服务器时钟。如果是之前复制的请求，这很正常。`,
  }),
  time_zone: (what) => ({
    en: `The timestamp is off by ${what.replace('-', '')} whole ${what === '1' || what === '-1' ? 'hour' : 'hours'}, which is usually a time zone. It counts seconds since 1970 in UTC, whatever the local time is.`,
    zh: `时间戳正好相差 ${what.replace('-', '')} 小时，通常是时区问题。它是自 1970 年起的 UTC 秒数，与本地时间无关。`,
  }),
  timestamp_missing: () => ({
    en: 'The parameter timestamp is missing. V2 needs the current time in seconds, in ten digits.',
    zh: '缺少参数 timestamp。V2 需要当前秒数，共十位数字。',
  }),
  timestamp_form: (what) => ({
    en: `The timestamp ${what} is not ten digits. It counts seconds, not milliseconds.`,
    zh: `时间戳 ${what} 不是十位数字。它以秒为单位，不是毫秒。`,
  }),
  amount_form: (what) => ({
    en: `The amount ${what} is not accepted. The HMAC API takes whole ${POINTS} like 10; the gateway takes money like 9.90, in plain digits with at most 20 decimals.`,
    zh: `金额 ${what} 不被接受。HMAC 接口使用整数${POINTS}，如 10；网关的金额用普通数字书写，如 9.90，最多 20 位小数。`,
  }),
  amount_too_small: (what) => ({
    en: `The money ${what} rounds to 0 ${POINTS}, so it is refused.`,
    zh: `金额 ${what} 换算后四舍五入为 0 ${POINTS}，会被拒绝。`,
  }),
  field_missing: (what) => ({
    en: `The request needs these parameters too: ${what}.`,
    zh: `请求还需要这些参数：${what}。`,
  }),
  field_form: (what) => ({
    en: `${what} has a form that is refused, even with a correct signature. The documentation of this operation says what is accepted.`,
    zh: `${what} 的格式不被接受，与签名无关；可接受的格式见该接口的文档。`,
  }),
  out_trade_no_form: (what) => ({
    en: `The out_trade_no ${what} is not accepted. Use 1 to 128 letters, digits and . _ - | but not 0 alone.`,
    zh: `out_trade_no ${what} 不被接受。请用 1 到 128 个字母、数字或 . _ - |，且不能只是 0。`,
  }),
  name_form: () => ({
    en: 'The name is empty or 0. PHP shops would drop it from the notification. Send the name of the product.',
    zh: 'name 为空或为 0，PHP 商户会在通知中丢掉它。请填写商品名称。',
  }),
  url_form: (what) => ({
    en: `${what} is not accepted. Send a whole http or https address without spaces, backslash, user name or password.`,
    zh: `${what} 不被接受。请发送完整的 http 或 https 地址，不含空格、反斜杠、用户名和密码。`,
  }),
  url_never_called: (what) => ({
    en: `notify_url can never be called: ${what} is a private host, or a port that is never called. Use a public address.`,
    zh: `notify_url 无法被调用：${what} 是内网主机，或使用了不会调用的端口。请使用公网地址。`,
  }),
  amp_pasted: (what) => ({
    en:
      what === ''
        ? 'The pasted parameters had &amp; between them, as the source of a page has. They were read as &.'
        : `The request was sent with &amp; in place of &, so these names are wrong: ${what}. Do not HTML-escape an address before you call it.`,
    zh:
      what === ''
        ? '粘贴的参数之间是 &amp;（网页源码的写法），已按 & 读取。'
        : `请求用 &amp; 代替了 &，这些参数名因此出错：${what}。调用前不要对地址做 HTML 转义。`,
  }),
  sign_type: (what) => ({
    en:
      what === 'RSA'
        ? 'sign_type is RSA, but sign is an MD5. Send sign_type=MD5, or sign with RSA.'
        : `sign is an RSA signature, but sign_type is ${what === '' ? 'missing' : what}. Send sign_type=RSA, in uppercase.`,
    zh:
      what === 'RSA'
        ? 'sign_type 是 RSA，但 sign 是 MD5。请发送 sign_type=MD5，或用 RSA 签名。'
        : `sign 是 RSA 签名，但 sign_type ${what === '' ? '缺失' : `是 ${what}`}。请发送大写的 sign_type=RSA。`,
  }),
  other_application: (what) => ({
    en: `The request names another application: ${what}.`,
    zh: `请求属于另一个应用：${what}。`,
  }),
  doubled: (what) => ({
    en: `Sent more than once: ${what}. Such a request is refused.`,
    zh: `重复出现：${what}。这样的请求会被拒绝。`,
  }),
  nested: (what) => ({
    en: `A list or an object, which is refused: ${what}. Values are text or whole numbers.`,
    zh: `是列表或对象，会被拒绝：${what}。值只能是文本或整数。`,
  }),
  unseen: (what) => ({
    en: `There are invisible characters in ${what}. They are signed like all others.`,
    zh: `参数中有不可见字符：${what}。它们与其他字符一样参与签名。`,
  }),
  not_utf8: () => ({
    en: 'The parameters are not UTF-8 text. Send UTF-8; other character sets are refused.',
    zh: '参数不是有效的 UTF-8 文本。请使用 UTF-8，其他字符集不被接受。',
  }),
  version_off: (what) => ({
    en: `${what === 'v1' ? 'V1' : 'V2'} is switched off for this application, or its key is missing.`,
    zh: `本应用已关闭 ${what === 'v1' ? 'V1' : 'V2'}，或缺少它的密钥。`,
  }),
  signed_by_us: () => ({
    en: 'This was signed by us: it is a response or a notification. Verify it with the platform public key of the application, not with your own.',
    zh: '这是由平台签名的响应或通知。请用应用页面上的平台公钥验证，而不是你自己的公钥。',
  }),
  unexplained: () => ({
    en: 'None of the usual mistakes gives this signature. Compare the string to sign with yours, character by character, and the fingerprint of the key with that of your key.',
    zh: '常见错误都无法得出此签名。请逐字比较两个字符串，再比对密钥的指纹。',
  }),
} satisfies Record<MistakeCode, Told> as Record<MistakeCode, Told> satisfies Texts
