// This room: what both kinds of applications share: the logo, and the link that makes two of them one shop.
// Verbs: storeAppLogo, isLogoAddress, linkApps, previewLink, unlinkApps, shareFaceOfSignIn, shareFaceOfPayment.
// Tables: app_logos, shop_links.
// Clauses: spec/limits 1.3; spec/registry 3.4.
/** Texts of the form that uploads an application's logo. */
import type { Texts } from '../web/languages.ts'

export const appLogo = {
  title: { en: 'Logo', zh: '图标' },
  where: {
    en: 'Members see it wherever they meet this application.',
    zh: '成员看到此应用的地方都会显示该图标。',
  },
  none: {
    en: 'There is no logo. Pages show the first letter of the name.',
    zh: '还没有图标，页面显示名称的首字。',
  },
  file: { en: 'Picture', zh: '图片' },
  hint: {
    en: 'A square PNG of at most 512 KB and 512 pixels a side.',
    zh: '方形 PNG，不超过 512 KB，边长不超过 512 像素。',
  },
  upload: { en: 'Upload', zh: '上传' },
  remove: { en: 'Remove the logo', zh: '移除图标' },
  elsewhere: { en: 'Use a picture that is somewhere else', zh: '使用其他网站上的图片' },
  address: { en: 'Address of the picture', zh: '图片地址' },
  use: { en: 'Use this address', zh: '使用此地址' },
  uploaded: { en: 'The logo is uploaded.', zh: '图标已上传。' },
  removed: { en: 'The logo is removed.', zh: '图标已移除。' },
  waits: {
    en: 'Buyers see that the staff has not reviewed this change.',
    zh: '在重新审核之前，买家会看到此更改未经审核。',
  },
} satisfies Texts
