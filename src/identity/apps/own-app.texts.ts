/** Texts of the page of one registered application. */
import { common } from '../../web/common.texts.ts'
import type { Text, Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'

export const registry = {
  label: (name: string) => ({ en: `Pages of ${name}`, zh: `${name} 的页面` }),
  overview: { en: 'Overview', zh: '概览' },
  backToList: { en: 'Sign-in applications', zh: '登录应用' },
  nothingChanged: { en: 'There were no changes to save.', zh: '内容没有变化，无需保存。' },
  savedFields: (fields: string) => ({ en: `Saved: ${fields}.`, zh: `已保存：${fields}。` }),
  savedWithoutMark: (fields: string) => ({
    en: `Saved: ${fields}. The mark “${common.reviewed.en}” is removed until the next review.`,
    zh: `已保存：${fields}。“${common.reviewed.zh}”标记已移除，等待重新审核。`,
  }),
  members: (formatted: string, count: number, isMore: boolean) => {
    if (count === 0) return { en: 'not used by any member yet', zh: '尚无成员使用' }
    return isMore
      ? { en: `used by more than ${formatted} members`, zh: `超过 ${formatted} 位成员在使用` }
      : { en: `used by ${formatted} ${counted(count, 'member', 'members')}`, zh: `${formatted} 位成员在使用` }
  },
  suspended: { en: 'Suspended', zh: '已停用' },
  suspendedText: {
    en: 'An administrator has suspended this application. Members cannot sign in to it, and its tokens are refused.',
    zh: '管理员已停用此应用：成员无法登录，它的令牌也不再有效。',
  },
  unconfirmed: { en: 'Not confirmed', zh: '未确认' },
  unconfirmedText: (by: string) => ({
    en: `${by} created it in your name. Confirm it if you know it, or delete it. If no member uses it and you do not confirm it, it is deleted after 30 days.`,
    zh: `${by} 以你的名义创建了此应用。如果你了解它，请确认；否则请删除。30 天内既无人使用也未确认，会自动删除。`,
  }),
  formerApp: { en: 'An application that has since been deleted', zh: '一个已被删除的应用' },
  confirm: { en: 'Confirm', zh: '确认' },
  confirmed: (app: string) => ({ en: `${app} is confirmed as yours.`, zh: `已确认 ${app} 属于你。` }),
  reason: { en: 'Reason', zh: '理由' },
  details: { en: 'Settings', zh: '应用设置' },
  detailsText: {
    en: `A change here removes the mark “${common.reviewed.en}”.`,
    zh: `修改这里的内容会移除“${common.reviewed.zh}”标记。`,
  },
  identifiers: { en: 'For your program', zh: '接入信息' },
  change: { en: 'Change', zh: '修改' },
  replaceLink: { en: 'Replace', zh: '更换' },
  neverUsed: { en: 'never used', zh: '从未使用' },
  noneNeeded: { en: 'none: a public client', zh: '公开客户端，不需要密钥' },
  noSecretsShort: { en: 'No valid secret', zh: '没有可用的密钥' },
  access: { en: 'Who may sign in', zh: '谁可以登录' },
  accessShort: { en: 'Access', zh: '访问' },
  accessAll: { en: 'Every member may sign in.', zh: '所有成员都可以登录。' },
  accessSome: {
    en: 'Only the members whom these groups admit may sign in.',
    zh: '仅以下规则允许的成员可以登录。',
  },
  signIns: {
    title: { en: 'Sign-ins in 30 days', zh: '30 天内的登录' },
    unit: (n: number) => ({ en: counted(n, 'sign-in', 'sign-ins'), zh: '次' }),
    label: (from: string, until: string, total: string) => ({
      en: `Sign-ins of each day from ${from} to ${until}, ${total} in all`,
      zh: `${from}至${until}每天的登录，共 ${total} 次`,
    }),
    last: { en: 'Last sign-in', zh: '最近登录' },
    none: { en: 'No sign-in in 30 days', zh: '30 天内没有登录' },
    enter: { en: 'Give your program the values', zh: '在你的程序中填写接入信息' },
    enterText: {
      en: 'Copy the lines for your library below. No secret has been used yet.',
      zh: '复制下方适合你的程序库的内容。目前还没有用过密钥。',
    },
    enterPublic: {
      en: 'Copy the lines for your library below. No secret is needed.',
      zh: '复制下方适合你的程序库的内容，不需要密钥。',
    },
    used: { en: 'Your program has used a secret.', zh: '你的程序已经用过密钥。' },
    try: { en: 'See the sign-in as a member does', zh: '以成员身份体验登录' },
    tryText: {
      en: 'It needs no program. You allow your own application, and read what it would learn about you.',
      zh: '不需要程序：由你授权自己的应用，并查看它会获得哪些信息。',
    },
    own: { en: 'Sign in through your program', zh: '通过你的程序登录' },
    ownText: {
      en: 'From then on each sign-in appears here.',
      zh: '此后每次登录都会显示在这里。',
    },
  },
  nextDocs: { en: 'Sign-in documentation', zh: '登录接入文档' },
  homepage: { en: 'Homepage', zh: '主页' },
  homepageHint: {
    en: 'An https address. Members see its host when they are asked to allow access.',
    zh: 'https 地址，成员在授权页面会看到其域名。',
  },
  logo: { en: 'Logo', zh: '图标' },
  problems: {
    homepage: {
      en: 'Enter an https address of at most 500 characters, without fragment, or leave it empty.',
      zh: '请填写不超过 500 个字符、不含片段的 https 地址，或留空。',
    },
    logo_url: {
      en: 'Enter an https address of at most 500 characters, without fragment, or leave it empty.',
      zh: '请填写不超过 500 个字符、不含片段的 https 地址，或留空。',
    },
  },
  deniesLevel: (level: number) => ({
    en:
      level === 0
        ? 'These rules block trust level 0, and therefore every member. Levels are cumulative.'
        : `These rules block trust level ${level} and every level above. Levels are cumulative.`,
    zh:
      level === 0
        ? '当前规则禁止信任等级 0，因此会禁止所有成员：等级是累积的。'
        : `当前规则禁止信任等级 ${level}，因此也禁止所有更高的等级：等级是累积的。`,
  }),
  save: { en: 'Save', zh: '保存' },
  preview: { en: 'Preview access', zh: '预览访问权限' },
  previewTitle: { en: 'Who would have access', zh: '谁可以使用' },
  previewText: {
    en: 'Counted with the groups in the form. Nothing is saved yet.',
    zh: '按表单中填写的用户组计算，尚未保存。',
  },
  admitted: { en: 'Allowed', zh: '可以使用' },
  refusedBarred: { en: 'Suspended at the forum or here', zh: '已被论坛或本站停用' },
  refusedAny: { en: 'Refused', zh: '将被拒绝' },
  rough: {
    en: 'The rules name groups that you are not in, so you see rough numbers and no names.',
    zh: '规则涉及你不在其中的用户组，因此只显示大致人数，不列出成员。',
  },
  fewerThanTen: { en: 'fewer than 10', zh: '不足 10' },
  orMore: (formatted: string) => ({ en: `${formatted} or more`, zh: `${formatted} 或更多` }),
  refusedDeny: (group: string) => ({ en: `Refused: member of ${group}`, zh: `因属于${group}而被拒绝` }),
  refusedAllow: { en: 'Refused: in none of the allowed groups', zh: '不属于任何允许的用户组' },
  nobody: { en: 'no one', zh: '无人' },
  suchAs: { en: 'such as', zh: '例如' },
  bounded: (formatted: string) => ({
    en: `Only the newest ${formatted} members were counted.`,
    zh: `仅统计了最新的 ${formatted} 位成员。`,
  }),
  secrets: { en: 'Client secrets', zh: '客户端密钥' },
  secretsText: {
    en: 'A secret is shown only once, when it is created. The list shows the beginning of its SHA-256.',
    zh: '密钥只在生成时显示一次，列表中显示的是其 SHA-256 的开头部分。',
  },
  secretsTab: { en: 'Secrets', zh: '密钥' },
  secret: { en: 'Secret', zh: '密钥' },
  inUse: { en: 'Active', zh: '有效' },
  ending: { en: 'Expires soon', zh: '即将失效' },
  noSecrets: {
    en: 'No secret is valid, so the application cannot get tokens.',
    zh: '没有可用的密钥，应用无法获取令牌。',
  },
  lost: {
    en: 'Lost every secret? Ask an administrator to reset them.',
    zh: '所有密钥都丢失了？请联系管理员重置。',
  },
  createdAt: { en: 'Created', zh: '创建于' },
  madeAt: { en: 'Created', zh: '生成时间' },
  lastUsed: { en: 'Last used', zh: '最近使用' },
  never: { en: 'never', zh: '从未使用' },
  expires: { en: 'Accepted until', zh: '有效至' },
  noEnd: { en: 'no expiry', zh: '长期有效' },
  endSecret: { en: 'End now', zh: '立即停用' },
  sureEnd: (name: string) => ({ en: `End the secret ${name}…?`, zh: `停用密钥 ${name}…？` }),
  sureEndText: (app: string) => ({
    en: `Programs that use this secret can no longer get tokens for ${app}. The other secret keeps working.`,
    zh: `使用此密钥的程序将无法再为 ${app} 获取令牌，另一个密钥不受影响。`,
  }),
  sureEndLast: (app: string) => ({
    en: `This is the last secret. No one can sign in to ${app} until an administrator resets it.`,
    zh: `这是最后一个密钥。停用后无人能登录 ${app}，直到管理员重置。`,
  }),
  secretsLeft: { en: 'Secrets left', zh: '剩余密钥' },
  affected: { en: 'Members who use the application', zh: '使用此应用的成员' },
  tokensStay: {
    en: 'Tokens that were already issued keep working until they expire.',
    zh: '已签发的令牌在到期前仍然有效。',
  },
  shownOnce: {
    en: 'The new secret is shown only once, on the next page.',
    zh: '新密钥只在下一页显示一次。',
  },
  ended: (name: string) => ({
    en: `The secret ${name}… has ended. One other secret works.`,
    zh: `密钥 ${name}… 已停用，还有一个密钥可用。`,
  }),
  endedLast: (name: string) => ({
    en: `The secret ${name}… has ended. No secret is left, so no one can sign in until an administrator resets it.`,
    zh: `密钥 ${name}… 已停用。已没有可用的密钥，在管理员重置之前无人能登录。`,
  }),
  addSecret: { en: 'Replace the secret', zh: '更换密钥' },
  addSecretText: {
    en: 'Generate a second secret and put it on your server. Both work during the overlap, so sign-in keeps working while you switch.',
    zh: '生成第二个密钥并部署到服务器。重叠期内两个密钥都有效，更换过程不会中断登录。',
  },
  sureAdd: { en: 'Replace the client secret?', zh: '更换客户端密钥？' },
  sureAddText: (app: string, until: string) => ({
    en: `${app} gets a new secret now. The old one works until ${until}.`,
    zh: `${app} 将获得新密钥，旧密钥在 ${until} 之前仍然有效。`,
  }),
  sureAddAtOnce: (app: string) => ({
    en: `${app} gets a new secret now, and the old one ends at once. No one can sign in until your server has the new one.`,
    zh: `${app} 将获得新密钥，旧密钥立即失效。在服务器换上新密钥之前，无人能登录。`,
  }),
  formerEnds: { en: 'The old secret ends', zh: '旧密钥失效时间' },
  presented: { en: 'Current secret', zh: '当前密钥' },
  presentedHint: { en: 'It proves that you run the application.', zh: '用于证明应用由你运营。' },
  overlap: { en: 'Keep the old secret for', zh: '旧密钥保留' },
  overlapHours: {
    0: { en: 'no time: it ends at once', zh: '不保留，立即失效' },
    1: { en: '1 hour', zh: '1 小时' },
    24: { en: '24 hours', zh: '24 小时' },
    168: { en: '7 days', zh: '7 天' },
    720: { en: '30 days', zh: '30 天' },
  } as Record<number, Text>,
  replace: { en: 'Replace secret…', zh: '更换密钥…' },
  makeSecret: { en: 'Generate the new secret', zh: '生成新密钥' },
  secretProblems: {
    not_live: {
      en: 'This is not a valid secret of the application. Nothing was changed.',
      zh: '这不是该应用当前可用的密钥，没有任何更改。',
    },
    two_live: {
      en: 'Two secrets are valid already. End one of them first. Nothing was changed.',
      zh: '已有两个可用的密钥，请先停用其中一个。',
    },
  },
  twoLive: {
    en: 'Two secrets are valid. You can generate another one after one of them has ended.',
    zh: '已有两个可用的密钥，其中一个失效后才能再生成新的。',
  },
  newSecret: (formerUntil: string) => ({
    en: `A new secret was created. ${formerUntil === '' ? 'Every former secret has ended.' : `The old secret works until ${formerUntil}.`}`,
    zh: `新密钥已生成。${formerUntil === '' ? '之前的密钥均已失效。' : `旧密钥在 ${formerUntil} 之前仍然有效。`}`,
  }),
  toApp: { en: 'Back to the application', zh: '返回应用' },
  history: { en: 'History', zh: '历史记录' },
  historyBy: (name: string) => ({ en: `by @${name}`, zh: `操作者 @${name}` }),
  acts: {
    registered: { en: 'Created', zh: '已创建' },
    updated: { en: 'Changed', zh: '已修改' },
    secret_added: { en: 'Secret added', zh: '添加了密钥' },
    secret_ended: { en: 'Secret ended', zh: '停用了密钥' },
    secret_reset: { en: 'Secret reset', zh: '重置了密钥' },
    linked: { en: 'Linked with a payment application', zh: '关联了收款应用' },
    unlinked: { en: 'Link with a payment application ended', zh: '与收款应用的关联已结束' },
    suspended: { en: 'Suspended', zh: '已停用' },
    reinstated: { en: 'Reinstated', zh: '已恢复' },
    reviewed: { en: `Marked “${common.reviewed.en}”`, zh: `标记为“${common.reviewed.zh}”` },
    review_withdrawn: {
      en: `Mark “${common.reviewed.en}” removed`,
      zh: `取消了“${common.reviewed.zh}”标记`,
    },
    deleted: { en: 'Deleted', zh: '已删除' },
  } as Record<string, Text>,
  fields: {
    name: { en: 'name', zh: '名称' },
    description: { en: 'description', zh: '简介' },
    homepage: { en: 'homepage', zh: '主页' },
    logo_url: { en: 'logo', zh: '图标' },
    redirect_uris: { en: 'redirect URIs', zh: '回调地址' },
    post_logout_redirect_uris: { en: 'sign-out redirect URIs', zh: '退出登录后的返回地址' },
    backchannel_logout_uri: { en: 'back-channel logout address', zh: '后端退出登录地址' },
    id_token_signed_response_alg: { en: 'ID token signature', zh: 'ID 令牌签名算法' },
    allow_groups: { en: 'allowed groups', zh: '允许的用户组' },
    deny_groups: { en: 'blocked groups', zh: '禁止的用户组' },
    grant_types: { en: 'sign-in on devices', zh: '设备登录' },
    is_listed: { en: 'launch page', zh: '应用页展示' },
    resource_uri: { en: 'address of the service', zh: '服务地址' },
  } as Record<string, Text>,
  remove: { en: 'Delete this application', zh: '删除此应用' },
  removeText: (members: string) => ({
    en: `This cannot be undone. Members can no longer sign in to it (${members}). Its secrets, tokens and authorisations are deleted.`,
    zh: `此操作无法撤销。所有人（${members}）立即无法登录，它的密钥、令牌和授权会一并删除。`,
  }),
  removeConfirm: { en: 'Type the application’s name to confirm', zh: '输入应用名称以确认' },
  removeUnconfirmed: { en: 'This is not its name. Nothing was deleted.', zh: '名称不符，没有删除任何内容。' },
  removeButton: { en: 'Delete for good', zh: '永久删除' },
  removed: (name: string, members: string, n: number) => ({
    en:
      n === 0
        ? `${name} is deleted. No member used it.`
        : `${name} is deleted. ${members} ${counted(n, 'member', 'members')} can no longer sign in to it.`,
    zh: n === 0 ? `已删除 ${name}，此前没有成员使用。` : `已删除 ${name}，${members} 位成员无法再登录。`,
  }),
} satisfies Texts
