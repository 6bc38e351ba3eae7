/** Texts of refused forms, which their pages show. */
import type { Texts } from '../languages.ts'

export const forms = {
  missing: { en: 'Fill this in.', zh: '请填写此项。' },
  tooLong: (max: number) => ({ en: `At most ${max} characters.`, zh: `最多 ${max} 个字符。` }),
  wrong: { en: 'This cannot be used. Check it.', zh: '此项无法使用，请检查。' },
  correct: {
    en: 'Nothing was changed. Correct what is marked, and send the form again.',
    zh: '没有任何更改。请修改标出的内容后重新提交。',
  },
  kept: { en: 'Nothing was changed yet', zh: '尚未更改任何内容' },
  sendAgain: {
    en: 'Check the form and send it again. Passwords, codes, keys and files must be entered again.',
    zh: '请核对表单后重新提交。密码、验证码、密钥和文件需要重新填写。',
  },
} satisfies Texts
