/** Texts of hosts at which notifications fail. */
import type { Texts } from '../../web/languages.ts'

export const hosts = {
  paused: { en: 'paused', zh: '已暂停' },
  pausedAt: { en: 'Paused', zh: '暂停时间' },
  failing: (count: string) => ({ en: `${count} failing`, zh: `${count} 条失败` }),
  pause: { en: 'Pause this host', zh: '暂停此主机' },
  resume: { en: 'Resume this host', zh: '恢复此主机' },
} satisfies Texts
