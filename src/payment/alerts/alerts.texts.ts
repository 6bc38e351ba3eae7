/** Texts of alerts, on their page and by mail. */
import type { Text, Texts } from '../../web/languages.ts'
import { counted, pointsOf } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

/** The values in the text of an alert. */
type Facts = Record<string, string>

const decided: Record<string, Text> = {
  approve: { en: 'approved', zh: '已通过' },
  reject: { en: 'rejected', zh: '已驳回' },
  suspend: { en: 'suspended', zh: '已停用' },
  reinstate: { en: 'in use again', zh: '已恢复使用' },
}

export const alerts = {
  lead: {
    en: 'What you should know of your payment applications. It also comes by mail, if you have confirmed an address and this site sends mail.',
    zh: '与你的收款应用有关的重要情况。若你已验证邮箱且本站可发送邮件，也会通过邮件告知。',
  },
  nothing: { en: 'Nothing so far.', zh: '暂无提醒。' },
  unread: { en: 'new', zh: '新' },
  markRead: { en: 'Mark all as read', zh: '全部标为已读' },
  look: { en: 'Look', zh: '查看' },
  lowBalance: { en: 'Alert on a low balance', zh: '余额不足提醒' },
  lowBalanceLabel: {
    en: `${POINTS} in your wallet below which you are told`,
    zh: `钱包低于多少${POINTS}时提醒你`,
  },
  lowBalanceHint: {
    en: 'For those who pay transfers from it. Empty: never.',
    zh: '适用于从钱包支付转账的所有者。留空则不提醒。',
  },
  lowBalanceProblem: {
    en: `A whole number of ${POINTS} from 1, or nothing.`,
    zh: '须为不小于 1 的整数，或留空。',
  },
  save: { en: 'Save', zh: '保存' },
  mails: {
    reviewed: ({ app, decision, reason }: Facts) => ({
      subject: {
        en: `${app}: ${decided[decision!]?.en ?? decision}`,
        zh: `${app}：${decided[decision!]?.zh ?? decision}`,
      },
      text: {
        en: `An administrator has decided on your payment application ${app}: ${decided[decision!]?.en ?? decision}.${reason ? ` They wrote: ${reason}` : ''}`,
        zh: `管理员已处理你的收款应用 ${app}：${decided[decision!]?.zh ?? decision}。${reason ? `说明：${reason}` : ''}`,
      },
    }),
    notifications_failing: ({ app, count }: Facts) => ({
      subject: { en: `${app}: notifications fail`, zh: `${app}：通知失败` },
      text: {
        en: `Your shop does not confirm payments: ${count} ${counted(Number(count), 'notification', 'notifications')} of ${app} failed several times today. The page of notifications says what came back, and tells the shop again.`,
        zh: `你的商店没有确认付款：${app} 今天有 ${count} 条通知多次失败。可在通知页面查看商店的回复，并重新发送。`,
      },
    }),
    key_expiring: ({ app, until }: Facts) => ({
      subject: { en: `${app}: an earlier key ends soon`, zh: `${app}：旧密钥即将失效` },
      text: {
        en: `A key of ${app} was replaced, and the earlier one is accepted until ${until}. Make sure that your shop uses the new one by then.`,
        zh: `${app} 的密钥已更换，旧密钥有效至 ${until}。请确认商店届时已使用新密钥。`,
      },
    }),
    balance_low: ({ app, points }: Facts) => ({
      subject: { en: 'Your balance is low', zh: '余额不足' },
      text: {
        en: `Your wallet has fallen below ${pointsOf(points!)}, as you wanted to be told for ${app}. Transfers that it cannot pay are refused.`,
        zh: `按你为 ${app} 设定的提醒：钱包已低于 ${points} ${POINTS}。余额不足的转账会被拒绝。`,
      },
    }),
    invited: ({ app }: Facts) => ({
      subject: { en: `${app}: you are invited to the team`, zh: `${app}：邀请你加入团队` },
      text: {
        en: `You can join the team of the payment application ${app}. Nothing happens unless you accept.`,
        zh: `你可以加入收款应用 ${app} 的团队。接受之前不会有任何变化。`,
      },
    }),
    offered: ({ app }: Facts) => ({
      subject: { en: `${app} is offered to you`, zh: `${app}：请你接手` },
      text: {
        en: `You can become the owner of the payment application ${app}. The page says what that means; nothing happens unless you accept.`,
        zh: `你可以成为收款应用 ${app} 的所有者。页面说明了这意味着什么；接受之前不会有任何变化。`,
      },
    }),
    received: ({ app }: Facts) => ({
      subject: { en: `${app} is yours`, zh: `${app} 现已归你所有` },
      text: {
        en: `You own the payment application ${app} now. Payments go to your wallet from now on. The former owner knows its keys: replace them.`,
        zh: `你现在是收款应用 ${app} 的所有者，此后的收款进入你的钱包。原所有者知道其密钥，请更换。`,
      },
    }),
    given_away: ({ app }: Facts) => ({
      subject: { en: `${app} has another owner`, zh: `${app} 已有新的所有者` },
      text: {
        en: `Your offer was accepted: the payment application ${app} is not yours any more. What was paid before stays yours, and its refunds are taken from your wallet.`,
        zh: `你的移交已被接受，收款应用 ${app} 不再归你所有。此前的收款仍归你，退款也从你的钱包扣除。`,
      },
    }),
    events_gone: ({ app }: Facts) => ({
      subject: { en: `${app}: events were switched off`, zh: `${app}：事件已关闭` },
      text: {
        en: `The address for events of ${app} answered 410 Gone, which means for good, so nothing more is sent there. Name an address on the page of events to switch them on again.`,
        zh: `${app} 的事件接收地址返回了 410 Gone，表示永久失效，因此不再向其发送。在事件页面重新填写地址即可再次开启。`,
      },
    }),
  },
} satisfies Texts
