/** Texts of the way from a test application to a live one. */
import type { Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

export const goLive = {
  title: { en: 'Go live with this', zh: '正式上线' },
  back: { en: 'Test application', zh: '测试应用' },
  shown: { en: 'What your test has shown', zh: '测试已验证' },
  /** The verdict on the newest order of a test application, and what comes next. */
  worked: {
    good: { en: 'Your test payment worked.', zh: '测试付款成功。' },
    failed: { en: 'Paid, but your shop has not confirmed it.', zh: '已付款，但商店没有确认。' },
    unpaid: { en: 'Your newest test order is not paid.', zh: '最新的测试订单尚未付款。' },
    pay: { en: 'Open its pay page, and pay as a buyer would.', zh: '打开付款页，像买家一样付款。' },
    over: { en: 'Its time is over. Create another one below.', zh: '已不能付款，请在下方再创建一笔。' },
    alone: {
      en: 'Next: enter the address where your server hears of payments. Without a server, go live.',
      zh: '下一步：填写接收付款事件的地址；没有服务器时，可直接正式上线。',
    },
    next: { en: 'Next: go live.', zh: '下一步：正式上线。' },
  },
  conditions: {
    review: { en: 'An administrator reviews it first.', zh: '由管理员先审核。' },
    keys: { en: 'It has keys of its own.', zh: '使用另一组密钥。' },
    apart: { en: 'Test orders stay here.', zh: '测试订单留在此处。' },
  },
  whole: { en: 'Check the whole round', zh: '检查整个流程' },
  next: {
    none: {
      en: `Real ${POINTS} need a live application, with the settings of this one.`,
      zh: `收取真实${POINTS}需要正式应用，它会沿用此应用的设置。`,
    },
    pending: {
      en: 'Your live application waits for its review. You can copy the settings of this one to it meanwhile.',
      zh: '正式应用正在等待审核，期间可将此应用的设置复制过去。',
    },
    approved: {
      en: `Your live application is approved. Put its keys into your shop, and it takes real ${POINTS}.`,
      zh: `正式应用已通过审核。在商店中填入它的密钥，即可收取真实${POINTS}。`,
    },
    rejected: {
      en: 'Your live application was rejected. Correct what the reviewer wrote; saving applies again.',
      zh: '正式应用已被驳回。请按审核意见修改，保存后会重新提交。',
    },
    suspended: {
      en: 'Your live application is suspended. Its overview says why.',
      zh: '正式应用已停用，原因见其概览页。',
    },
  },
  see: { en: 'What carries over', zh: '查看沿用的内容' },
  toLive: { en: 'Open the live application', zh: '打开正式应用' },
  lead: {
    none: {
      en: 'You apply for a live application with the settings below. An administrator reviews it; until then it takes no payments.',
      zh: '将以下列设置申请正式应用，管理员审核通过后才能收款。',
    },
    some: {
      en: 'These settings differ from those of your live application. You can copy them; changed names, addresses and logos are reviewed again, while sales continue.',
      zh: '以下设置与正式应用不同，可以复制过去。名称、地址和图标的更改会重新审核，期间照常收款。',
    },
    same: {
      en: 'Your live application has the same settings as this one.',
      zh: '正式应用的设置与此应用相同。',
    },
  },
  carried: { en: 'Carries over', zh: '沿用' },
  fields: {
    name: { en: 'Name', zh: '名称' },
    description: { en: 'Description', zh: '简介' },
    callback_url: { en: 'Callback address', zh: '回调地址' },
    notify_url: { en: 'Notification address', zh: '通知地址' },
    homepage: { en: 'Homepage', zh: '主页' },
    logo_url: { en: 'Logo', zh: '图标' },
    exchange_rate: { en: 'Exchange rate', zh: '兑换比例' },
    order_minutes: { en: 'Minutes to pay', zh: '付款时限（分钟）' },
    allowed_addresses: { en: 'Servers that may call the API', zh: '允许调用接口的服务器' },
  },
  apart: { en: 'Stays apart', zh: '不会沿用' },
  apartItems: {
    keys: {
      en: 'The keys: the live application has its own Payment ID, pid, token and KEY. Put them into your shop.',
      zh: '密钥：正式应用有自己的 Payment ID、商户号、Token 和 KEY，请填入商店。',
    },
    orders: {
      en: `Orders, refunds and play ${POINTS}: they stay here, and are not counted in live figures.`,
      zh: `订单、退款和虚拟${POINTS}：留在此应用，不计入正式数据。`,
    },
    events: {
      en: 'The address for events and its secret, your public key, and the team: set them in the live application.',
      zh: '事件地址及其密钥、你的公钥和团队：请在正式应用中设置。',
    },
  },
  apply: { en: 'Apply for the live application', zh: '申请正式应用' },
  copy: { en: 'Copy to the live application', zh: '复制到正式应用' },
  copied: { en: 'The settings of the test application were copied.', zh: '已复制测试应用的设置。' },
} satisfies Texts
