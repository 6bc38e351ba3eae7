/** Texts of the audit log. */
import type { Texts } from '../../web/languages.ts'

export const audit = {
  title: { en: 'Audit log', zh: '审计日志' },
  lead: {
    en: 'Who did what, newest first. Nothing in it can be changed.',
    zh: '谁做了什么，最新的在前。其中的内容无法更改。',
  },
  actor: { en: 'Who', zh: '操作者' },
  actorHint: { en: 'A username', zh: '用户名' },
  from: { en: 'From (UTC)', zh: '开始日期（UTC）' },
  to: { en: 'To, inclusive', zh: '结束日期（含）' },
  export: { en: 'Save as a file (CSV)', zh: '导出 CSV 文件' },
  exportHint: (max: string) => ({
    en: `Everything that the filter shows, the newest ${max} entries at most.`,
    zh: `导出当前筛选的全部记录，最多最新 ${max} 条。`,
  }),
  subject: { en: 'Subject', zh: '对象' },
  subjectHint: {
    en: 'A client_id, Payment ID, or user: and an id',
    zh: 'client_id、Payment ID，或 user: 加编号',
  },
  action: { en: 'Action', zh: '操作' },
  actionHint: {
    en: 'Such as oauth_app, or oauth_app.suspended',
    zh: '例如 oauth_app 或 oauth_app.suspended',
  },
  filter: { en: 'Filter', zh: '筛选' },
  itself: { en: 'the service', zh: '系统' },
  nothing: { en: 'No entry fits.', zh: '没有符合条件的记录。' },
  detail: { en: 'Detail', zh: '详情' },
} satisfies Texts
