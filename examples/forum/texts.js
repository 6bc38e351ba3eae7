// @ts-check
/** The texts of the forum's pages, in both languages. */

/** The demo gives this forum the name of its site. */
const { SITE_NAME_EN = 'Example forum', SITE_NAME_ZH = '示例论坛' } = process.env

const EN = {
  title: SITE_NAME_EN,
  logInTitle: 'Log in to the forum',
  logInLead: 'This forum is an example: choose who you are.',
  loggedOut: 'You are not logged in.',
  logIn: 'Log in',
  logOut: 'Log out',
  as: 'Logged in as',
  service: 'Open your wallet',
  menu: 'Your menu',
  toForum: 'To the forum',
  moderators: 'For moderators',
  suspend: 'Suspend for a week',
  letIn: 'Let in again',
  suspended: 'suspended',
  administrator: 'administrator',
  level: 'trust level',
  language: '中文',
  missing: 'There is nothing at this address.',
}

/** @type {typeof EN} */
const ZH = {
  title: SITE_NAME_ZH,
  logInTitle: '登录论坛',
  logInLead: '这是一个示例论坛：请选择你的身份。',
  loggedOut: '你尚未登录。',
  logIn: '登录',
  logOut: '退出登录',
  as: '当前账号',
  service: '打开你的钱包',
  menu: '你的菜单',
  toForum: '返回论坛',
  moderators: '版主操作',
  suspend: '封禁一周',
  letIn: '解除封禁',
  suspended: '已封禁',
  administrator: '管理员',
  level: '信任等级',
  language: 'English',
  missing: '此地址没有内容。',
}

/** @typedef {'en' | 'zh-CN'} Language */

/** @param {Language} language */
export function textsIn(language) {
  return language === 'en' ? EN : ZH
}

/**
 * The language that the reader has chosen, or that of the browser.
 * @param {string | undefined} chosen
 * @param {string | undefined} accepted the header Accept-Language
 * @returns {Language}
 */
export function languageOf(chosen, accepted = '') {
  return /^\s*zh\b/i.test(chosen ?? accepted) ? 'zh-CN' : 'en'
}
