/** The administrators' console in Chinese; the type holds it to the English texts. */
import type { Messages } from '../languages.ts'

export const consoleTexts: Messages['console'] = {
  noHistory: '没有人工操作记录。',
  review: {
    decide: '审核',
    memberFor: (days) => `注册 ${days} 天`,
    others: (count) => `另有 ${count} 个应用`,
    addresses: '地址检查',
    check: '检查这些地址',
    unchecked: '尚未检查。',
    checkedAt: '检查时间',
    verdicts: {
      public: '可公开访问',
      insecure: '未使用 https',
      blocked: '指向内部网络',
      dns: '域名无法解析',
      bad_address: '不可用',
    },
  },
  find: {
    title: '查找',
    label: '编号或名称',
    hint: '用任意编号查找成员、应用、收款应用、订单、转账或账目。',
    lead: '按原样输入编号：txn_…、pay_…、pid、trade_no、client_id、商户订单号或用户名。',
    nothing: '没有与此编号或名称相符的内容。',
    kinds: {
      member: '成员',
      oauthApp: '应用',
      paymentApp: '收款应用',
      order: '订单',
      transfer: '转账',
      journal: '账目',
    },
  },
  ledger: {
    title: '账本',
    nothing: '没有积分变动。',
    journal: '账目',
    reference: '来源',
    test: '测试',
    fee: '手续费',
    through: '经由',
    sender: '付款方',
    recipient: '收款方',
    accounts: { wallet: '钱包', fee: '平台手续费', issuance: '发行' },
  },
  freeze: {
    frozen: '已冻结',
    titles: {
      purses: { freeze: '冻结此钱包', unfreeze: '解冻此钱包' },
      orders: { freeze: '冻结此订单', unfreeze: '解冻此订单' },
      'payment-applications': { freeze: '停用此应用', unfreeze: '恢复此应用' },
    },
    texts: {
      purses: {
        freeze: '该成员无法付款或转出，其应用也无法转账；仍可收款，退款照常。成员会看到原因。',
        unfreeze: '该成员可立即恢复付款和转账。',
      },
      orders: {
        freeze: '任何人都无法支付。商家会看到原因，打开订单的人会得知订单已冻结。',
        unfreeze: '在有效期内可再次支付。',
      },
      'payment-applications': {
        freeze: '无法下单、收款或转账；已付款的订单仍可查询，通知照常发送。申请人会看到原因。',
        unfreeze: '可立即恢复收款。',
      },
    },
  },
  purse: {
    number: '成员编号',
    level: '信任等级',
    since: '注册时间',
    applications: '收款应用',
  },
  history: {
    acts: {
      refund: '已退款',
      reverse: '已冲正',
      freeze: '已冻结',
      unfreeze: '已解冻',
    },
    fields: {},
  },
}
