/** Texts of alerts, on their page and by email. */
import { deviceNamed } from '../../accounts/session/device.ts'
import type { AlertKind } from '../../database/tables/notifications.ts'
import type { Text, Texts } from '../../web/languages.ts'
import { counted, pointsOf } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

/** The values in the text of an alert. */
type Facts = Record<string, string>

const decided: Record<string, Text> = {
  approve: { en: 'approved', zh: '已通过' },
  reject: { en: 'rejected', zh: '已驳回' },
  suspend: { en: 'suspended', zh: '已停用' },
  reinstate: { en: 'reinstated', zh: '已恢复' },
}

const ended: Record<string, Text> = {
  merchant: { en: 'The shop has ended it.', zh: '商家已终止。' },
  staff: { en: 'The staff has ended it.', zh: '管理员已终止。' },
  finished: { en: 'Its last day is over.', zh: '已过最后一天。' },
  account_closed: { en: 'The account of its owner is closed.', zh: '商家所有者的账号已注销。' },
}
const refused: Record<string, Text> = {
  insufficient: { en: `Your wallet had too few ${POINTS}.`, zh: `你的钱包${POINTS}不足。` },
  charge_limit: { en: 'It was above the limit of one charge.', zh: '超过单次上限。' },
  period_limit: { en: 'It was above the limit of the period.', zh: '超过每期上限。' },
}

const mandateMails = {
  /** `each` is the most of one charge. `from` is the first day, if it was not the day of the acceptance. */
  mandate_accepted: ({ app, purpose, until, each, from }: Facts) => ({
    subject: { en: `${app} may charge you`, zh: `已允许 ${app} 扣款` },
    text: {
      en: `You have allowed ${app} to charge you for “${purpose}” until ${until}. ${each === undefined ? '' : `The first charge, at most ${pointsOf(each)}, can come ${from === undefined ? 'at once' : `from ${from} on`}. `}You can pause or revoke this at any time.`,
      zh: `你已允许 ${app} 为“${purpose}”扣款，至 ${until}。${each === undefined ? '' : `首次扣款${from === undefined ? '随时可能' : `自 ${from} 起`}，最多 ${each} ${POINTS}。`}可随时暂停或撤销。`,
    },
  }),
  mandate_more: ({ app, purpose, until }: Facts) => ({
    subject: { en: `${app} may charge you more or longer`, zh: `${app} 的扣款限额或期限已放宽` },
    text: {
      en: `You have agreed to more for “${purpose}” by ${app}, until ${until}. If it was not you, revoke it and change your password.`,
      zh: `你已同意放宽 ${app} 为“${purpose}”的扣款条件，至 ${until}。如非本人操作，请立即撤销并修改密码。`,
    },
  }),
  mandate_charged: ({ app, points, purpose }: Facts) => ({
    subject: { en: `${app} charged ${pointsOf(points!)}`, zh: `${app} 扣款 ${points} ${POINTS}` },
    text: {
      en: `${app} has charged you ${pointsOf(points!)} for “${purpose}”. You can pause or revoke its mandate under My mandates.`,
      zh: `${app} 为“${purpose}”扣取了 ${points} ${POINTS}。可在“我的预授权”中暂停或撤销。`,
    },
  }),
  mandate_digest: ({ app, points, count, day, purpose }: Facts) => ({
    subject: {
      en: `${app} charged ${pointsOf(points!)} on ${day}`,
      zh: `${app} 于 ${day} 扣款 ${points} ${POINTS}`,
    },
    text: {
      en: `${app} has charged you ${pointsOf(points!)} in ${count} ${counted(Number(count), 'charge', 'charges')} for “${purpose}” on ${day}.`,
      zh: `${app} 于 ${day} 为“${purpose}”扣款 ${count} 次，共 ${points} ${POINTS}。`,
    },
  }),
  mandate_renews: ({ app, points, day, purpose }: Facts) => ({
    subject: { en: `${app} charges you from ${day}`, zh: `${app} 将于 ${day} 起扣款` },
    text: {
      en: `From ${day}, ${app} may charge you the next ${pointsOf(points!)} for “${purpose}”. To stop it, pause or revoke the mandate before.`,
      zh: `自 ${day} 起，${app} 可为“${purpose}”扣取下一期 ${points} ${POINTS}。如需停止，请在此之前暂停或撤销。`,
    },
  }),
  /** `offered` is the last day that the shop offered, if it offered one. */
  mandate_ending: ({ app, until, purpose, offered }: Facts) => ({
    subject: { en: `${app}: a mandate ends on ${until}`, zh: `${app}：预授权将于 ${until} 到期` },
    text:
      offered !== undefined && offered === until
        ? {
            en: `The mandate for “${purpose}” ends on ${until}, as the shop offered it. After that the shop needs your permission again.`,
            zh: `“${purpose}”的预授权将于 ${until} 到期，与商家的邀请一致。此后商家需要重新取得你的允许。`,
          }
        : {
            en: `The mandate for “${purpose}” ends on ${until}. You can set a later last day, or let it end.`,
            zh: `“${purpose}”的预授权将于 ${until} 到期。可以延后最后一天，或让它到期。`,
          },
  }),
  mandate_refused: ({ app, points, outcome, purpose }: Facts) => ({
    subject: { en: `${app}: a charge was refused`, zh: `${app}：一笔扣款被拒绝` },
    text: {
      en: `A charge of ${pointsOf(points!)} for “${purpose}” was refused. ${refused[outcome!]?.en ?? ''} You hear of it once a period.`,
      zh: `为“${purpose}”扣取 ${points} ${POINTS}被拒绝。${refused[outcome!]?.zh ?? ''}同类情况每期只通知一次。`,
    },
  }),
  mandate_owner: ({ app, owner, purpose }: Facts) => ({
    subject: { en: `${app} has a new owner`, zh: `${app} 的所有者已变更` },
    text: {
      en: `@${owner} now owns ${app}. It cannot charge you for “${purpose}” until you resume the mandate.`,
      zh: `${app} 现由 @${owner} 所有。在你恢复预授权之前，不能再为“${purpose}”扣款。`,
    },
  }),
  mandate_ended: ({ app, reason, purpose, note }: Facts) => ({
    subject: { en: `${app} may not charge you any more`, zh: `${app} 不能再扣款` },
    text: {
      en: `The mandate for “${purpose}” has ended. ${ended[reason!]?.en ?? ''}${note ? ` Message: ${note}` : ''}`,
      zh: `“${purpose}”的预授权已结束。${ended[reason!]?.zh ?? ''}${note ? `说明：${note}` : ''}`,
    },
  }),
} satisfies Texts

