/** Texts of a member's passkeys, and of their use. */
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'

export const passkeys = {
  title: { en: 'Passkeys', zh: '通行密钥' },
  lead: {
    en: 'A passkey signs you in with your fingerprint, face or screen lock. It works on this site only, so a fake site cannot take it.',
    zh: '通行密钥可以用指纹、面容或锁屏密码登录。它只在本站有效，仿冒网站无法骗取。',
  },
  leadAtForum: {
    en: 'You sign in with the forum. A passkey then confirms that it is you, for example before a large payment.',
    zh: '你使用论坛账号登录。登录后，通行密钥可用于确认是你本人，例如大额付款之前。',
  },
  summary: (n: number) => ({
    en:
      n === 0
        ? 'None: with one you sign in without your password'
        : `${n} ${counted(n, 'passkey', 'passkeys')}`,
    zh: n === 0 ? '未添加：添加后无需密码即可登录' : `${n} 个通行密钥`,
  }),
  none: { en: 'No passkey yet', zh: '还没有通行密钥' },
  noneText: {
    en: 'Your password keeps working when you add one.',
    zh: '添加通行密钥后，密码仍然可用。',
  },
  noneTextAtForum: {
    en: 'You keep signing in with the forum when you add one.',
    zh: '添加通行密钥后，仍然使用论坛账号登录。',
  },
  made: { en: 'Added', zh: '添加时间' },
  used: { en: 'Last used', zh: '最近使用' },
  unused: { en: 'Not used yet', zh: '尚未使用' },
  synced: { en: 'Synced', zh: '已同步' },
  thisDevice: { en: 'This device only', zh: '仅限一台设备' },
  afterPassword: { en: 'After the password only', zh: '仅用于密码之后' },
  elsewhere: (host: string) => ({
    en: `Works only at ${host}, the former address of this site`,
    zh: `仅在本站的旧地址 ${host} 有效`,
  }),
  name: { en: 'Name', zh: '名称' },
  rename: { en: 'Rename', zh: '改名' },
  remove: { en: 'Remove', zh: '移除' },
  addTitle: { en: 'Add a passkey', zh: '添加通行密钥' },
  nameHint: { en: 'So that you recognise it in this list.', zh: '方便你在列表中辨认。' },
  add: { en: 'Add a passkey', zh: '添加通行密钥' },
  unsupported: {
    en: 'This browser cannot add passkeys, or scripts are turned off.',
    zh: '此浏览器不支持添加通行密钥，或已禁用脚本。',
  },
  notMade: {
    en: 'No passkey was added. If this device has one for your account already, it is in the list.',
    zh: '没有添加通行密钥。如果此设备已有你账号的通行密钥，它就在列表中。',
  },
  addAt: { en: 'Passkeys are added at this address:', zh: '请在以下地址添加通行密钥：' },
  noDomain: {
    en: 'Browsers keep passkeys for a domain name only, and this site is at an IP address. The operator of the site can change that.',
    zh: '浏览器只为域名保存通行密钥，而本站使用 IP 地址。站点运维人员可以更改。',
  },
  added: (name: string) => ({
    en: `The passkey “${name}” was added.`,
    zh: `已添加通行密钥“${name}”。`,
  }),
  renamed: (name: string) => ({
    en: `The passkey is now named “${name}”.`,
    zh: `通行密钥已改名为“${name}”。`,
  }),
  removed: (name: string) => ({
    en: `The passkey “${name}” was removed. Delete it in your browser or password manager too.`,
    zh: `已移除通行密钥“${name}”。请在浏览器或密码管理器中也删除它。`,
  }),
  sureTitle: (name: string) => ({ en: `Remove the passkey “${name}”?`, zh: `移除通行密钥“${name}”？` }),
  sureLead: {
    en: 'It stops working at once. Browsers that are signed in stay signed in.',
    zh: '它会立即失效，已登录的浏览器不受影响。',
  },
  sureNote: {
    en: 'To end those sign-ins too, sign them out under “Where you are signed in”.',
    zh: '如需结束这些登录，请在“登录的设备”中退出登录。',
  },
  problems: {
    badName: {
      en: 'Use 1 to 60 characters for the name, none of them control or invisible characters.',
      zh: '名称为 1 至 60 个字符，且不能包含控制字符或不可见字符。',
    },
    expired: {
      en: 'This page was open for too long. Please add the passkey once more.',
      zh: '页面打开太久，请重新添加。',
    },
    unverified: {
      en: 'The passkey could not be verified, and was not added.',
      zh: '无法验证这个通行密钥，没有添加。',
    },
    full: { en: 'You have ten passkeys. Remove one first.', zh: '你已有十个通行密钥，请先移除一个。' },
    known: { en: 'This passkey is registered already.', zh: '这个通行密钥已经添加过。' },
    needed: {
      en: 'Two-step verification needs this passkey. Turn two-step verification off first.',
      zh: '两步验证需要这个通行密钥，请先关闭两步验证。',
    },
  },
} satisfies Texts
