/** Texts of the section on security of the account page, and of its forms. */
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'

export const security = {
  title: { en: 'Security', zh: '安全' },
  password: { en: 'Password', zh: '密码' },
  passwordText: { en: 'Choose one that you use nowhere else', zh: '请使用未在其他网站用过的密码' },
  /** Heads the time of the last change. */
  passwordSet: { en: 'Last set', zh: '最近设置' },
  atForum: {
    en: 'You sign in with the forum. It manages your password and two-step verification.',
    zh: '你使用论坛账号登录，密码和两步验证由论坛管理。',
  },
  secondFactor: { en: 'Two-step verification', zh: '两步验证' },
  secondFactorOn: {
    en: 'On: a sign-in with the password also asks for a code from your app',
    zh: '已开启：用密码登录时还需要验证器中的验证码',
  },
  secondFactorByPasskey: {
    en: 'On: a sign-in with the password also asks for a passkey',
    zh: '已开启：用密码登录时还需要通行密钥',
  },
  secondFactorOff: {
    en: 'Off: your password alone is enough to sign in',
    zh: '未开启：仅凭密码即可登录你的账号',
  },
  secondFactorGone: {
    en: 'Two-step verification is off. Your recovery codes no longer work.',
    zh: '两步验证已关闭，恢复码同时失效。',
  },
  forgotten: { en: 'Forgot your password?', zh: '忘记密码？' },
  noEmail: {
    en: 'None: without one, you cannot recover a forgotten password',
    zh: '未填写：忘记密码时将无法找回',
  },
  emailConfirmed: (email: string) => ({ en: `${email}, confirmed`, zh: `${email}（已验证）` }),
  emailWaits: (email: string) => ({
    en: `Open the link that was sent to ${email}`,
    zh: `请打开发到 ${email} 的链接`,
  }),
  sendAgain: { en: 'Send again', zh: '重新发送' },
  changeEmail: { en: 'Change', zh: '更换' },
  emailUnconfirmed: (email: string) => ({
    en: `${email}, not confirmed: it receives no email yet`,
    zh: `${email}（未验证，暂不会向其发送邮件）`,
  }),
  passwordChanged: (others: number) => ({
    en:
      others === 0
        ? 'Your password is changed. No other browser was signed in.'
        : `Your password is changed, and ${others} other ${counted(others, 'browser is', 'browsers are')} signed out.`,
    zh:
      others === 0
        ? '密码已修改，没有其他已登录的浏览器。'
        : `密码已修改，其他 ${others} 个浏览器已退出登录。`,
  }),
} satisfies Texts

/** Texts of changing a password. */
export const password = {
  title: { en: 'Change your password', zh: '修改密码' },
  firstTitle: { en: 'Choose your password', zh: '设置你的密码' },
  once: {
    en: 'This account has a one-time password. Choose your own to continue.',
    zh: '此账号使用一次性密码，请先设置自己的密码。',
  },
  current: { en: 'Current password', zh: '当前密码' },
  new: { en: 'New password', zh: '新密码' },
  ends: {
    en: 'Every other browser will be signed out. Apps that you authorised keep their access until you revoke it:',
    zh: '修改后，其他浏览器会全部退出登录。已授权的应用仍可继续访问，直到你撤销：',
  },
  hint: { en: 'At least 10 characters', zh: '至少 10 个字符' },
  submit: { en: 'Change password', zh: '修改密码' },
  firstSubmit: { en: 'Save and continue', zh: '保存并继续' },
  too_short: {
    en: 'The password must have 10 to 200 characters.',
    zh: '密码须为 10 至 200 个字符。',
  },
  common: {
    en: 'This password is on the lists that attackers try first. Choose another.',
    zh: '这个密码太常见，攻击者会最先尝试，请换一个。',
  },
  wrong_password: {
    en: 'The current password is wrong. Nothing was changed.',
    zh: '当前密码错误，密码未修改。',
  },
  same_password: {
    en: 'The new password is the current one. Choose another.',
    zh: '新密码与当前密码相同，请换一个。',
  },
} satisfies Texts

