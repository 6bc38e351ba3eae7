/** Texts of setting up, managing and turning off two-step verification. */
import type { Texts } from '../../web/languages.ts'

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
    means: { en: 'After the password', zh: '密码之后' },
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
