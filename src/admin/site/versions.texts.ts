/** Texts of the page of versions. */
import type { Texts } from '../../web/languages.ts'

export const versions = {
  title: { en: 'Versions', zh: '版本' },
  running: (version: string) => ({ en: `This site runs ${version}.`, zh: `本站运行的版本：${version}。` }),
  newer: { en: 'Newer versions', zh: '更新的版本' },
  newerText: {
    en: 'docs/operations says how to upgrade. Read the notes of every version between.',
    zh: '升级方法见 docs/operations。请阅读其间每个版本的说明。',
  },
  known: { en: 'This version and earlier ones', zh: '当前版本与更早的版本' },
  inEnglish: { en: 'The notes are those of the changelog.', zh: '说明取自更新日志，仅有英文。' },
  off: {
    en: 'The update notice is off. UPDATE_NOTICE_URL turns it on: one request a day, which says nothing about this site.',
    zh: '更新提醒已关闭。设置 UPDATE_NOTICE_URL 即可开启：每天一次请求，不含任何关于本站的信息。',
  },
  notYet: { en: 'The first request is sent within a minute.', zh: '首次请求将在一分钟内发出。' },
  heard: { en: 'Last answer', zh: '最近一次获取' },
  failed: (fault: string) => ({
    en: `The last request brought no changelog (${fault}). The next one is sent a day after it:`,
    zh: `最近一次请求没有取得更新日志（${fault}），一天后重试。请求时间：`,
  }),
  none: { en: 'No newer version is known.', zh: '没有更新的版本。' },
} satisfies Texts
