/** The passwords that attackers try first. spec/accounts 2.1. */
import { expect, it } from 'vitest'
import { isCommonPassword } from '../../src/accounts/security/common-passwords.ts'

it.each([
  'password123',
  'Password2026!',
  'P@ssw0rd1234',
  'iloveyou1314',
  'administrator',
  'qwertyuiop',
  '1234567890',
  '9876543210',
  '1q2w3e4r5t',
  'a123456789',
  'woaini5201314',
  'aaaaaaaaaa',
  'abcabcabcabc',
  'asdfghjkl;',
])('%s is refused', (password) => {
  expect(isCommonPassword(password)).toBe(true)
})

it.each([
  'correct horse battery',
  'a new password',
  'password of my bicycle',
  'alice-mnbe4j',
  'Tr0ub4dor&3 then some',
  '1998 Kyoto, platform 9',
  'wangxiaoming-jiaozi',
  '我最喜欢的小猫叫阿黄呀',
])('%s is accepted', (password) => {
  expect(isCommonPassword(password)).toBe(false)
})
