/** Texts of mails about the keys of an account. */
import type { Texts } from '../../web/languages.ts'

export const mails = {
  recovery: (minutes: number) => ({
    subject: { en: 'A new password for your account', zh: '设置新密码' },
    text: {
      en: `Somebody, hopefully you, has asked for a new password. Open this link to set one. It works once, for ${minutes} minutes. If it was not you, do nothing: your password stays what it is.`,
      zh: `有人（希望是你本人）申请为你的账号设置新密码。请打开以下链接进行设置，链接 ${minutes} 分钟内有效，且只能使用一次。如果不是你本人操作，请忽略此邮件，密码不会改变。`,
    },
  }),
  confirmEmail: (email: string) => ({
    subject: { en: 'Confirm your address', zh: '验证你的邮箱' },
    text: {
      en: `You want ${email} to be the address of your account. Open this link, signed in as yourself, to confirm it. If this means nothing to you, do nothing.`,
      zh: `你希望将 ${email} 设为账号的邮箱。请以本人身份登录后打开以下链接进行验证。如果你不清楚此事，请忽略此邮件。`,
    },
  }),
  notices: {
    'password.changed': {
      subject: { en: 'Your password was changed', zh: '你的密码已修改' },
      text: {
        en: 'The password of your account was changed, and every other sign-in was ended. If it was not you, recover your password at once and tell an administrator.',
        zh: '你的账号密码已修改，其他设备均已退出登录。如果不是你本人操作，请立即找回密码并联系管理员。',
      },
    },
    'password.recovered': {
      subject: { en: 'Your password was set anew', zh: '你的密码已重新设置' },
      text: {
        en: 'A new password was set for your account with a link sent to this address, and every sign-in was ended. If it was not you, somebody can read your mail: secure your mailbox, then recover your password again.',
        zh: '有人通过发送到此邮箱的链接为你的账号设置了新密码，所有设备均已退出登录。如果不是你本人操作，说明有人能读取你的邮件：请先确保邮箱安全，再重新找回密码。',
      },
    },
    'email.changed': {
      subject: { en: 'The address of your account was changed', zh: '你的账号邮箱已更换' },
      text: {
        en: 'Your account now has another e-mail address; this one gets no more mail from us. If it was not you, tell an administrator at once.',
        zh: '你的账号已更换邮箱，今后不再向此邮箱发送邮件。如果不是你本人操作，请立即联系管理员。',
      },
    },
    'second_factor.on': {
      subject: { en: 'The second factor was turned on', zh: '两步验证已开启' },
      text: {
        en: 'From now on signing in to your account takes a code from your authenticator app. If it was not you, recover your password and tell an administrator.',
        zh: '今后登录你的账号需要验证器中的验证码。如果不是你本人操作，请找回密码并联系管理员。',
      },
    },
    'second_factor.off': {
      subject: { en: 'The second factor was turned off', zh: '两步验证已关闭' },
      text: {
        en: 'From now on your password alone opens your account. If it was not you, recover your password at once and tell an administrator.',
        zh: '今后仅凭密码即可登录你的账号。如果不是你本人操作，请立即找回密码并联系管理员。',
      },
    },
    'second_factor.reset': {
      subject: { en: 'An administrator turned your second factor off', zh: '管理员关闭了你的两步验证' },
      text: {
        en: 'From now on your password alone opens your account. Sign in and set the second factor up again. If you did not ask for this, tell the administrators.',
        zh: '今后仅凭密码即可登录你的账号。请登录后重新设置两步验证。如果你没有提出此请求，请联系管理员。',
      },
    },
    'recovery_codes.remade': {
      subject: { en: 'New recovery codes were made', zh: '恢复码已重新生成' },
      text: {
        en: 'Your account has new recovery codes, and the old ones work no more. If it was not you, recover your password at once and tell an administrator.',
        zh: '你的账号有了新的恢复码，旧的已失效。如果不是你本人操作，请立即找回密码并联系管理员。',
      },
    },
    'recovery_code.used': {
      subject: { en: 'A recovery code was used', zh: '恢复码已被使用' },
      text: {
        en: 'Somebody signed in to your account with your password and a recovery code. If it was not you, recover your password at once and tell an administrator.',
        zh: '有人使用你的密码和一个恢复码登录了你的账号。如果不是你本人操作，请立即找回密码并联系管理员。',
      },
    },
    suspended: {
      subject: { en: 'Your account was suspended', zh: '你的账号已停用' },
      text: {
        en: 'An administrator has suspended your account for a time. Until then you cannot sign in, and applications cannot use it. If you do not know why, ask the administrators.',
        zh: '管理员已暂时停用你的账号。在此期间你无法登录，应用也无法使用你的账号。如果不清楚原因，请联系管理员。',
      },
    },
    banned: {
      subject: { en: 'Your account was banned', zh: '你的账号已封禁' },
      text: {
        en: 'An administrator has banned your account. You cannot sign in any more, and applications cannot use it. If you do not know why, ask the administrators.',
        zh: '管理员已封禁你的账号。你无法再登录，应用也无法使用你的账号。如果不清楚原因，请联系管理员。',
      },
    },
    anonymised: {
      subject: { en: 'Your account is gone', zh: '你的账号已注销' },
      text: {
        en: 'Your account was anonymised: what it held about you was removed, nothing opens it any more, and this cannot be undone. This is the last mail. If it was not you, tell an administrator at once.',
        zh: '你的账号已匿名化：其中关于你的内容已删除，无法再登录，也无法恢复。这是最后一封邮件。如果不是你本人操作，请立即联系管理员。',
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
        en: 'An administrator has ended every sign-in of your account, and the access of every application to it. Sign in again to go on.',
        zh: '管理员已结束你账号的全部登录，并撤销了所有应用的访问权限。请重新登录后继续使用。',
      },
    },
    'sign_in.link_used': {
      subject: { en: 'Somebody signed in with a one-time link', zh: '有人用一次性链接登录了你的账号' },
      text: {
        en: 'Those who run this site made a link that signs in to your account once, and it was used. If you did not ask for it, tell them at once.',
        zh: '本站运维人员为你的账号生成了一次性登录链接，且该链接已被使用。如果不是你要求的，请立即告知他们。',
      },
    },
  },
} satisfies Texts
