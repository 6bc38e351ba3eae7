/** The Chinese texts of the signature debugger; the type holds them to the English ones. */
import type { signaturesEn } from './en-signatures.ts'

/** A number of seconds that a clock is wrong by, in words. */
function behind(seconds: string): string {
  const amount = Math.abs(Number(seconds))
  const text = amount < 7_200 ? `${Math.round(amount / 60)} 分钟` : `${Math.round(amount / 3_600)} 小时`
  return Number(seconds) > 0 ? `慢 ${text}` : `快 ${text}`
}

export const signaturesZhCN: typeof signaturesEn = {
  title: '签名调试',
  lead: '粘贴被拒绝的请求，或准备发送的请求。这里会给出应当签名的字符串，并指出犯了哪一种常见错误。',
  paste: '请求内容',
  pasteHint:
    '可以是带参数的网址、表单正文、JSON、curl 命令、PHP 数组，或每行一个 name=value，连同签名一起粘贴。内容不会保存。',
  check: '检查',
  unreadable: '没有找到任何参数。请按实际发送的样子粘贴，最多 8000 个字符。',
  right: '签名正确。',
  rightButRefused: '签名正确，但请求被拒绝。',
  wrong: '签名错误。',
  unsigned: '其中没有签名。应当签名的内容是：',
  also: '另外',
  door: '识别为',
  doors: { hmac: 'HMAC 接口', v1: '网关 V1（MD5）', v2: '网关 V2（RSA）' },
  keyExpected: '应使用的密钥',
  keyUsed: '实际使用的密钥',
  keys: { secret_key: 'Secret Key', merchant_key: '商户 KEY', public_key: '你的公钥' },
  stringExpected: '应当签名的字符串',
  stringUsed: '实际签名的字符串',
  signatureExpected: '应得的签名',
  signatureReceived: '收到的签名',
  digestExpected: '字符串应有的 SHA-256',
  digestReceived: '收到的签名中的摘要',
  nothing: '无',
  withKeysOnly: '其余部分只对可以查看密钥的人显示：拿到完整签名的人可以发送这个请求。',
  afterSignIn: '重新登录后才显示其余部分：拿到完整签名的人可以发送这个请求。',
  rsaHint: '只有你的私钥能生成这个签名，因此这里比较摘要。',
  parameters: '读到的参数',
  fingerprints: '比对指纹',
  fingerprintsText:
    '这里从不显示密钥。用下面的命令可以算出你手中密钥的指纹，请用它替换 KEY。HMAC 接口用的是 Secret Key。',
  refused: '被拒绝的请求',
  refusedLead: (kept) =>
    `最近被拒绝的 ${kept} 个请求，最多保留 30 天。其中的密钥不会显示，完整的签名只对可以查看密钥的人显示。`,
  refusedNothing: '没有被拒绝的请求。',
  answered: '答复',
  from: '来自',
  open: '查看原因',
  mistakes: {
    url_encoded: () => '签名前对值做了 URL 编码。请用原始值签名，只在发送时编码。',
    sent_unencoded: () => '值中的 + 没有编码就发送，到达时变成了空格。发送时请编码：+ 应为 %2B。',
    sent_encoded_twice: () => '值被编码了两次，到达时仍是编码后的样子。请只让一个库负责编码。',
    html_escaped: () => '签名前对值做了 HTML 转义（& 变成 &amp;）。请用原始值签名。',
    json_escaped: () => '签名用的是 JSON 转义后的值（\\/ 或 \\u4f1a）。请用原始值签名。',
    backslashes_lost: () => '签名前去掉了反斜杠，发送时却还在。发送什么就签什么。',
    unseen_lost: () => '签名前去掉了值中的不可见字符，发送时却还在。发送什么就签什么。',
    trimmed: () => '签名前去掉了值两端的空格，发送时却还在。发送什么就签什么。',
    unicode_form: () => '签名与发送时，带重音的字母用了不同的 Unicode 形式。请用同一段文本。',
    decimal_form: (what) => `签名时金额的写法不同（${what}）。请只生成一次文本，用它签名并发送。`,
    quoted: () => '签名时值的两边带了引号。请用不带引号的值。',
    not_signed: (what) => `已发送但没有签名：${what}。发送的参数都要参与签名。`,
    signed_extra: (what) => `参与了签名但不应出现：${what}。请去掉。`,
    empty_kept: (what) => `空值参与了签名：${what}。空值不参与签名。`,
    zero_dropped: (what) =>
      `值为 0 的参数被漏掉：${what}。这是 PHP 的 empty() 造成的；只有空文本才不参与签名。`,
    null_as_text: (what) => `空值被当作单词 null 参与了签名：${what}。请用空文本。`,
    unsorted: () => '参数没有排序。请按名称逐字节排序：数字、大写字母、下划线、小写字母。',
    trailing_ampersand: () => '字符串末尾多了 &。最后一个值之后不应有任何内容。',
    no_separator: () => '参数之间没有用 & 连接。格式是 name=value&name=value。',
    values_only: () => '只对值做了签名。格式是 name=value&name=value。',
    json_signed: () => '对 JSON 文本做了签名。应当签名 name=value&name=value。',
    case_changed: () => '签名前把字符串转成了大写或小写。请保持原样。',
    charset: (what) => `签名时用了其他字符集：${what}。请对 UTF-8 字节签名。`,
    raw_token: () => '直接把 token 当作密钥。应使用它的 SHA-256 十六进制值，即 Secret Key。',
    decoded_hex_key: () => '把 Secret Key 从十六进制解码成了字节。请原样使用它的 64 个字符。',
    upper_case_key: () => '密钥被转成了大写或小写。请完全照原样使用。',
    base64_key: () => '把 token 的哈希以 Base64 使用。Secret Key 是该哈希的小写十六进制。',
    key_hashed_again: () => '密钥被多次哈希。请对 token 做一次 SHA-256，或直接使用 Secret Key。',
    key_whitespace: () => '密钥两端有空格或换行。请去掉。',
    other_key: (what) => `把别的内容当成了密钥：${what}。`,
    ended_key: (what) => `签名用的是你的旧密钥，它已于 ${what} 失效。请换成当前的密钥。`,
    no_key: () => '没有使用密钥：生成签名时它是空的。请检查保存密钥的设置。',
    wrong_public_key: (what) =>
      `签名不是由这里登记的公钥所对应的私钥生成的${what === '' ? '' : `（该密钥为 ${what} 位）`}。请在应用页面粘贴你自己的公钥，而不是平台公钥，并确认插件中的私钥与它是一对。`,
    algorithm: (what) =>
      `使用了其他算法：${what}。HMAC 接口用 HMAC-SHA-256，V1 用普通 MD5，V2 用 RSA 加 SHA-256。`,
    not_hmac: () => '把密钥和字符串拼在一起做了哈希。应使用 HMAC-SHA-256，密钥单独传入。',
    swapped: () => '调用 HMAC 时把密钥和字符串的位置写反了。',
    hashed_twice: () => '哈希了两次。只做一次哈希，发送它的十六进制。',
    key_ampersand: () => 'KEY 之前多加了 &。应直接接在最后一个值之后。',
    key_named: () => 'KEY 以 &key=… 的形式追加。应只把 KEY 直接接在最后一个值之后。',
    key_in_front: () => 'KEY 被放在了前面。应直接接在最后一个值之后。',
    key_appended: () => '像 V1 那样追加了商户 KEY。V2 只对字符串本身签名。',
    rsa_pss: () => '签名是 RSA-PSS。V2 使用 PKCS#1 v1.5 填充。',
    rsa_raw: () => '用私钥加密了字符串或它的哈希。应当做签名：SHA256withRSA 会完成所有步骤。',
    signature_form: (what) =>
      what === '16'
        ? '只发送了 MD5 中间的 16 个字符。请发送全部 32 个。'
        : `签名的写法不对${what === '' ? '' : `（${what}）`}。HMAC 接口和 V1 使用纯十六进制；V2 使用单行的标准 Base64，只做一次 URL 编码。`,
    no_signature: (what) =>
      what === ''
        ? '签名缺失或为空。'
        : `签名缺失或参数名不对：收到的是 ${what}。HMAC 接口的参数名是 signature，网关是 sign。`,
    rsa_key_unreadable: () =>
      '签名为空：私钥没有读出来。PKCS#8 私钥的标头是 BEGIN PRIVATE KEY，PKCS#1 私钥的标头是 BEGIN RSA PRIVATE KEY，放错标头就无法加载。这里生成的密钥是 PKCS#8。',
    wrong_key: () => '参数 key 不是本应用的商户 KEY。',
    key_hashed_twice: () => 'Secret Key 在使用前又被哈希了一次。这里可以接受；直接使用才是正确做法。',
    upper_case_hash: () => '签名是大写的。这里可以接受；其他服务器要求小写。',
    stale_clock: (what) =>
      `时间戳比我们的时钟${behind(what)}；最多允许相差 5 分钟。请为每个请求重新生成，并校准服务器时钟。如果是之前复制的请求，这很正常。`,
    time_zone: (what) =>
      `时间戳正好相差 ${what.replace('-', '')} 小时，通常是时区问题。它是自 1970 年起的 UTC 秒数，与本地时间无关。`,
    timestamp_missing: () => '缺少参数 timestamp。V2 需要当前秒数，共十位数字。',
    timestamp_form: (what) => `时间戳 ${what} 不是十位数字。它以秒为单位，不是毫秒。`,
    amount_form: (what) => `金额 ${what} 不被接受。HMAC 接口使用整数积分，如 10；网关的金额最多两位小数。`,
    sign_type: (what) =>
      what === 'RSA'
        ? 'sign_type 是 RSA，但 sign 是 MD5。请发送 sign_type=MD5，或用 RSA 签名。'
        : `sign 是 RSA 签名，但 sign_type ${what === '' ? '缺失' : `是 ${what}`}。请发送大写的 sign_type=RSA。`,
    other_application: (what) => `它代表的是另一个应用：${what}。`,
    doubled: (what) => `重复出现：${what}。这样的请求会被拒绝。`,
    nested: (what) => `是列表或对象，会被拒绝：${what}。值只能是文本或整数。`,
    unseen: (what) => `参数中有不可见字符：${what}。它们与其他字符一样参与签名。`,
    sent_charset: (what) => `参数以 ${what} 发送。请使用 UTF-8，其他字符集不被接受。`,
    version_off: (what) => `本应用已关闭 ${what === 'v1' ? 'V1' : 'V2'}，或缺少它的密钥。`,
    signed_by_us: () => '这是由我们签名的答复或通知。请用应用页面上的平台公钥验证，而不是你自己的公钥。',
    unexplained: () =>
      '常见的错误都得不出这个签名。请逐字比较应当签名的字符串与你签名的内容，并比较密钥的指纹。',
  },
}
