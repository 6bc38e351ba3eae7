/** Texts of hosts at which notifications fail. */
import type { Texts } from '../../web/languages.ts'

export const hosts = {
  title: { en: 'Hosts', zh: '主机' },
  none: { en: 'No notifications waiting', zh: '没有等待的通知' },
  noneText: { en: 'Every shop has responded.', zh: '所有商店都已响应。' },
  paused: { en: 'Paused', zh: '已暂停' },
  pausedAt: { en: 'Paused', zh: '暂停时间' },
  failing: (count: string) => ({ en: `${count} failed before`, zh: `${count} 条曾失败` }),
  pause: { en: 'Pause this host', zh: '暂停此主机' },
  pauseHint: {
    en: 'Its notifications wait until you resume it. None are lost.',
    zh: '其通知会一直等待到恢复为止，不会丢失。',
  },
  resume: { en: 'Resume this host', zh: '恢复此主机' },
  done: {
    pause: (host: string) => ({
      en: `${host} is paused. Its notifications wait.`,
      zh: `已暂停 ${host}，其通知将等待恢复。`,
    }),
    resume: (host: string) => ({
      en: `${host} is resumed. Its notifications go out now.`,
      zh: `已恢复 ${host}，通知将立即发出。`,
    }),
  },
} satisfies Texts
