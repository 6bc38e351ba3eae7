/** Texts of the state of the forum connection. */
import type { Texts } from '../../web/languages.ts'

export const forum = {
  title: { en: 'Forum', zh: '论坛' },
  lead: {
    en: 'What is known of its members is asked for in the background, and sooner when the forum says that somebody changed.',
    zh: '成员资料在后台定期更新，论坛通知变动时会提前更新。',
  },
  off: { en: 'No forum is set up: DISCOURSE_URL is not set.', zh: '未接入论坛：未设置 DISCOURSE_URL。' },
  noApi: {
    en: 'Without DISCOURSE_API_KEY members are brought up to date at their sign-in alone.',
    zh: '未设置 DISCOURSE_API_KEY，成员资料仅在登录时更新。',
  },
  silent: { en: 'The forum did not answer. Nobody asks it before', zh: '论坛没有响应，下次请求不早于' },
  lastEvent: { en: 'Last webhook', zh: '最近的 webhook' },
  lastChecked: { en: 'Last member asked about', zh: '最近更新的成员' },
  members: { en: 'Members', zh: '成员数' },
  due: { en: 'Out of date', zh: '待更新' },
  since: { en: 'since', zh: '始于' },
  hinted: { en: 'Of them, known to have changed', zh: '其中已知有变动' },
  unchecked: { en: 'Never asked about', zh: '从未更新' },
  failing: { en: 'Could not be read', zh: '读取失败' },
  failures: { en: 'Answers that could not be used', zh: '无法使用的响应' },
  again: { en: 'again', zh: '重试时间' },
  groups: { en: 'Groups', zh: '群组' },
  groupsText: {
    en: 'Groups of the forum by their id there, and how they are called here. Other names are a setting:',
    zh: '论坛群组的编号及其在本站的名称。别名见设置：',
  },
  noGroups: { en: 'No custom group is known yet.', zh: '尚无自定义群组。' },
  groupId: { en: 'Id', zh: '编号' },
  groupName: { en: 'Name here', zh: '本站名称' },
} satisfies Texts
