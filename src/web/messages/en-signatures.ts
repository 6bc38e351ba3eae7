/** The English texts of the signature debugger: of each mistake, what happened and what to do instead. */
import type { MistakeCode } from '../../payment/diagnosis/mistakes.ts'

/** A number of seconds that a clock is wrong by, in words. */
function behind(seconds: string): string {
  const amount = Math.abs(Number(seconds))
  const text = amount < 7_200 ? `${Math.round(amount / 60)} min` : `${Math.round(amount / 3_600)} h`
  return `${text} ${Number(seconds) > 0 ? 'behind' : 'ahead of'}`
}

/** Said of one mistake. `what` is what it happened to: names of parameters, a character set, a number. */
type Told = (what: string) => string

export const signaturesEn = {
  title: 'Signatures',
  lead: 'Paste a request that was refused, or one that you are about to send. You are told what would be signed, and which of the usual mistakes was made.',
  paste: 'The request',
  pasteHint:
    'An address with its parameters, a form body, JSON, a curl command, a PHP array, or name=value lines, with the signature. Nothing of it is kept.',
  check: 'Check it',
  unreadable: 'No parameters were found in this. Paste them as you send them, at most 8,000 characters.',
  right: 'The signature is right.',
  rightButRefused: 'The signature is right, but the request is refused.',
  wrong: 'The signature is wrong.',
  unsigned: 'There is no signature in it. This is what you would sign:',
  also: 'Besides',
  door: 'Read as',
  doors: { hmac: 'HMAC API', v1: 'gateway V1 (MD5)', v2: 'gateway V2 (RSA)' },
  keyExpected: 'Key that we expect',
  keyUsed: 'Key that was used',
  keys: { secret_key: 'Secret Key', merchant_key: 'Merchant KEY', public_key: 'your public key' },
  stringExpected: 'The string to sign',
  stringUsed: 'The string that was signed',
  signatureExpected: 'Expected signature',
  signatureReceived: 'Received signature',
  digestExpected: 'Expected SHA-256 of the string',
  digestReceived: 'Hash inside the received signature',
  nothing: 'nothing',
  withKeysOnly:
    'The rest is shown to those who may see the keys, because whoever has it could send this request.',
  afterSignIn:
    'The rest is shown to you after a fresh sign-in, because whoever has it could send this request.',
  rsaHint: 'Only your private key can make this signature, so the hashes are compared.',
  parameters: 'Parameters, as they were read',
  fingerprints: 'Compare fingerprints',
  fingerprintsText:
    'A key is never shown here. These commands print the fingerprint of the one that you have; put it in place of KEY. For the HMAC API that is the Secret Key.',
  refused: 'Refused requests',
  refusedLead: (kept: number) =>
    `The last ${kept} requests that were refused, for up to 30 days. Keys in them are never shown, and whole signatures only to those who may see the keys.`,
  refusedNothing: 'No request was refused.',
  answered: 'Answered',
  from: 'From',
  open: 'Look into it',
  mistakes: {
    url_encoded: () =>
      'The values were URL-encoded before signing. Sign the raw values; encode them only to send them.',
    sent_unencoded: () =>
      'A + in a value was sent without encoding, so it arrived as a space. Encode values when you send them: + is %2B.',
    sent_encoded_twice: () =>
      'The values were encoded twice on the way: they arrive still encoded. Let only one library encode them.',
    html_escaped: () => 'The values were HTML-escaped before signing (& as &amp;). Sign the raw values.',
    json_escaped: () => 'The values were signed as JSON writes them (\\/ or \\u4f1a). Sign the raw values.',
    backslashes_lost: () => 'Backslashes were removed before signing, but sent. Sign what you send.',
    unseen_lost: () =>
      'Characters that cannot be seen were removed from a value before signing, but sent. Sign what you send.',
    trimmed: () => 'Spaces around a value were cut off before signing, but sent. Sign what you send.',
    unicode_form: () =>
      'A letter with an accent was signed in another Unicode form than it was sent in. Sign the same text that you send.',
    decimal_form: (what) =>
      `An amount was written differently when it was signed (${what}). Make the text once, sign it and send it.`,
    quoted: () => 'The values were signed with quotation marks around them. Sign the bare values.',
    not_signed: (what) => `Sent, but not signed: ${what}. Everything that is sent is signed.`,
    signed_extra: (what) => `Signed, but it does not belong in the string: ${what}. Leave it out.`,
    empty_kept: (what) => `Signed with an empty value: ${what}. Empty values are left out of the string.`,
    zero_dropped: (what) =>
      `Left out because its value is 0: ${what}. PHP’s empty() does that; only empty text is left out.`,
    null_as_text: (what) => `An empty value was signed as the word null: ${what}. Use empty text.`,
    unsorted: () =>
      'The parameters are not in order. Sort them by name, byte by byte: digits, then capitals, then _, then small letters.',
    trailing_ampersand: () => 'The string ends with &. Nothing follows the last value.',
    no_separator: () => 'The parameters are not joined by &. Write name=value&name=value.',
    values_only: () => 'Only the values were signed. Write name=value&name=value.',
    json_signed: () => 'The JSON text was signed. Sign name=value&name=value.',
    case_changed: () =>
      'The string was put into capitals or small letters before signing. Leave it as it is.',
    charset: (what) => `The string was signed in another character set: ${what}. Sign its UTF-8 bytes.`,
    raw_token: () => 'The token itself was used as the key. Use its SHA-256 in hex: the Secret Key.',
    decoded_hex_key: () => 'The Secret Key was decoded from hex to bytes. Use its 64 characters as they are.',
    upper_case_key: () => 'The key was changed to capitals or small letters. Use it exactly as it is shown.',
    base64_key: () =>
      'The hash of the token was used as Base64. The Secret Key is that hash in small hex letters.',
    key_hashed_again: () =>
      'The key was hashed too often. Hash the token once with SHA-256, or use the Secret Key as it is.',
    key_whitespace: () => 'There is a space or a line break around the key. Trim it.',
    other_key: (what) => `Another thing was used as the key: the ${what}.`,
    ended_key: (what) =>
      `This was signed with a key of yours that ended on ${what}. Put the current one in place.`,
    no_key: () =>
      'No key was used: it is empty where the signature is made. Check the setting that holds it.',
    wrong_public_key: (what) =>
      `The signature was not made by the private key that belongs to the public key here${what === '' ? '' : ` (it is one of ${what} bits)`}. Paste your own public key on the page of the application, not ours, and check that the plugin has the private key of the same pair.`,
    algorithm: (what) =>
      `Another algorithm was used: ${what}. The HMAC API takes HMAC-SHA-256, V1 plain MD5, V2 RSA with SHA-256.`,
    not_hmac: () =>
      'The key was hashed together with the string. Use HMAC-SHA-256, where the key stands apart.',
    swapped: () => 'Key and string were swapped in the call of HMAC.',
    hashed_twice: () => 'It was hashed twice. Hash once, and send the hex of that.',
    key_ampersand: () => 'The KEY was appended with &. Append it directly behind the last value.',
    key_named: () => 'The KEY was appended as &key=…. Append the KEY alone, directly behind the last value.',
    key_in_front: () => 'The KEY was put in front. Append it directly behind the last value.',
    key_appended: () => 'The Merchant KEY was appended, as V1 does it. V2 signs the string alone.',
    rsa_pss: () => 'The signature is RSA-PSS. V2 takes RSA with PKCS#1 v1.5 padding.',
    rsa_raw: () =>
      'The string or its hash was encrypted with the private key. Sign it instead: SHA256withRSA does everything.',
    signature_form: (what) =>
      what === '16'
        ? 'Only the middle 16 characters of the MD5 were sent. Send all 32.'
        : `The signature is not written as it should be${what === '' ? '' : ` (${what})`}. The HMAC API and V1 take bare hex; V2 takes standard Base64 in one line, URL-encoded once.`,
    no_signature: (what) =>
      what === ''
        ? 'The signature is missing or empty.'
        : `The signature is missing or has another name: ${what} was sent. The HMAC API takes signature, the gateway takes sign.`,
    rsa_key_unreadable: () =>
      'The signature is empty: the private key could not be read. A PKCS#8 key stands under BEGIN PRIVATE KEY, a PKCS#1 key under BEGIN RSA PRIVATE KEY; the one under the other’s heading does not load. The key pair made here is PKCS#8.',
    wrong_key: () => 'The parameter key is not the Merchant KEY of this application.',
    key_hashed_twice: () =>
      'The Secret Key was hashed once more before use. That is accepted here; using it as it is would be right.',
    upper_case_hash: () =>
      'The signature is in capitals. That is accepted here; other servers want small letters.',
    stale_clock: (what) =>
      `The timestamp is ${behind(what)} our clock; at most 5 minutes are accepted. Make it anew for each request, and set the clock of the server. In a request that you copied a while ago this is natural.`,
    time_zone: (what) =>
      `The timestamp is off by ${what.replace('-', '')} whole ${what === '1' || what === '-1' ? 'hour' : 'hours'}, which is usually a time zone. It counts seconds since 1970 in UTC, whatever the local time is.`,
    timestamp_missing: () => 'The parameter timestamp is missing. V2 wants the current second in ten digits.',
    timestamp_form: (what) => `The timestamp ${what} is not ten digits. It counts seconds, not milliseconds.`,
    amount_form: (what) =>
      `The amount ${what} is not accepted. The HMAC API takes whole points like 10; the gateway takes money with at most two decimals.`,
    sign_type: (what) =>
      what === 'RSA'
        ? 'sign_type is RSA, but sign is an MD5. Send sign_type=MD5, or sign with RSA.'
        : `sign is an RSA signature, but sign_type is ${what === '' ? 'missing' : what}. Send sign_type=RSA, in capitals.`,
    other_application: (what) => `It speaks for another application: ${what}.`,
    doubled: (what) => `Given more than once: ${what}. Such a request is refused.`,
    nested: (what) => `A list or an object, which is refused: ${what}. Values are text or whole numbers.`,
    unseen: (what) => `Characters that cannot be seen are in ${what}. They are signed like all others.`,
    sent_charset: (what) => `The parameters were sent in ${what}. Send UTF-8: nothing else is accepted.`,
    version_off: (what) =>
      `${what === 'v1' ? 'V1' : 'V2'} is switched off for this application, or its key is missing.`,
    signed_by_us: () =>
      'This was signed by us: it is a reply or a notification. Verify it with the platform public key of the application, not with your own.',
    unexplained: () =>
      'None of the usual mistakes leads to this signature. Compare the string to sign with yours, character by character, and the fingerprint of the key with that of yours.',
  } satisfies Record<MistakeCode, Told> as Record<MistakeCode, Told>,
}