/** Texts of changing and confirming an email address. */
export const emailAddress = {
  title: { en: 'Email address', zh: '邮箱地址' },
  lead: {
    en: 'We will send a link to the new address. Your address changes when you open that link while signed in.',
    zh: '我们会向新邮箱发送链接。你登录后打开该链接，新邮箱才会生效。',
  },
  now: { en: 'Current address', zh: '当前邮箱' },
  none: { en: 'none', zh: '未填写' },
  isConfirmed: { en: 'Confirmed', zh: '已验证' },
  isUnconfirmed: { en: 'Not confirmed', zh: '未验证' },
  pending: { en: 'Waiting', zh: '待验证' },
  pendingText: {
    en: 'A link was sent there. Open it while signed in, or send another one below.',
    zh: '链接已发往该邮箱，请登录后打开，或在下方重新发送。',
  },
  uses: { en: 'Used for', zh: '用途' },
  usesText: {
    en: 'Resetting a forgotten password, and news of your account. Apps see it only after you allow them.',
    zh: '找回密码，以及接收账号动态。应用须经你允许才能看到。',
  },
  new: { en: 'New address', zh: '新邮箱' },
  submit: { en: 'Send the link', zh: '发送链接' },
  malformed: { en: 'This is not an email address.', zh: '这不是有效的邮箱地址。' },
  same: { en: 'This is already your address.', zh: '这已经是你当前的邮箱。' },
  confirmTitle: { en: 'Confirm your address', zh: '验证邮箱' },
  confirmLead: (name: string) => ({
    en: `Make this the address of @${name}?`,
    zh: `将以下地址设为 @${name} 的邮箱？`,
  }),
  confirm: { en: 'Confirm address', zh: '确认' },
} satisfies Texts

/** Texts of recovering a password by email. */
export const recovery = {
  title: { en: 'Forgot your password?', zh: '忘记密码？' },
  lead: {
    en: 'We send a link that sets a new one to your confirmed address.',
    zh: '我们会向你已验证的邮箱发送设置新密码的链接。',
  },
  forum: {
    en: 'If you sign in with the forum, recover your password there.',
    zh: '如果你使用论坛账号登录，请到论坛找回密码。',
  },
  name: { en: 'Username or email address', zh: '用户名或邮箱' },
  empty: { en: 'Enter a username or an email address.', zh: '请输入用户名或邮箱。' },
  submit: { en: 'Send the link', zh: '发送链接' },
  newTitle: { en: 'Set a new password', zh: '设置新密码' },
  newLead: (name: string) => ({
    en: `For @${name}. You will be signed out in every browser.`,
    zh: `账号 @${name}。设置后，所有浏览器都会退出登录。`,
  }),
  set: { en: 'Set password', zh: '设置密码' },
  /** Heads the name or the address that was typed. */
  asked: { en: 'Sent for', zh: '已申请' },
  again: { en: 'Send again', zh: '重新发送' },
  other: { en: 'Use another name or address', zh: '换一个用户名或邮箱' },
  noAddress: {
    en: 'An account without a confirmed address gets no email. Only an administrator can help it.',
    zh: '未验证邮箱的账号收不到邮件，只能请管理员协助。',
  },
  contact: { en: 'Contact the administrators', zh: '联系管理员' },
} satisfies Texts

