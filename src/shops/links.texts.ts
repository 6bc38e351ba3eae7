/** Texts of the link between a sign-in application and a payment application. */
import { common } from '../web/common.texts.ts'
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
  asks: {
    en: 'You choose next which name and logo stay. Nothing changes before that.',
    zh: '下一步选择保留哪个名称和图标，在此之前不会有任何更改。',
  },
  next: { en: 'Choose the name and logo', zh: '选择名称和图标' },
  /** The question of the page, by what the two applications differ in. */
  chooses: {
    both: { en: 'Which name and logo stay?', zh: '保留哪个名称和图标？' },
    name: { en: 'Which name stays?', zh: '保留哪个名称？' },
    logo: { en: 'Which logo stays?', zh: '保留哪个图标？' },
    nothing: { en: 'Link the two applications?', zh: '关联这两个应用？' },
  },
  chooseLead: {
    en: 'Linked applications have one name and one logo. If you end the link later, you can give the earlier ones back.',
    zh: '关联的两个应用使用同一名称和图标。日后取消关联时，可以恢复原来的名称和图标。',
  },
  keep: {
    sign_in: (name: string) => ({ en: `“${name}”, of the sign-in application`, zh: `登录应用的“${name}”` }),
    payment: (name: string) => ({ en: `“${name}”, of the payment application`, zh: `收款应用的“${name}”` }),
  },
  keepLogo: {
    sign_in: { en: 'That of the sign-in application', zh: '登录应用的图标' },
    payment: { en: 'That of the payment application', zh: '收款应用的图标' },
  },
  kinds: {
    sign_in: { en: 'Sign-in application', zh: '登录应用' },
    payment: { en: 'Payment application', zh: '收款应用' },
  },
  stays: { en: 'stays as it is', zh: '保持不变' },
  newLogo: { en: 'new logo', zh: '更换图标' },
  noLogo: { en: 'loses its logo', zh: '不再有图标' },
  reviewed: {
    sign_in: {
      en: `Loses the mark “${common.reviewed.en}” until the staff has looked at it again. It keeps working.`,
      zh: `“${common.reviewed.zh}”标记会被取消，直到本站重新审核，期间仍可正常使用。`,
    },
    payment: {
      en: `Keeps selling. Buyers read “${common.changedSince.en}” until the staff has looked at it again.`,
      zh: `可继续收款；在本站重新审核之前，买家会看到“${common.changedSince.zh}”。`,
    },
  },
  link: { en: 'Link', zh: '关联' },
  linkedWith: {
    sign_in: { en: 'Linked with your payment application', zh: '已关联收款应用' },
    payment: { en: 'Linked with a sign-in application', zh: '已关联登录应用' },
  },
  shows: {
    en: 'Members see one tile with this name and logo.',
    zh: '成员看到的是使用此名称和图标的同一个入口。',
  },
  leadsTo: { en: 'It leads to', zh: '点开后前往' },
  leadsNowhere: { en: 'It has no homepage, so it is not offered.', zh: '没有主页，因此不会推荐给成员。' },
  oneWith: { en: 'One shop with', zh: '同一家店' },
  together: {
    en: 'Both have the same name and logo. A change of either changes both.',
    zh: '两者的名称和图标相同，修改其中一个，另一个也随之修改。',
  },
  open: { en: 'Open', zh: '打开' },
  unlink: { en: 'Unlink', zh: '取消关联' },
  unlinkTitle: (name: string) => ({ en: `Unlink ${name}?`, zh: `取消${name}的关联？` }),
  unlinkLead: {
    en: 'Members then meet two applications again. You choose which names and logos they have.',
    zh: '取消后成员看到的又是两个应用。请选择两者使用的名称和图标。',
  },
  unlinkKeeps: {
    en: 'Members then meet two applications again. The link has changed no name or logo, so both stay.',
    zh: '取消后成员看到的又是两个应用。关联没有改动过名称和图标，两者保持不变。',
  },
  keepBoth: { en: 'Both keep this name and logo', zh: '两者都保留现在的名称和图标' },
  giveBack: { en: 'Give the earlier name and logo back', zh: '恢复关联前的名称和图标' },
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
  done: {
    linked: (name: string) => ({
      en: `Linked. Members meet both applications as ${name}.`,
      zh: `已关联。成员看到的两个应用都是“${name}”。`,
    }),
    renamed: {
      sign_in: (before: string, after: string) => ({
        en: `The sign-in application “${before}” is now called “${after}”.`,
        zh: `登录应用“${before}”已更名为“${after}”。`,
      }),
      payment: (before: string, after: string) => ({
        en: `The payment application “${before}” is now called “${after}”.`,
        zh: `收款应用“${before}”已更名为“${after}”。`,
      }),
    },
    newLogo: {
      sign_in: { en: 'The sign-in application has another logo.', zh: '登录应用的图标已更换。' },
      payment: { en: 'The payment application has another logo.', zh: '收款应用的图标已更换。' },
    },
    waits: { en: 'The staff reviews what has changed.', zh: '更改将由本站重新审核。' },
    unlinked: { en: 'Unlinked.', zh: '已取消关联。' },
    keep: (name: string) => ({
      en: `Both applications keep the name ${name} and the logo, until you change one.`,
      zh: `两个应用都保留名称“${name}”和图标，之后可以分别修改。`,
    }),
  },
  suspended: {
    en: 'Nothing was changed: the linked payment application is suspended, so its name and logo stay. To change the sign-in application alone, unlink it and keep both names.',
    zh: '没有任何更改：关联的收款应用已停用，名称和图标不能修改。如只修改登录应用，请取消关联并保留两者现有名称。',
  },
} satisfies Texts
