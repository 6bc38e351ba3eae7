/** Texts of the page of an application's mandates. */
import type { Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

export const merchantMandates = {
  lead: {
    en: 'Members who permit this application to charge them later, within limits. You charge by the HMAC API.',
    zh: '成员允许本应用日后在限额内扣款。扣款通过 HMAC API 进行。',
  },
  guide: { en: 'Guide', zh: '使用指南' },
  right: { en: 'The right to hold mandates', zh: '预授权资格' },
  rights: {
    none: { en: 'Not asked for', zh: '尚未申请' },
    asked: { en: 'Waiting for review', zh: '待审核' },
    granted: { en: 'Granted', zh: '已授予' },
    refused: { en: 'Refused', zh: '未通过' },
    withdrawn: { en: 'Withdrawn', zh: '已收回' },
  },
  testRight: { en: 'A test application needs no right.', zh: '测试应用无需申请。' },
  dailyMax: (formatted: string) => ({
    en: `All charges of a day: up to ${formatted} ${POINTS}.`,
    zh: `每日扣款合计最多 ${formatted} ${POINTS}。`,
  }),
  withdrawnText: {
    en: 'No charge is possible. Ask the staff to give the right back.',
    zh: '目前不能扣款。如需恢复请联系管理员。',
  },
  purpose: { en: 'What do you need mandates for?', zh: '申请用途' },
  purposeAsked: { en: 'Purpose', zh: '申请用途' },
  purposeHint: {
    en: '10 to 500 characters. An administrator reads it.',
    zh: '10 至 500 个字符，由管理员审核。',
  },
  ask: { en: 'Ask for the right', zh: '提交申请' },
  asked: { en: 'The staff will decide on the right.', zh: '已提交，等待管理员审核。' },
  link: { en: 'Sign-in application', zh: '登录应用' },
  linkHint: {
    en: 'Its access tokens may come with charges. Both applications must have the same owner.',
    zh: '扣款请求可附带该登录应用的访问令牌。两个应用的所有者须相同。',
  },
  noLink: { en: 'None', zh: '不关联' },
  linked: { en: 'The sign-in application is linked.', zh: '已关联登录应用。' },
  unlinked: { en: 'No sign-in application is linked.', zh: '已取消关联登录应用。' },
  notYours: { en: 'The owner has no such sign-in application.', zh: '所有者没有这个登录应用。' },
  expected: { en: 'Expected from fixed mandates in 30 days', zh: '30 天内固定金额预授权预计可扣' },
  list: { en: 'Mandates', zh: '预授权' },
  searchHint: { en: 'Reference, mandate_id or username', zh: '编号、mandate_id 或用户名' },
  empty: { en: 'No mandates', zh: '暂无预授权' },
  emptyText: {
    en: 'Offers that your shop makes appear here. The guide shows the request for one.',
    zh: '商店发起的邀请会显示在这里。使用指南说明如何发起。',
  },
  pending: { en: 'Offered', zh: '等待接受' },
  declined: { en: 'Declined', zh: '已拒绝' },
  lapsed: { en: 'Lapsed', zh: '已失效' },
  memberPaused: { en: 'Paused by the member', zh: '成员已暂停' },
  memberRevoked: { en: 'Revoked by the member', zh: '成员已撤销' },
  revoke: { en: 'Revoke', zh: '撤销' },
  reasonHint: { en: 'The member reads it.', zh: '成员会看到此理由。' },
  reasonWrong: { en: 'Say why in 1 to 255 characters.', zh: '请填写理由，1 至 255 个字符。' },
  revoked: (reference: string) => ({
    en: `The mandate ${reference} has ended.`,
    zh: `预授权 ${reference} 已结束。`,
  }),
} satisfies Texts
