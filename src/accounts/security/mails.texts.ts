/** Texts of mails about the keys of an account, and of the pages that follow a mail. */
import type { Texts } from '../../web/languages.ts'

export const mails = {
  recovery: {
    subject: { en: 'Reset your password', zh: '重置密码' },
    text: {
      en: 'Someone asked to reset the password of your account. If it was you, set a new one.',
      zh: '有人申请重置你的账号密码。如果是你本人操作，请设置新密码。',
    },
    button: { en: 'Set a new password', zh: '设置新密码' },
    note: {
      en: 'If you did not ask for it, ignore this email. Your password stays the same.',
      zh: '如果不是你申请的，请忽略此邮件，密码不会改变。',
    },
  },
  /** After “This wasn't me”. */
  lockedOut: {
    subject: { en: 'Set a new password', zh: '请设置新密码' },
    text: {
      en: 'You said that it was not you who used your account. Its old password no longer works, and every browser and app is signed out.',
      zh: '你表示账号的操作不是你本人所为。旧密码已失效，所有浏览器和应用均已退出登录。',
    },
    button: { en: 'Set a new password', zh: '设置新密码' },
    note: {
      en: 'After that, get another one under “Forgot your password?”.',
      zh: '过期后可通过“忘记密码？”重新获取。',
    },
  },
  confirmEmail: (email: string) => ({
    subject: { en: 'Confirm your address', zh: '验证你的邮箱' },
    text: {
      en: `Open the link while signed in, and confirm that ${email} is the address of your account.`,
      zh: `请登录后确认将 ${email} 设为账号邮箱。`,
    },
    button: { en: 'Confirm address', zh: '验证邮箱' },
    note: {
      en: 'If you did not ask for it, ignore this email. Nothing changes.',
      zh: '如果不是你申请的，请忽略此邮件，不会有任何更改。',
    },
  }),
  /** Below the facts of a change that a stranger may have made. */
  wasYou: {
    question: { en: 'Was it you?', zh: '是你本人？' },
    answer: { en: 'There is nothing to do.', zh: '无需理会。' },
  },
  wasNotYou: {
    question: { en: 'Wasn’t it you?', zh: '不是你？' },
    answer: {
      en: 'One click on the page that opens signs out every browser and app, and the password stops working.',
      zh: '在打开的页面上点一次，所有浏览器和应用都会退出登录，当前密码随即失效。',
    },
    answerWithoutPassword: {
      en: 'One click on the page that opens signs out every browser and app.',
      zh: '在打开的页面上点一次，所有浏览器和应用都会退出登录。',
    },
  },
  notMe: { en: 'This wasn’t me', zh: '不是我操作的' },
  notMeNote: (days: number) => ({
    en: `The link works once, for ${days} days, without a password.`,
    zh: `链接 ${days} 天内有效，只能使用一次，无需密码。`,
  }),
  /** What the buttons of other notices say. */
  opens: {
    signIn: { en: 'Sign in', zh: '登录' },
    applications: { en: 'Open your applications', zh: '查看你的应用' },
    secondFactor: { en: 'Set it up again', zh: '重新设置' },
  },
  notices: {
    app_registered: {
      subject: { en: 'An application was created in your name', zh: '有应用以你的名义创建了登录应用' },
      text: {
        en: 'An application that you signed in to has created another one in your name. Members can sign in to it. Under Sign-in applications you can confirm or delete it. If you do not know it, delete it and take back the access of the application that created it.',
        zh: '你登录过的一个应用以你的名义创建了新的登录应用，成员可以登录它。你可以在“登录应用”页面确认或删除。如果你不认识它，请删除它，并撤销创建它的应用的授权。',
      },
    },
    passkey_added: {
      subject: { en: 'A passkey was added to your account', zh: '你的账号添加了通行密钥' },
      text: {
        en: 'A new passkey can now sign in to your account.',
        zh: '新的通行密钥现在可以登录你的账号。',
      },
    },
    passkey_removed: {
      subject: { en: 'A passkey was removed from your account', zh: '你的账号移除了通行密钥' },
      text: {
        en: 'A passkey of your account was removed and no longer works.',
        zh: '你账号的一个通行密钥已被移除，不再有效。',
      },
    },
    passkey_counter: {
      subject: { en: 'A passkey of your account may have been copied', zh: '你的通行密钥可能已被复制' },
      text: {
        en: 'A passkey was refused, because its counter did not grow. This happens when somebody uses a copy of it. If you have just used it, remove it under Passkeys and add it again.',
        zh: '一个通行密钥因计数器没有增长而被拒绝，有人使用它的副本时会出现这种情况。如果你刚使用过它，请在“通行密钥”页面移除后重新添加。',
      },
    },
    'password.changed': {
      subject: { en: 'Your password was changed', zh: '你的密码已修改' },
      text: {
        en: 'The password of your account was changed, and all other browsers were signed out.',
        zh: '你的账号密码已修改，其他浏览器均已退出登录。',
      },
    },
    'password.recovered': {
      subject: { en: 'Your password was reset', zh: '你的密码已重置' },
      text: {
        en: 'A link sent to this address was used to set a new password, and all browsers were signed out. If it was not you, someone can read your email, so secure your mailbox first.',
        zh: '有人通过发送到此邮箱的链接为你的账号设置了新密码，所有浏览器均已退出登录。如果不是你本人操作，说明有人能读取你的邮件，请先确保邮箱安全。',
      },
    },
    'email.changed': {
      subject: { en: 'Your email address was changed', zh: '你的账号邮箱已更换' },
      text: {
        en: 'Your account now has another email address, and this one will receive no more email.',
        zh: '你的账号已更换邮箱，今后不再向此邮箱发送邮件。',
      },
    },
    'second_factor.on': {
      subject: { en: 'Two-step verification was turned on', zh: '两步验证已开启' },
      text: {
        en: 'Signing in to your account now asks for a code from your authenticator app.',
        zh: '今后登录你的账号需要验证器中的验证码。',
      },
    },
    'second_factor.off': {
      subject: { en: 'Two-step verification was turned off', zh: '两步验证已关闭' },
      text: {
        en: 'Your password alone is now enough to sign in.',
        zh: '今后仅凭密码即可登录你的账号。',
      },
    },
    'second_factor.reset': {
      subject: { en: 'An administrator turned off two-step verification', zh: '管理员关闭了你的两步验证' },
      text: {
        en: 'Your password alone is now enough to sign in. Sign in and set up two-step verification again. If you did not ask for this, tell an administrator.',
        zh: '今后仅凭密码即可登录你的账号。请登录后重新设置两步验证。如果你没有提出此请求，请联系管理员。',
      },
    },
    'recovery_codes.remade': {
      subject: { en: 'New recovery codes were generated', zh: '恢复码已重新生成' },
      text: {
        en: 'Your account has new recovery codes, and the old ones no longer work.',
        zh: '你的账号已生成新的恢复码，旧的已失效。',
      },
    },
    'recovery_code.used': {
      subject: { en: 'A recovery code was used', zh: '恢复码已被使用' },
      text: {
        en: 'Someone signed in to your account with your password and a recovery code.',
        zh: '有人使用你的密码和一个恢复码登录了你的账号。',
      },
    },
    suspended: {
      subject: { en: 'Your account was suspended', zh: '你的账号已停用' },
      text: {
        en: 'An administrator has suspended your account for some time. You cannot sign in meanwhile, and apps cannot use your account. If you do not know why, ask an administrator.',
        zh: '管理员已暂时停用你的账号。在此期间你无法登录，应用也无法使用你的账号。如果不清楚原因，请联系管理员。',
      },
    },
    banned: {
      subject: { en: 'Your account was banned', zh: '你的账号已封禁' },
      text: {
        en: 'An administrator has banned your account. You can no longer sign in, and apps cannot use your account. If you do not know why, ask an administrator.',
        zh: '管理员已封禁你的账号。你无法再登录，应用也无法使用你的账号。如果不清楚原因，请联系管理员。',
      },
    },
    anonymised: {
      subject: { en: 'Your account is closed', zh: '你的账号已注销' },
      text: {
        en: 'Your account was anonymised. Your personal data is removed, you can no longer sign in, and this cannot be undone. This is the last email. If it was not you, tell an administrator now.',
        zh: '你的账号已匿名化：个人数据已删除，无法再登录，也无法恢复。这是最后一封邮件。如果不是你本人操作，请立即联系管理员。',
      },
    },
    reinstated: {
      subject: { en: 'Your account was reinstated', zh: '你的账号已恢复' },
      text: {
        en: 'An administrator has reinstated your account. You can sign in again.',
        zh: '管理员已恢复你的账号。你可以再次登录。',
      },
    },
    signed_out: {
      subject: { en: 'You were signed out everywhere', zh: '你的账号已在所有设备上退出登录' },
      text: {
        en: 'An administrator has signed you out everywhere and ended the access of all apps. Sign in again to continue.',
        zh: '管理员已结束你账号的全部登录，并撤销了所有应用的访问权限。请重新登录后继续使用。',
      },
    },
    'sign_in.link_used': {
      subject: { en: 'A one-time link was used to sign in', zh: '有人用一次性链接登录了你的账号' },
      text: {
        en: 'An operator of this site created a one-time sign-in link for your account, and it was used. If you did not ask for it, tell an administrator.',
        zh: '本站运维人员为你的账号生成了一次性登录链接，且该链接已被使用。如果不是你要求的，请告知管理员。',
      },
    },
    'sign_in.new_browser': {
      subject: { en: 'New sign-in to your account', zh: '你的账号有新的登录' },
      text: {
        en: 'A browser that is new to your account has signed in.',
        zh: '一个新的浏览器登录了你的账号。',
      },
    },
  },
} satisfies Texts

