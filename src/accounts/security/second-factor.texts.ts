/** Texts of setting up, managing and turning off a second factor. */
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'

export const secondFactor = {
  setUp: {
    title: { en: 'Set up a second factor', zh: '设置两步验证' },
    required: { en: 'Administrators of this site need a second factor.', zh: '本站要求管理员开启两步验证。' },
    lead: {
      en: 'From then on signing in takes your password and a code that only your phone can make.',
      zh: '开启后，登录需要密码以及只有你的手机才能生成的验证码。',
    },
    scan: { en: 'Scan this with an authenticator app.', zh: '用验证器应用扫描此二维码。' },
    qr: { en: 'QR code for your authenticator app', zh: '供验证器应用扫描的二维码' },
    typed: { en: 'Or type this in', zh: '或手动输入密钥' },
    open: { en: 'Open in an app on this device', zh: '在本设备的应用中打开' },
    code: { en: 'Enter the 6 digits that the app shows now', zh: '输入应用当前显示的 6 位数字' },
    wrongCode: {
      en: 'This code is wrong. Check that the clock of your phone is right, and try the next code.',
      zh: '验证码错误。请检查手机时间是否准确，并尝试下一个验证码。',
    },
    submit: { en: 'Turn on', zh: '开启' },
  },
  manage: {
    title: { en: 'Second factor', zh: '两步验证' },
    on: { en: 'On since', zh: '开启于' },
    recoveryCodes: { en: 'Recovery codes', zh: '恢复码' },
    codesLeft: (n: number) => ({
      en: `${n} of 10 ${counted(n, 'is', 'are')} left.`,
      zh: `10 个中还剩 ${n} 个。`,
    }),
    remakeText: {
      en: 'New codes replace all the old ones, used or not.',
      zh: '新的恢复码会取代所有旧的，无论是否用过。',
    },
    remake: { en: 'Make new recovery codes', zh: '重新生成恢复码' },
    offText: {
      en: 'Without it your password alone opens the account. The recovery codes go as well.',
      zh: '关闭后，仅凭密码即可登录，恢复码也会一并删除。',
    },
    off: { en: 'Turn off the second factor', zh: '关闭两步验证' },
  },
  recoveryCodes: {
    title: { en: 'Recovery codes', zh: '恢复码' },
    isOn: { en: 'The second factor is on', zh: '两步验证已开启' },
    remade: { en: 'New recovery codes', zh: '新的恢复码' },
    keep: { en: 'Keep these now.', zh: '请立即保存。' },
    text: {
      en: 'They are shown this once. If you lose your phone, each lets you in one time; without them only an administrator can help.',
      zh: '恢复码仅显示这一次。手机丢失时，每个恢复码可登录一次；没有恢复码时只能请管理员协助。',
    },
    done: { en: 'I have stored them', zh: '我已保存' },
  },
} satisfies Texts