/** Texts of setting up, managing and turning off two-step verification. */
export const secondFactor = {
  setUp: {
    title: { en: 'Set up two-step verification', zh: '设置两步验证' },
    required: {
      en: 'Administrators of this site must use two-step verification.',
      zh: '本站要求管理员开启两步验证。',
    },
    lead: {
      en: 'Signing in will then ask for your password and a code from your phone.',
      zh: '开启后，登录除了密码还需要手机上的验证码。',
    },
    scan: { en: 'Scan this code with an authenticator app', zh: '用验证器应用扫描此二维码' },
    qr: { en: 'QR code for your authenticator app', zh: '供验证器应用扫描的二维码' },
    typed: { en: 'Or enter this key', zh: '或手动输入密钥' },
    open: { en: 'Open in an app on this device', zh: '在本设备的应用中打开' },
    code: { en: 'Enter the 6 digits that the app shows', zh: '输入应用显示的 6 位数字' },
    wrongCode: {
      en: 'This code is wrong. Check that your phone’s clock is right, and enter the next code.',
      zh: '验证码错误。请检查手机时间是否准确，并输入下一个验证码。',
    },
    submit: { en: 'Turn on', zh: '开启' },
    passkeys: { en: 'Or use a passkey', zh: '或使用通行密钥' },
    passkeysText: {
      en: 'Signing in with the password will then ask for one of your passkeys. You get recovery codes, too.',
      zh: '开启后，用密码登录时还需要你的一个通行密钥。同样会生成恢复码。',
    },
    usePasskeys: { en: 'Turn on with your passkeys', zh: '使用通行密钥开启' },
    addPasskey: { en: 'Add a passkey first', zh: '先添加通行密钥' },
  },
  manage: {
    title: { en: 'Two-step verification', zh: '两步验证' },
    isOn: { en: 'On', zh: '已开启' },
    means: { en: 'Second step', zh: '第二步' },
    app: { en: 'A code from your app, or a passkey', zh: '应用验证码，或通行密钥' },
    passkeys: { en: 'A passkey', zh: '通行密钥' },
    on: { en: 'On since', zh: '开启时间' },
    recoveryCodes: { en: 'Recovery codes', zh: '恢复码' },
    codesLeft: (n: number) => ({ en: `${n} of 10 left`, zh: `10 个中还剩 ${n} 个` }),
    codesThatEnd: { en: 'Recovery codes that stop working', zh: '将失效的恢复码' },
    remakeText: {
      en: 'New codes replace all old ones, used or not.',
      zh: '新的恢复码会取代所有旧的，无论是否用过。',
    },
    remake: { en: 'Generate new recovery codes', zh: '重新生成恢复码' },
    sureCodes: {
      title: { en: 'Generate new recovery codes?', zh: '重新生成恢复码？' },
      lead: {
        en: 'The old codes stop working at once. The new ones are shown once.',
        zh: '旧的恢复码立即失效，新的只显示一次。',
      },
      note: { en: 'Your authenticator app keeps working.', zh: '验证器应用不受影响。' },
      noteWithPasskeys: { en: 'Your passkeys keep working.', zh: '通行密钥不受影响。' },
    },
    offText: {
      en: 'Your password alone is then enough to sign in, and your recovery codes are deleted.',
      zh: '关闭后仅凭密码即可登录，恢复码也会删除。',
    },
    off: { en: 'Turn off two-step verification', zh: '关闭两步验证' },
    sureOff: {
      title: { en: 'Turn off two-step verification?', zh: '关闭两步验证？' },
      lead: {
        en: 'Anyone who learns your password can then sign in, see your data and pay from your wallet.',
        zh: '此后任何知道你密码的人都能登录、查看你的数据并使用你的钱包付款。',
      },
      note: {
        en: 'Remove the entry from your authenticator app afterwards. Setting it up again creates a new key.',
        zh: '关闭后请从验证器应用中删除对应条目，重新设置时会使用新的密钥。',
      },
      noteWithPasskeys: {
        en: 'Your passkeys stay, and still sign you in.',
        zh: '通行密钥会保留，仍可用于登录。',
      },
    },
  },
  recoveryCodes: {
    title: { en: 'Recovery codes', zh: '恢复码' },
    isOn: { en: 'Two-step verification is on', zh: '两步验证已开启' },
    remade: { en: 'New recovery codes', zh: '新的恢复码' },
    keep: { en: 'Save these codes now.', zh: '请立即保存。' },
    text: {
      en: 'They are shown only once. Each one replaces your phone for one sign-in. Without them, only an administrator can let you in again.',
      zh: '恢复码只显示这一次。手机丢失时，每个恢复码可登录一次；没有恢复码时只能请管理员协助。',
    },
    done: { en: 'I have saved them', zh: '我已保存' },
  },
} satisfies Texts
