/** Texts of the page of an account, but for its section on security. */
import type { Texts } from '../web/languages.ts'
import { counted } from '../web/plurals.ts'
import { POINTS } from '../web/site-words.ts'

export const profile = {
  about: { en: 'Profile', zh: '个人资料' },
  name: { en: 'Display name', zh: '显示名称' },
  nameHint: {
    en: 'Apps that you sign in to see it beside your username.',
    zh: '你登录的应用会在用户名旁看到它。',
  },
  nameWrong: {
    en: 'Use at most 60 characters, none of them control or invisible characters.',
    zh: '最多 60 个字符，且不能包含控制字符或不可见字符。',
  },
  nameAtForum: {
    en: 'The forum manages your name. Change it there.',
    zh: '名称由论坛管理，请到论坛修改。',
  },
  noEmailFromForum: {
    en: 'The forum has not given your address, so you get alerts here and no email.',
    zh: '论坛未提供你的邮箱地址，因此你只会在本站收到提醒，不会收到邮件。',
  },
  roleUnconfirmed: (time: string) => ({
    en: `The forum has not confirmed your staff rights since ${time}.`,
    zh: `自 ${time} 起，论坛未能确认你的管理权限。`,
  }),
  renamed: (name: string) => ({ en: `Apps now see you as ${name}.`, zh: `显示名称已改为“${name}”。` }),
  unnamed: (username: string) => ({
    en: `Your display name is removed. Apps see only @${username}.`,
    zh: `已移除显示名称，应用只会看到 @${username}。`,
  }),
  saveName: { en: 'Save name', zh: '保存名称' },
  switchLanguage: { en: 'Switch', zh: '切换语言' },
  languageHint: { en: 'Used for every page and email.', zh: '用于所有页面和邮件。' },
  forumWallet: { en: 'Wallet in the forum', zh: '在论坛显示钱包' },
  forumWalletText: {
    en: 'The forum’s menu shows your balance and newest movements while you are signed in here. Any script on the forum’s pages can read them, and never act for you.',
    zh: '你在本站登录时，论坛菜单会显示余额和最近几笔记录。论坛页面上的任何脚本都能读取，但不能代你操作。',
  },
  tips: { en: 'Tips', zh: '打赏' },
  tipsText: {
    en: `Members of the forum can give you ${POINTS} for your posts. You see who gave them.`,
    zh: `论坛成员可以为你的帖子打赏${POINTS}，你能看到打赏者。`,
  },
  acceptTips: { en: 'Accept tips', zh: '接收打赏' },
  refuseTips: { en: 'Accept no tips', zh: '不接收打赏' },
  tipsAccepted: { en: 'You accept tips.', zh: '你已开启接收打赏。' },
  tipsRefused: { en: 'You accept no tips. What you received stays.', zh: '你不再接收打赏，已收到的仍归你。' },
  showAtForum: { en: 'Show my wallet in the forum', zh: '在论坛显示我的钱包' },
  hideAtForum: { en: 'Hide my wallet in the forum', zh: '不在论坛显示我的钱包' },
  shownAtForum: { en: 'The forum can show your wallet.', zh: '论坛可以显示你的钱包。' },
  hiddenAtForum: { en: 'The forum does not show your wallet.', zh: '论坛不再显示你的钱包。' },
  receipts: { en: 'Receipts by email', zh: '收据邮件' },
  receiptsText: (email: string) => ({
    en: `Each purchase through a payment link brings a receipt to ${email}.`,
    zh: `每次通过收款链接购买后，收据会发送到 ${email}。`,
  }),
  noReceiptsText: {
    en: 'Your receipts are under My payments only.',
    zh: '收据只保存在“我的付款”中。',
  },
  mailReceipts: { en: 'Email my receipts', zh: '发送收据邮件' },
  stopReceipts: { en: 'Email no receipts', zh: '不发送收据邮件' },
  receiptsMailed: { en: 'Receipts come by email from now on.', zh: '今后会发送收据邮件。' },
  receiptsNotMailed: { en: 'No more receipts come by email.', zh: '不再发送收据邮件。' },
  access: { en: 'Access', zh: '登录与授权' },
  authorisedApps: (n: number) => ({
    en:
      n === 0
        ? 'None yet: no app may know who you are'
        : `${n} ${counted(n, 'app', 'apps')} may know who you are`,
    zh: n === 0 ? '暂无：还没有应用可以获知你的身份' : `${n} 个应用可以获知你的身份`,
  }),
  mandates: (n: number) => ({
    en:
      n === 0
        ? 'None: no shop may charge you without asking'
        : `${n} ${counted(n, 'shop', 'shops')} may charge you without asking`,
    zh: n === 0 ? '暂无：商家每次扣款都须经你确认' : `${n} 个商家可以直接扣款`,
  }),
  ownData: { en: 'Your data', zh: '你的数据' },
  alerts: { en: 'Sign-ins, charges and reviews', zh: '登录、扣款和审核消息' },
  ownDataSummary: { en: 'Export your data, or close your account', zh: '导出数据，或注销账号' },
} satisfies Texts
