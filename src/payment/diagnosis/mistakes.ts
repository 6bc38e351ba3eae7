/** The mistakes that make a right-minded signature wrong, by name. How each is told is in the catalogues of messages. */

/** How values were written before they were signed. */
type ValueMistake =
  | 'url_encoded'
  | 'sent_unencoded'
  | 'sent_encoded_twice'
  | 'html_escaped'
  | 'json_escaped'
  | 'backslashes_lost'
  | 'trimmed'
  | 'unseen_lost'
  | 'unicode_form'
  | 'decimal_form'
  | 'quoted'

/** Which parameters were signed. */
type FieldMistake = 'not_signed' | 'signed_extra' | 'empty_kept' | 'zero_dropped' | 'null_as_text'

/** How they were put together, and in which bytes. */
type TextMistake =
  | 'unsorted'
  | 'trailing_ampersand'
  | 'no_separator'
  | 'values_only'
  | 'json_signed'
  | 'case_changed'
  | 'charset'

/** With which key. */
type KeyMistake =
  | 'raw_token'
  | 'decoded_hex_key'
  | 'upper_case_key'
  | 'base64_key'
  | 'key_hashed_again'
  | 'key_whitespace'
  | 'other_key'
  | 'ended_key'
  | 'no_key'
  | 'wrong_public_key'

/** What was computed, and how that was written. */
type SealMistake =
  | 'algorithm'
  | 'not_hmac'
  | 'swapped'
  | 'hashed_twice'
  | 'key_ampersand'
  | 'key_named'
  | 'key_in_front'
  | 'key_appended'
  | 'rsa_pss'
  | 'rsa_raw'
  | 'signature_form'
  | 'no_signature'
  | 'rsa_key_unreadable'
  | 'wrong_key'

/** What is wrong, or worth knowing, beside the signature. */
export type NoteCode =
  | 'key_hashed_twice'
  | 'upper_case_hash'
  | 'stale_clock'
  | 'time_zone'
  | 'timestamp_missing'
  | 'timestamp_form'
  | 'amount_form'
  | 'sign_type'
  | 'other_application'
  | 'doubled'
  | 'nested'
  | 'unseen'
  | 'sent_charset'
  | 'version_off'
  | 'signed_by_us'

export type MistakeCode =
  | ValueMistake
  | FieldMistake
  | TextMistake
  | KeyMistake
  | SealMistake
  | NoteCode
  | 'unexplained'

/** `what` is what it happened to: names of parameters, a character set, a number of seconds. Never a key. */
export type Mistake = { code: MistakeCode; what?: string | undefined }

/** One way to take a step of signing. The right way has no mistake. */
export type Way<Taken> = { take: Taken; mistake?: Mistake | undefined }

export function wrong<Taken>(code: MistakeCode, take: Taken, what?: string): Way<Taken> {
  return { take, mistake: { code, what } }
}
