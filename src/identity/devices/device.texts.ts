/** Texts of the pages on which a member signs in a device. */
import type { Texts } from '../../web/languages.ts'

export const device = {
  title: { en: 'Sign in on a device', zh: '在设备上登录' },
  lead: {
    en: 'Enter the code that your television, console or program shows.',
    zh: '请输入电视、游戏机或程序上显示的代码。',
  },
  code: { en: 'Code', zh: '代码' },
  another: { en: 'Enter another code', zh: '输入其他代码' },
  continue: { en: 'Continue', zh: '继续' },
  unknown: {
    en: 'No device waits with this code. Check it, or start again on the device.',
    zh: '没有设备在等待此代码。请检查代码，或在设备上重新开始。',
  },
  warning: {
    en: 'Continue only if you have just started this yourself, on a device in front of you.',
    zh: '仅当你刚刚在自己面前的设备上亲自发起登录时，才继续。',
  },
  warningText: {
    en: 'Anyone who sent you a code or a link wants to get into your account.',
    zh: '如果代码或链接是别人发给你的，对方就是想进入你的账号。',
  },
  showsCode: { en: 'The device shows', zh: '设备显示的代码' },
  from: { en: 'Requested from', zh: '请求来自' },
  program: { en: 'The program calls itself', zh: '程序自称' },
  at: { en: 'Requested at', zh: '请求时间' },
  askedEachTime: {
    en: 'You are asked each time.',
    zh: '每次都会询问。',
  },
  allowed: (app: string) => ({
    en: `Allowed. Go back to your device: ${app} signs you in there within seconds.`,
    zh: `已允许。请回到设备，${app} 会在几秒内完成登录。`,
  }),
  denied: (app: string) => ({
    en: `Denied. The device is not signed in to ${app}.`,
    zh: `已拒绝。设备没有登录 ${app}。`,
  }),
} satisfies Texts
