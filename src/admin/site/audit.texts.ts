/** Texts of the audit log and of the security record. */
import type { Texts } from '../../web/languages.ts'

export const audit = {
  title: { en: 'Audit log', zh: '审计日志' },
  lead: {
    en: 'Who did what, newest first. Entries cannot be changed or deleted.',
    zh: '谁做了什么，最新的在前。记录无法修改或删除。',
  },
  acts: { en: 'Acts', zh: '操作' },
  refusals: { en: 'Refusals', zh: '拒绝记录' },
  refusalsLead: (max: string) => ({
    en: `Refused sign-ins, forms, applications and tokens: the newest ${max}.`,
    zh: `被拒绝的登录、表单、应用和令牌，最新 ${max} 条。`,
  }),
  noRefusals: { en: 'Nothing was refused', zh: '没有拒绝记录' },
  kinds: { en: 'Type', zh: '类型' },
  all: { en: 'All', zh: '全部' },
  actor: { en: 'Who', zh: '操作者' },
  actorHint: { en: 'A username', zh: '用户名' },
  export: { en: 'Export CSV', zh: '导出 CSV' },
  exportHint: {
    en: 'It contains the entries that match the filter, with times in UTC.',
    zh: '内容为当前筛选的记录，时间为 UTC。',
  },
  subject: { en: 'Subject', zh: '对象' },
  subjectHint: {
    en: '@member or a number',
    zh: '@成员或编号',
  },
  action: { en: 'Act', zh: '操作' },
  filter: { en: 'Filter', zh: '筛选' },
  itself: { en: 'the service', zh: '系统' },
  nothing: { en: 'No results', zh: '没有结果' },
  nothingText: { en: 'Clear a filter to see more.', zh: '清除部分筛选条件再试。' },
  proposal: (number: string) => ({ en: `Proposal ${number}`, zh: `审批 ${number}` }),
  detail: { en: 'Details', zh: '详情' },
  change: { en: 'Change', zh: '更改' },
  byDefault: { en: 'default', zh: '默认值' },
  yes: { en: 'yes', zh: '是' },
  no: { en: 'no', zh: '否' },
} satisfies Texts
