// This room: back-channel logout: tells applications that a session has ended.
// Verbs: openLogoutSender, claimAndSettle, signLogoutToken.
// Tables: logout_deliveries.
// Clauses: spec/sign-in 4.2.
/** Texts of the logout tokens that were sent to an application. */
import type { Texts } from '../../web/languages.ts'

export const logoutDeliveries = {
  title: { en: 'Sign-outs sent', zh: '已发送的退出登录通知' },
  text: {
    en: 'The last 50 logout tokens. A failed one is repeated after 10 seconds, 1, 5 and 30 minutes.',
    zh: '最近 50 个退出登录令牌。失败后会在 10 秒、1、5 和 30 分钟后重试。',
  },
  none: { en: 'No session has ended yet.', zh: '还没有会话结束。' },
  waiting: { en: 'Not sent yet', zh: '尚未发送' },
  attempts: (count: number) => ({ en: `${count} attempts`, zh: `已尝试 ${count} 次` }),
  next: { en: 'next attempt', zh: '下次尝试' },
  outcomes: {
    delivered: { en: 'Confirmed', zh: '已确认' },
    bad_status: { en: 'Refused by your server', zh: '你的服务器拒绝了它' },
    redirect: { en: 'Your server redirected', zh: '你的服务器返回了重定向' },
    bad_address: { en: 'The address cannot be called', zh: '地址无法请求' },
    blocked: { en: 'The address is not public', zh: '不是公网地址' },
    dns: { en: 'The host was not found', zh: '找不到该主机' },
    refused: { en: 'The connection was refused', zh: '连接被拒绝' },
    unreachable: { en: 'The server was not reached', zh: '无法连接服务器' },
    tls: { en: 'The certificate was not accepted', zh: '证书未被接受' },
    timeout: { en: 'No response in time', zh: '未及时响应' },
    cut: { en: 'The connection was cut', zh: '连接中断' },
    malformed: { en: 'The response could not be read', zh: '无法识别响应' },
    withdrawn: { en: 'Not sent: no address, or suspended', zh: '未发送：没有地址，或应用已停用' },
    internal: { en: 'Not sent: our fault', zh: '未发送：本站出现故障' },
    interrupted: { en: 'Not sent: interrupted', zh: '未发送：过程中断' },
  },
} satisfies Texts
