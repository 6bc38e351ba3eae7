/** Texts of the page of one registered application. */
import type { Text, Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'

export const registry = {
  manage: { en: 'Manage', zh: '管理' },
  backToList: { en: 'All my applications', zh: '我的全部应用' },
  saved: { en: 'Saved.', zh: '已保存。' },
  unchanged: {
    en: 'Nothing was saved. Correct what is marked and send it again.',
    zh: '尚未保存。请修改标出的内容后重新提交。',
  },
  members: (formatted: string, count: number, isMore: boolean) => {
    if (count === 0) return { en: 'not used by any member yet', zh: '尚无成员使用' }
    return isMore
      ? { en: `used by more than ${formatted} members`, zh: `超过 ${formatted} 位成员在使用` }
      : { en: `used by ${formatted} ${counted(count, 'member', 'members')}`, zh: `${formatted} 位成员在使用` }
  },
  reviewed: { en: 'Reviewed by staff', zh: '已由管理人员审核' },
  unreviewed: { en: 'Not reviewed', zh: '未经审核' },
  suspended: { en: 'Suspended', zh: '已停用' },
  suspendedText: {
    en: 'An administrator has suspended this application. Nobody can sign in to it, and its tokens do not work.',
    zh: '管理员已停用此应用：任何人都无法用它登录，它的令牌也不再有效。',
  },
  reason: { en: 'Reason', zh: '原因' },
  details: { en: 'What people see', zh: '展示信息' },
  detailsText: {
    en: 'Changing any of this but the groups takes the mark “reviewed by staff” away.',
    zh: '除用户组外，修改以下任何内容都会失去“已由管理人员审核”标记。',
  },
  homepage: { en: 'Homepage', zh: '主页' },
  homepageHint: {
    en: 'An https address. People see its host when they are asked to allow the application.',
    zh: 'https 地址。用户在授权页面会看到其域名。',
  },
  logo: { en: 'Logo', zh: '图标' },
  logoHint: { en: 'The https address of a square picture.', zh: '方形图片的 https 地址。' },
  problems: {
    homepage: {
      en: 'Give an https address of at most 500 characters, without fragment, or leave it empty.',
      zh: '请填写不超过 500 个字符、不含片段的 https 地址，或留空。',
    },
    logo_url: {
      en: 'Give an https address of at most 500 characters, without fragment, or leave it empty.',
      zh: '请填写不超过 500 个字符、不含片段的 https 地址，或留空。',
    },
  },
  cumulative: {
    en: 'Trust levels are cumulative: whoever has level 3 is in trust_level_0, 1 and 2 as well. Denying a level denies everyone above it too.',
    zh: '信任等级是累积的：等级 3 的成员同时属于 trust_level_0、1 和 2。禁止某一等级，也就禁止了所有更高的等级。',
  },
  deniesLevel: (level: number) => ({
    en:
      level === 0
        ? 'These rules deny trust level 0, and with it every member: levels are cumulative.'
        : `These rules deny trust level ${level}, and with it every level above: levels are cumulative.`,
    zh:
      level === 0
        ? '当前规则禁止信任等级 0，因此会禁止所有成员：等级是累积的。'
        : `当前规则禁止信任等级 ${level}，因此也禁止所有更高的等级：等级是累积的。`,
  }),
  save: { en: 'Save', zh: '保存' },
  preview: { en: 'See who would get in', zh: '预览谁可以使用' },
  previewTitle: { en: 'Who would get in', zh: '谁可以使用' },
  previewText: {
    en: 'With the groups as they stand in the form. Nothing has been saved.',
    zh: '按表单中当前填写的用户组计算，尚未保存。',
  },
  admitted: { en: 'Would get in', zh: '可以使用' },
  refusedBarred: { en: 'Suspended at the forum or here', zh: '在论坛或此处被停用' },
  refusedAny: { en: 'Would be refused', zh: '将被拒绝' },
  rough: {
    en: 'The rules name groups that you are not in: numbers are rough then, and nobody is named. Administrators see both.',
    zh: '规则中有你不在其中的用户组：只给出大致人数，也不列出任何人。管理员可以看到两者。',
  },
  fewerThanTen: { en: 'fewer than 10', zh: '不足 10' },
  orMore: (formatted: string) => ({ en: `${formatted} or more`, zh: `${formatted} 或更多` }),
  refusedDeny: (group: string) => ({ en: `Refused as members of ${group}`, zh: `因属于${group}而被拒绝` }),
  refusedAllow: { en: 'Refused: in none of the groups it is open to', zh: '不属于任何允许的用户组' },
  nobody: { en: 'nobody', zh: '无人' },
  suchAs: { en: 'such as', zh: '例如' },
  bounded: (formatted: string) => ({
    en: `Only the newest ${formatted} members were looked at.`,
    zh: `仅统计了最新的 ${formatted} 位成员。`,
  }),
  secrets: { en: 'Client secrets', zh: '客户端密钥' },
  secretsText: {
    en: 'A secret is shown once, when it is made. Each is named here by the beginning of its SHA-256, so that you can tell them apart.',
    zh: '密钥只在生成时显示一次。这里用其 SHA-256 的开头部分来区分不同的密钥。',
  },
  noSecrets: {
    en: 'There is none that works, so the application cannot get tokens.',
    zh: '没有可用的密钥，应用无法获取令牌。',
  },
  lost: {
    en: 'Have you lost every secret? Ask an administrator for a reset.',
    zh: '所有密钥都丢失了？请联系管理员重置。',
  },
  madeAt: { en: 'Made', zh: '生成时间' },
  lastUsed: { en: 'Last used', zh: '上次使用' },
  never: { en: 'never', zh: '从未' },
  expires: { en: 'Ends', zh: '失效时间' },
  noEnd: { en: 'no end set', zh: '未设置' },
  endSecret: { en: 'End it now', zh: '立即停用' },
  endSecretText: {
    en: 'It stops working at once. Tokens that were issued before go on.',
    zh: '立即失效。此前签发的令牌不受影响。',
  },
  endLastText: {
    en: 'It is the last one: the application will get no tokens until an administrator resets it.',
    zh: '这是最后一个密钥：停用后应用将无法获取令牌，直到管理员重置。',
  },
  addSecret: { en: 'Add a second secret', zh: '添加第二个密钥' },
  addSecretText: {
    en: 'To change secrets without a break: add one, give it to your server, then let the old one end. A secret that works now proves that the application is yours.',
    zh: '用于不中断地更换密钥：先添加新密钥并部署到服务器，再让旧密钥失效。请出示一个当前可用的密钥，以证明应用归你所有。',
  },
  presented: { en: 'A secret that works now', zh: '一个当前可用的密钥' },
  overlap: { en: 'The old one goes on for', zh: '旧密钥继续有效' },
  overlapHours: {
    0: { en: 'not at all: it ends at once', zh: '不保留，立即失效' },
    1: { en: '1 hour', zh: '1 小时' },
    24: { en: '24 hours', zh: '24 小时' },
    168: { en: '7 days', zh: '7 天' },
    720: { en: '30 days', zh: '30 天' },
  } as Record<number, Text>,
  makeSecret: { en: 'Make the secret', zh: '生成密钥' },
  secretProblems: {
    not_live: {
      en: 'This is not a secret of the application that works now. Nothing was changed.',
      zh: '这不是该应用当前可用的密钥。未作任何更改。',
    },
    two_live: {
      en: 'Two secrets work already. End one of them first.',
      zh: '已有两个可用的密钥，请先停用其中一个。',
    },
  },
  twoLive: {
    en: 'Two secrets work. A third can be made when one of them has ended.',
    zh: '已有两个可用的密钥。其中一个失效后才能再生成新的。',
  },
  newSecretTitle: { en: 'A new secret', zh: '新密钥' },
  newSecretText: {
    en: 'It is shown this once and cannot be read again. It belongs on your server, never in a browser or an app.',
    zh: '仅显示这一次，之后无法再查看。请只保存在你的服务器上，不要放进浏览器或客户端程序。',
  },
  history: { en: 'History', zh: '历史记录' },
  historyBy: (name: string) => ({ en: `by @${name}`, zh: `操作者 @${name}` }),
  acts: {
    registered: { en: 'Registered', zh: '已登记' },
    updated: { en: 'Changed', zh: '已修改' },
    secret_added: { en: 'A secret was added', zh: '添加了密钥' },
    secret_ended: { en: 'A secret was ended', zh: '停用了密钥' },
    secret_reset: { en: 'The secret was reset', zh: '重置了密钥' },
    suspended: { en: 'Suspended', zh: '已停用' },
    reinstated: { en: 'Reinstated', zh: '已恢复' },
    reviewed: { en: 'Marked as reviewed by staff', zh: '标记为“已由管理人员审核”' },
    review_withdrawn: {
      en: 'The mark “reviewed by staff” was taken away',
      zh: '取消了“已由管理人员审核”标记',
    },
    deleted: { en: 'Deleted', zh: '已删除' },
  } as Record<string, Text>,
  fields: {
    name: { en: 'name', zh: '名称' },
    description: { en: 'description', zh: '描述' },
    homepage: { en: 'homepage', zh: '主页' },
    logo_url: { en: 'logo', zh: '图标' },
    redirect_uris: { en: 'redirect addresses', zh: '回调地址' },
    post_logout_redirect_uris: { en: 'addresses after signing out', zh: '退出后的返回地址' },
    id_token_signed_response_alg: { en: 'signature of ID tokens', zh: 'ID 令牌签名算法' },
    allow_groups: { en: 'groups it is open to', zh: '允许的用户组' },
    deny_groups: { en: 'groups it is closed to', zh: '禁止的用户组' },
  } as Record<string, Text>,
  remove: { en: 'Delete this application', zh: '删除此应用' },
  removeText: (members: string) => ({
    en: `This cannot be undone. Its sign-in stops at once, for everybody (${members}); its secrets, every token and code it was given, and what members have allowed it are deleted with it.`,
    zh: `此操作无法撤销。所有人（${members}）立即无法再用它登录；它的密钥、获得的全部令牌和授权码，以及成员的授权都会一并删除。`,
  }),
  removeConfirm: { en: 'Type its name to confirm', zh: '输入应用名称以确认' },
  removeUnconfirmed: { en: 'That is not its name. Nothing was deleted.', zh: '名称不符，没有删除任何内容。' },
  removeButton: { en: 'Delete for good', zh: '永久删除' },
} satisfies Texts
