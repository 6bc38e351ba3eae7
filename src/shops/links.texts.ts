/** Texts of the link between a sign-in application and a payment application. */
import type { Texts } from '../web/languages.ts'

export const shopLink = {
  title: { en: 'One shop', zh: '同一家店' },
  lead: {
    sign_in: {
      en: 'Link this application with your payment application, and members meet both as one shop: one name and one logo when they sign in, pay and look for it.',
      zh: '与你的收款应用关联后，成员登录、付款和查找时看到的是同一家店：同一个名称，同一个图标。',
    },
    payment: {
      en: 'Link this application with your sign-in application, and members meet both as one shop: one name and one logo when they sign in, pay and look for it.',
      zh: '与你的登录应用关联后，成员登录、付款和查找时看到的是同一家店：同一个名称，同一个图标。',
    },
  },
  with: { en: 'Link with', zh: '关联对象' },
  takes: (name: string) => ({
    en: `It takes the name “${name}” and this logo, and the staff reviews it again. If this application has no logo, it takes the other one’s.`,
    zh: `对方改用“${name}”这一名称和此图标，并由本站重新审核；如果此应用没有图标，则采用对方的图标。`,
  }),
  link: { en: 'Link', zh: '关联' },
  linkedWith: {
    sign_in: { en: 'Linked with your payment application', zh: '已关联收款应用' },
    payment: { en: 'Linked with a sign-in application', zh: '已关联登录应用' },
  },
  oneWith: { en: 'One shop with', zh: '同一家店' },
  together: {
    en: 'Both have the same name and logo. A change of either changes both.',
    zh: '两者的名称和图标相同，修改其中一个，另一个也随之修改。',
  },
  open: { en: 'Open', zh: '打开' },
  unlink: { en: 'Unlink', zh: '取消关联' },
  noHomepage: {
    sign_in: {
      en: 'Members cannot open this application from the page of all apps, because it has no homepage.',
      zh: '此应用没有主页，因此成员无法从“全部应用”页打开它。',
    },
    payment: {
      en: 'Members do not find this shop on the page of all apps, because it has no homepage.',
      zh: '此商店没有主页，因此成员在“全部应用”页找不到它。',
    },
  },
  addHomepage: { en: 'Add a homepage', zh: '填写主页' },
  onlyOwner: {
    en: 'Only the owner can change the name and the logo, because the linked sign-in application has them too.',
    zh: '关联的登录应用使用同一名称和图标，因此只有所有者可以修改。',
  },
  missing: { en: 'Choose one of your applications.', zh: '请选择你的一个应用。' },
  done: {
    linked: (name: string) => ({
      en: `Linked. Members meet both applications as ${name}.`,
      zh: `已关联。成员看到的两个应用都是“${name}”。`,
    }),
    renamed: (before: string) => ({
      en: `The other one was called “${before}”.`,
      zh: `另一个应用原名“${before}”。`,
    }),
    newLogo: { en: 'It has the same logo now.', zh: '两者图标现已相同。' },
    waits: { en: 'The staff reviews what has changed.', zh: '更改将由本站重新审核。' },
    unlinked: (name: string) => ({
      en: `Unlinked. Both applications keep the name ${name} and the logo, until you change one.`,
      zh: `已取消关联。两个应用都保留名称“${name}”和图标，之后可以分别修改。`,
    }),
  },
  suspended: {
    en: 'Nothing was changed: the linked payment application is suspended, so its name and logo stay. Unlink it to change this application alone.',
    zh: '没有任何更改：关联的收款应用已停用，名称和图标不能修改。如只修改此应用，请先取消关联。',
  },
} satisfies Texts
