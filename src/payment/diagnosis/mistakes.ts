/** The usual mistakes of signing, by name. mistakes.texts.ts explains each of them. */

/** Mistakes in the writing of values. */
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

/** Mistakes in the choice of parameters. */
type FieldMistake = 'not_signed' | 'signed_extra' | 'empty_kept' | 'zero_dropped' | 'null_as_text'

/** Mistakes in the order and the joining of the string. */
type TextMistake =
  | 'unsorted'
  | 'trailing_ampersand'
  | 'no_separator'
  | 'values_only'
  | 'json_signed'
  | 'case_changed'

/** Mistakes in the choice of the key. */
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
  | 'foreign_key'

/** Mistakes in the computation and in the writing of the signature. */
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

/** Problems and hints besides the signature. */
export type NoteCode =
  | 'key_hashed_twice'
  | 'upper_case_hash'
  | 'stale_clock'
  | 'time_zone'
  | 'timestamp_missing'
  | 'timestamp_form'
  | 'amount_form'
  | 'amount_too_small'
  | 'field_missing'
  | 'field_form'
  | 'out_trade_no_form'
  | 'url_form'
  | 'url_never_called'
  | 'name_form'
  | 'amp_pasted'
  | 'sign_type'
  | 'other_application'
  | 'doubled'
  | 'nested'
  | 'unseen'
  | 'not_utf8'
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

/** `what` gives the detail: names of parameters, a number of seconds. Never a key. */
export type Mistake = { code: MistakeCode; what?: string | undefined }

/** One way to do a step of signing. The right way has no mistake. */
export type Way<Taken> = { take: Taken; mistake?: Mistake | undefined }

/** A wrong way of a step. */
export function wrong<Taken>(code: MistakeCode, take: Taken, what?: string): Way<Taken> {
  return { take, mistake: { code, what } }
}
