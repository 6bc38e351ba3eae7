/** Texts of local groups, for administrators. */
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'

export const localGroups = {
  title: { en: 'Local groups', zh: '本站用户组' },
  lead: {
    en: 'Groups of this site, beside trust levels and groups of the forum. Owners of applications are offered their names for rules.',
    zh: '本站自己的用户组，与信任等级和论坛用户组并列。应用所有者设置访问规则时可以选择这些名称。',
  },
  none: { en: 'No local groups yet', zh: '还没有本站用户组' },
  noneText: { en: 'Create the first one below.', zh: '可在下方创建。' },
  name: { en: 'Name', zh: '名称' },
  nameHint: {
    en: 'Up to 60 characters without spaces. The name cannot be changed later, because rules contain it.',
    zh: '最多 60 个字符，不含空格。访问规则按名称引用用户组，因此之后不能改名。',
  },
  description: { en: 'Description', zh: '说明' },
  descriptionHint: { en: 'For administrators, up to 200 characters.', zh: '供管理员查看，最多 200 个字符。' },
  members: { en: 'Members', zh: '成员' },
  create: { en: 'New group', zh: '新建用户组' },
  full: {
    en: 'There are 200 groups, which is the limit. Delete one to create another.',
    zh: '已有 200 个用户组，达到上限。删除一个后才能新建。',
  },
  problems: {
    name: {
      en: '1 to 60 visible characters without spaces. Names of trust levels, and admins, moderators, staff, everyone, banned and suspended, are reserved, as are names that look like them.',
      zh: '1 到 60 个可见字符，不含空格。信任等级的名称以及 admins、moderators、staff、everyone、banned、suspended 及与之形近的名称为保留名称。',
    },
    description: { en: 'Up to 200 visible characters.', zh: '最多 200 个可见字符。' },
    taken: {
      en: 'A group of this site or of the forum, or an alias of one, has this name already.',
      zh: '此名称已被本站用户组、论坛用户组或其别名使用。',
    },
  },
  created: (name: string) => ({ en: `The group ${name} is created.`, zh: `已创建用户组 ${name}。` }),
  noMembers: { en: 'No members yet', zh: '还没有成员' },
  noMembersText: { en: 'Add the first members on this page.', zh: '可在本页添加。' },
  createdAt: { en: 'Created', zh: '创建于' },
  addedAt: { en: 'Added', zh: '加入于' },
  add: { en: 'Add members', zh: '添加成员' },
  addText: {
    en: 'Any account may be a member. A change takes effect when the member next signs in to an application, or when it next asks for tokens or data.',
    zh: '任何账号都可以加入。变更在成员下次登录应用，或应用下次请求令牌或资料时生效。',
  },
  usernames: { en: 'Usernames', zh: '用户名' },
  usernamesHint: { en: 'One a line, up to 200.', zh: '每行一个，最多 200 个。' },
  additionProblems: {
    nobody: { en: 'Enter a username.', zh: '请输入用户名。' },
    many: { en: 'At most 200 at a time.', zh: '每次最多 200 个。' },
  },
  unknown: (names: string) => ({
    en: `No one was added. No member has these usernames: ${names}`,
    zh: `未添加任何成员。没有以下用户名的成员：${names}`,
  }),
  added: (group: string, added: string, n: number, already: string, m: number) => ({
    en:
      n === 0
        ? `Nothing changed: ${m === 1 ? 'this member is' : `these ${already} members are`} in ${group} already.`
        : `${added} ${counted(n, 'member', 'members')} added to ${group}.${m === 0 ? '' : ` ${already} ${counted(m, 'was', 'were')} in it already.`}`,
    zh:
      n === 0
        ? `没有变化：${already} 名成员已在 ${group} 中。`
        : `已将 ${added} 名成员加入 ${group}。${m === 0 ? '' : `另有 ${already} 名已在其中。`}`,
  }),
  remove: { en: 'Remove', zh: '移出' },
  removed: (username: string, group: string) => ({
    en: `@${username} is no longer in ${group}.`,
    zh: `已将 @${username} 移出 ${group}。`,
  }),
  rules: { en: 'In the rules of applications', zh: '引用此用户组的应用' },
  noRules: { en: 'No application names this group.', zh: '没有应用引用此用户组。' },
  moreRules: (shown: string) => ({
    en: `These are the first ${shown}. More applications name this group.`,
    zh: `仅显示前 ${shown} 个，还有更多应用引用此用户组。`,
  }),
  allows: { en: 'admits', zh: '允许' },
  denies: { en: 'refuses', zh: '拒绝' },
  history: { en: 'Audit log', zh: '审计日志' },
  delete: { en: 'Delete the group', zh: '删除用户组' },
  deleteText: {
    en: 'Its members leave it. Rules keep the name: a rule that admits only this group then admits nobody, and a rule that refuses it refuses nobody.',
    zh: '成员全部移出。访问规则仍保留其名称：只允许此用户组的规则将不允许任何人，拒绝此用户组的规则将不再拒绝任何人。',
  },
  deleteConfirm: { en: 'Type its name to confirm', zh: '输入名称以确认' },
  deleteUnconfirmed: { en: 'This is not its name.', zh: '名称不符。' },
  deleted: (name: string, members: string, n: bigint) => ({
    en: `The group ${name} is deleted. ${members} ${counted(n, 'member', 'members')} left it.`,
    zh: `已删除用户组 ${name}，移出 ${members} 名成员。`,
  }),
} satisfies Texts
