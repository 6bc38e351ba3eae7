/** Texts of test mode. */
import type { Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

export const testMode = {
  lead: {
    en: `In test mode everything works as it does live, at once and without a review. It has its own keys, and every member has play ${POINTS} to pay with.`,
    zh: `在测试模式下，一切与正式环境相同，无需审核，立即可用；使用单独的密钥，以及每位成员都有的虚拟${POINTS}。`,
  },
  aboutTest: {
    en: `This application has play ${POINTS} only. Its Payment ID, token and KEY are marked as test, and its orders and transfers are not counted in live figures. Every member can be the buyer.`,
    zh: `该应用只有虚拟${POINTS}。它的 Payment ID、Token 和 KEY 都带有测试标记，其订单和转账不计入任何正式应用的数据。任何成员都可以充当买家。`,
  },
  create: { en: 'Create a test application', zh: '创建测试应用' },
  createTwin: { en: 'Create its test application', zh: '创建对应的测试应用' },
  toTest: { en: 'Its test application', zh: '对应的测试应用' },
  toLive: { en: 'The live application', zh: '对应的正式应用' },
  usable: { en: 'Test mode, ready to use', zh: '测试模式，立即可用' },
} satisfies Texts