/** The labels of the buttons that open what an alert is about. */
const application: Text = { en: 'Open the application', zh: '查看应用' }
const payout: Text = { en: 'Open the payout', zh: '查看批量付款' }
const link: Text = { en: 'Open the link', zh: '查看收款链接' }
const mandate: Text = { en: 'Open the mandate', zh: '查看预授权' }

export const alerts = {
  /** For a member without a confirmed address. */
  noMail: { en: 'Confirm your email address to get these by email', zh: '验证邮箱后，也会发送邮件' },
  /** A sign-in in a new browser, below its name. */
  fromAddress: (ip: string) => ({ en: `From ${ip}`, zh: `来自 ${ip}` }),
  /** The charges of a day, below their sum. */
  chargesFor: (count: string, purpose: string) => ({
    en: `${count} ${counted(Number(count), 'charge', 'charges')} · ${purpose}`,
    zh: `${count} 次 · ${purpose}`,
  }),
  times: (count: number) => ({ en: `${count} times`, zh: `${count} 次` }),
  nothing: { en: 'No alerts', zh: '暂无提醒' },
  nothingText: {
    en: 'Sign-ins in new browsers, charges under mandates, reviews and failing notifications will appear here.',
    zh: '新浏览器登录、预授权扣款、审核结果和通知失败会显示在这里。',
  },
  unread: { en: 'New', zh: '新' },
  markRead: (n: number) => ({
    en: n === 1 ? 'Mark as read' : `Mark all ${n} as read`,
    zh: `全部标为已读（${n}）`,
  }),
  read: (n: number) => ({
    en:
      n === 0
        ? 'There were no unread alerts.'
        : `${n} ${counted(n, 'alert is', 'alerts are')} marked as read.`,
    zh: n === 0 ? '没有未读的提醒。' : `已将 ${n} 条提醒标为已读。`,
  }),
  /** Ends every other session, after a question. */
  notMe: { en: 'This wasn’t me', zh: '不是我本人' },
  /** What the button of an email says. */
  opens: {
    app_registered: application,
    new_browser: { en: 'See the browsers', zh: '查看已登录的浏览器' },
    tipped: { en: 'Open the statement', zh: '查看明细' },
    reviewed: application,
    notifications_failing: { en: 'See the notifications', zh: '查看通知' },
    key_expiring: { en: 'Open the keys', zh: '查看密钥' },
    balance_low: application,
    invited: { en: 'See the invitation', zh: '查看邀请' },
    offered: { en: 'See the offer', zh: '查看移交邀请' },
    received: application,
    given_away: { en: 'Open your applications', zh: '查看你的应用' },
    events_gone: { en: 'Open the events', zh: '查看事件' },
    payout_halted: payout,
    payout_finished: payout,
    link_low: link,
    link_sold_out: link,
    link_stopped: link,
    link_reported: link,
    link_sold: { en: 'See the sales', zh: '查看销售' },
    mandate_accepted: mandate,
    mandate_more: mandate,
    mandate_charged: { en: 'See the receipt', zh: '查看收据' },
    mandate_digest: mandate,
    mandate_renews: mandate,
    mandate_ending: mandate,
    mandate_refused: mandate,
    mandate_owner: mandate,
    mandate_ended: mandate,
  } satisfies Record<AlertKind, Text>,
  /** The facts of an email. */
  shop: { en: 'Shop', zh: '商家' },
  amount: { en: 'Amount', zh: '金额' },
  purpose: { en: 'For', zh: '用途' },
  balanceAfter: { en: 'Balance after', zh: '扣款后余额' },
  nextCharge: { en: 'Next charge from', zh: '下次扣款不早于' },
  pointsText: (points: string) => ({ en: pointsOf(points), zh: `${points} ${POINTS}` }),
  asWritten: (value: string) => ({ en: value, zh: value }),
  limitIsYours: {
    en: 'You set this limit yourself. To get no more of these emails, clear it on the page of the application.',
    zh: '该限额由你自己设定。如不想再收到此类邮件，可在应用页面清空它。',
  },
  lowBalance: { en: 'Low balance alert', zh: '余额不足提醒' },
  lowBalanceLabel: { en: 'Alert me when my wallet falls below', zh: '钱包余额低于此数时提醒我' },
  lowBalanceHint: {
    en: 'Useful when transfers are paid from your wallet. Leave empty for no alert.',
    zh: '适用于从你的钱包支付转账的情况。留空则不提醒。',
  },
  lowBalanceProblem: {
    en: `Enter a whole number of ${POINTS} from 1, or leave the field empty.`,
    zh: '请填写不小于 1 的整数，或留空。',
  },
  save: { en: 'Save', zh: '保存' },
  mails: {
    app_registered: ({ app, by }: Facts) => ({
      subject: { en: `${app} was created in your name`, zh: `${app} 以你的名义创建` },
      text: {
        en: `${by} has created the sign-in application ${app} in your name. Confirm it, or delete it.`,
        zh: `${by} 以你的名义创建了登录应用 ${app}。请确认或删除。`,
      },
    }),
    /** On the page only: a tip sends no mail. */
    tipped: ({ name, points, net = points }: Facts) => ({
      subject: {
        en: `${name} tipped you ${pointsOf(points!)}.`,
        zh: `${name} 打赏了你 ${points} ${POINTS}。`,
      },
      text:
        net === points
          ? { en: 'It is a gift, and it is in your wallet.', zh: `${POINTS}已到账，这是赠与。` }
          : {
              en: `It is a gift. After the fee, ${pointsOf(net!)} came into your wallet.`,
              zh: `这是赠与。扣除手续费后，${net} ${POINTS}已到账。`,
            },
    }),
    new_browser: ({ browser, system, ip }: Facts) => {
      const device = deviceNamed(browser, system)
      return {
        subject: { en: `New sign-in: ${device.en}`, zh: `新的登录：${device.zh}` },
        text: {
          en: `A browser that is new to your account has signed in, from the IP address ${ip}. If it was not you, sign that browser out and change your password.`,
          zh: `一个新的浏览器登录了你的账号，IP 地址为 ${ip}。如果不是你本人操作，请让该浏览器退出登录，并修改密码。`,
        },
      }
    },
    reviewed: ({ app, decision, reason, link, title }: Facts) => ({
      subject: {
        en: `${app}: ${decided[decision!]?.en ?? decision}`,
        zh: `${app}：${decided[decision!]?.zh ?? decision}`,
      },
      text: {
        en: `An administrator has reviewed your payment application ${app}. It is ${decided[decision!]?.en ?? decision}.${link === undefined ? '' : ` Your payment link “${title}” is ready: look at it once more, and publish it.`}${reason ? ` Message: ${reason}` : ''}`,
        zh: `管理员已审核你的收款应用 ${app}：${decided[decision!]?.zh ?? decision}。${link === undefined ? '' : `收款链接“${title}”已就绪，请再看一遍并发布。`}${reason ? `说明：${reason}` : ''}`,
      },
    }),
    notifications_failing: ({ app, count }: Facts) => ({
      subject: { en: `${app}: notifications fail`, zh: `${app}：通知失败` },
      text: {
        en: `Your shop does not confirm payments: ${count} ${counted(Number(count), 'notification', 'notifications')} of ${app} failed several times today. The notifications page shows your shop’s responses and can send the notifications again.`,
        zh: `你的商店没有确认付款：${app} 今天有 ${count} 条通知多次失败。可在通知页面查看商店的响应并重新发送。`,
      },
    }),
    key_expiring: ({ app, until, access_key }: Facts) =>
      access_key === undefined
        ? {
            subject: { en: `${app}: an old key expires soon`, zh: `${app}：旧密钥即将失效` },
            text: {
              en: `A key of ${app} was replaced. The old key works until ${until}. Put the new key in your shop before then.`,
              zh: `${app} 的密钥已更换，旧密钥有效至 ${until}。请在此之前为商店换上新密钥。`,
            },
          }
        : {
            subject: { en: `${app}: an access key expires soon`, zh: `${app}：访问密钥即将到期` },
            text: {
              en: `The access key “${access_key}” of ${app} works until ${until}. Create a new one and put it into the program before then.`,
              zh: `${app} 的访问密钥“${access_key}”有效至 ${until}。请在此之前创建新密钥并填入程序。`,
            },
          },
    balance_low: ({ app, points }: Facts) => ({
      subject: { en: 'Your balance is low', zh: '余额不足' },
      text: {
        en: `Your wallet has fallen below ${pointsOf(points!)}, the limit that you set for ${app}. Transfers that it cannot pay are refused.`,
        zh: `你的钱包已低于为 ${app} 设定的 ${points} ${POINTS}。余额不足时，转账会被拒绝。`,
      },
    }),
    invited: ({ app }: Facts) => ({
      subject: { en: `${app}: you are invited to the team`, zh: `${app}：邀请你加入团队` },
      text: {
        en: `You are invited to the team of the payment application ${app}. Nothing changes until you accept.`,
        zh: `你受邀加入收款应用 ${app} 的团队。接受之前不会有任何变化。`,
      },
    }),
    offered: ({ app }: Facts) => ({
      subject: { en: `${app} is offered to you`, zh: `${app}：邀请你接手` },
      text: {
        en: `You can become the owner of the payment application ${app}. The page explains what this means. Nothing changes until you accept.`,
        zh: `你可以成为收款应用 ${app} 的所有者，页面中有详细说明。接受之前不会有任何变化。`,
      },
    }),
    received: ({ app }: Facts) => ({
      subject: { en: `${app} is yours`, zh: `${app} 现已归你所有` },
      text: {
        en: `You now own the payment application ${app}, and its payments go to your wallet. The former owner knows its keys, so replace them.`,
        zh: `你现在是收款应用 ${app} 的所有者，此后的收款进入你的钱包。原所有者知道其密钥，请尽快更换。`,
      },
    }),
    given_away: ({ app }: Facts) => ({
      subject: { en: `${app} has a new owner`, zh: `${app} 已有新的所有者` },
      text: {
        en: `Your offer was accepted, and you no longer own the payment application ${app}. Earlier payments stay yours, and their refunds are taken from your wallet.`,
        zh: `你的移交已被接受，收款应用 ${app} 不再归你所有。此前的收款仍归你，退款也从你的钱包扣除。`,
      },
    }),
    events_gone: ({ app }: Facts) => ({
      subject: { en: `${app}: events are switched off`, zh: `${app}：事件已关闭` },
      text: {
        en: `The event address of ${app} answered 410 Gone, so no more events are sent there. Enter an address on the events page to switch them on again.`,
        zh: `${app} 的事件接收地址返回了 410 Gone，因此不再向其发送。在事件页面重新填写地址即可再次开启。`,
      },
    }),
    payout_halted: ({ app, reference, paid, count }: Facts) => ({
      subject: { en: `${app}: a payout has halted`, zh: `${app}：批量付款已暂停` },
      text: {
        en: `The payout ${reference} of ${app} has halted: ${paid} of ${count} ${counted(Number(count), 'line is', 'lines are')} paid, and stay paid. Its page says why, and resumes it.`,
        zh: `${app} 的批量付款 ${reference} 已暂停：${count} 行中已付 ${paid} 行，已付款的不受影响。可在其页面查看原因并继续。`,
      },
    }),
    payout_finished: ({ app, reference, paid, count }: Facts) => ({
      subject: { en: `${app}: a payout has ended`, zh: `${app}：批量付款已结束` },
      text: {
        en: `The payout ${reference} of ${app} has ended: ${paid} of ${count} ${counted(Number(count), 'line is', 'lines are')} paid.`,
        zh: `${app} 的批量付款 ${reference} 已结束：${count} 行中已付 ${paid} 行。`,
      },
    }),
    link_low: ({ app, title, left }: Facts) => ({
      subject: { en: `${title}: ${left} left`, zh: `${title}：仅剩 ${left} 份` },
      text: {
        en: `The payment link “${title}” of ${app} has ${left} ${counted(Number(left), 'unit', 'units')} left. Add codes or raise its stock to keep selling.`,
        zh: `${app} 的收款链接“${title}”仅剩 ${left} 份。如需继续售卖，请补充卡密或提高库存。`,
      },
    }),
    link_sold_out: ({ app, title }: Facts) => ({
      subject: { en: `${title}: sold out`, zh: `${title}：已售罄` },
      text: {
        en: `The payment link “${title}” of ${app} is sold out. Nobody can pay there until you add codes or raise its stock.`,
        zh: `${app} 的收款链接“${title}”已售罄。补充卡密或提高库存之前，无法付款。`,
      },
    }),
    link_stopped: ({ app, title, reason }: Facts) => ({
      subject: { en: `${title}: stopped by staff`, zh: `${title}：已被管理员停售` },
      text: {
        en: `An administrator has stopped the payment link “${title}” of ${app}. Message: ${reason}`,
        zh: `管理员已停售 ${app} 的收款链接“${title}”。说明：${reason}`,
      },
    }),
    link_reported: ({ app, title }: Facts) => ({
      subject: { en: `${title}: reported by a member`, zh: `${title}：有成员举报` },
      text: {
        en: `A member has reported the payment link “${title}” of ${app} to the staff, who will look at it. It stays on sale until then. Check that its title, picture and description say what buyers get.`,
        zh: `有成员向管理员举报了 ${app} 的收款链接“${title}”。管理员会查看，在此之前照常销售。请检查标题、图片和说明是否与买家所得相符。`,
      },
    }),
    /** `day` is that of a digest. A tip has no units. */
    link_sold: ({ app, title, units, orders, points, day, tip }: Facts) => {
      const [sold, count] = [Number(units), Number(orders)]
      const when = { en: day === undefined ? '' : ` on ${day}`, zh: day === undefined ? '' : ` ${day} ` }
      const subject =
        tip === undefined
          ? { en: `${title}: ${units} sold${when.en}`, zh: `${title}：${when.zh.trim()}售出 ${units} 份` }
          : {
              en: `${title}: ${pointsOf(points!)}${when.en}`,
              zh: `${title}：${when.zh.trim()}收到 ${points} ${POINTS}`,
            }
      const text =
        tip === undefined
          ? {
              en: `The payment link “${title}” of ${app} sold ${units} ${counted(sold, 'unit', 'units')} in ${orders} ${counted(count, 'order', 'orders')}${when.en}, for ${pointsOf(points!)} before fees. Its page of sales names the buyers.`,
              zh: `${app} 的收款链接“${title}”${when.zh}售出 ${units} 份（${orders} 笔订单），共 ${points} ${POINTS}（未扣手续费）。买家见销售页面。`,
            }
          : {
              en: `The payment link “${title}” of ${app} received ${orders} ${counted(count, 'tip', 'tips')}${when.en}: ${pointsOf(points!)} before fees. Its page of sales names the givers.`,
              zh: `${app} 的收款链接“${title}”${when.zh}收到 ${orders} 笔打赏，共 ${points} ${POINTS}（未扣手续费）。打赏者见销售页面。`,
            }
      return { subject, text }
    },
    ...mandateMails,
  },
} satisfies Texts