/** Texts of pages that say one thing: an email is on its way, a link no longer works. */
export const messages = {
  recoverySent: {
    title: { en: 'Check your inbox', zh: '请查收邮件' },
    text: (minutes: number) => ({
      en: `If an account has this name or confirmed address, we have sent it a link. The link works once, for ${minutes} minutes. If nothing arrives, look in your spam folder.`,
      zh: `如果存在对应的账号且邮箱已验证，链接已发往该邮箱，${minutes} 分钟内有效，只能使用一次。没有收到？请检查垃圾邮件。`,
    }),
    action: { en: 'Back to sign-in', zh: '返回登录' },
  },
  passwordSet: {
    title: { en: 'Your password is set', zh: '密码已设置' },
    text: () => ({
      en: 'You are signed out in every browser. Sign in with your new password.',
      zh: '所有浏览器均已退出登录，请用新密码登录。',
    }),
    action: { en: 'Sign in', zh: '登录' },
  },
  deadRecoveryLink: {
    title: { en: 'This link no longer works', zh: '链接已失效' },
    text: () => ({
      en: 'This link changed nothing. It was already used, has expired, or is incomplete.',
      zh: '此链接没有更改任何内容：它已使用、已过期或不完整。',
    }),
    action: { en: 'Get a new link', zh: '重新获取链接' },
  },
  deadSignInLink: {
    title: { en: 'This link no longer works', zh: '链接已失效' },
    text: () => ({
      en: 'It was already used, has expired, or is incomplete. Ask the person who sent it for a new one.',
      zh: '链接已使用、已过期或不完整。请让发送链接的人重新生成。',
    }),
    action: { en: 'Sign in', zh: '登录' },
  },
  accountClosed: {
    title: { en: 'Your account is closed', zh: '账号已注销' },
    text: () => ({
      en: 'Your personal data is removed, and the account can no longer be used to sign in. Thank you for being part of the community.',
      zh: '你的个人数据已删除，此账号无法再登录。感谢你一路的参与。',
    }),
    action: { en: 'Back to the start page', zh: '返回首页' },
  },
  confirmationSent: {
    title: { en: 'Check your inbox', zh: '请查收邮件' },
    text: (minutes: number) => ({
      en: `Open the link in the email within ${minutes} minutes, while signed in. Nothing changes until then.`,
      zh: `请在 ${minutes} 分钟内登录并打开邮件中的链接，在此之前不会有任何更改。`,
    }),
    action: { en: 'Back to account and security', zh: '返回账号与安全' },
  },
  addressConfirmed: {
    title: { en: 'Your address is confirmed', zh: '邮箱已验证' },
    text: () => ({
      en: 'Email about your account now goes there.',
      zh: '有关账号的邮件今后将发送到该邮箱。',
    }),
    action: { en: 'Back to account and security', zh: '返回账号与安全' },
  },
  lockedOutSent: {
    title: { en: 'Your account is locked', zh: '账号已锁定' },
    text: (minutes: number) => ({
      en: `The old password no longer works, and every browser and app is signed out. We have sent you a link to set a new password. It works once, for ${minutes} minutes.`,
      zh: `旧密码已失效，所有浏览器和应用均已退出登录。设置新密码的链接已发往你的邮箱，${minutes} 分钟内有效，只能使用一次。`,
    }),
    action: { en: 'Back to sign-in', zh: '返回登录' },
  },
  signedOutAll: {
    title: { en: 'You are signed out everywhere', zh: '已全部退出登录' },
    text: () => ({
      en: 'Every browser and app is signed out of your account. You sign in at the forum, so change your password there.',
      zh: '所有浏览器和应用均已退出登录。你使用论坛账号登录，请到论坛修改密码。',
    }),
    action: { en: 'Back to sign-in', zh: '返回登录' },
  },
  deadNotMeLink: {
    title: { en: 'This link no longer works', zh: '链接已失效' },
    text: () => ({
      en: 'It was already used, has expired, or is incomplete. If somebody else uses your account, get a link to set a new password, and tell an administrator.',
      zh: '链接已使用、已过期或不完整。如果有他人使用你的账号，请获取链接设置新密码，并联系管理员。',
    }),
    action: { en: 'Get a link', zh: '获取链接' },
  },
  deadAddressLink: {
    title: { en: 'This link no longer works', zh: '链接已失效' },
    text: () => ({
      en: 'It was already used, has expired, was replaced by a newer link, or belongs to another account. Your address is unchanged.',
      zh: '链接已使用、已过期、已被新的链接取代，或属于其他账号。邮箱没有改变。',
    }),
    action: { en: 'Back to account and security', zh: '返回账号与安全' },
  },
} satisfies Texts
