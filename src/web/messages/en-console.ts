/** The administrators' console in English. */
export const consoleTexts = {
  noHistory: 'Nothing was done to it by hand.',
  review: {
    decide: 'Review',
    memberFor: (days: string, n: number) => `a member for ${days} ${n === 1 ? 'day' : 'days'}`,
    others: (count: string, n: bigint) => `${count} other ${n === 1n ? 'application' : 'applications'}`,
    addresses: 'Addresses',
    check: 'Check the addresses',
    unchecked: 'Not checked yet.',
    checkedAt: 'Checked',
    verdicts: {
      public: 'leads to the open internet',
      insecure: 'without https',
      blocked: 'leads into a private network',
      dns: 'its name is not known',
      bad_address: 'not usable',
    },
  },
  find: {
    title: 'Find',
    label: 'Number or name',
    hint: 'A member, an application, a payment application, an order, a transfer or a journal, by any id.',
    lead: 'Ids are taken as they are: txn_…, pay_…, a pid, trade_no, a client_id, a merchant’s own order number, a username.',
    nothing: 'Nothing has this number or name.',
    kinds: {
      member: 'member',
      oauthApp: 'application',
      paymentApp: 'payment application',
      order: 'order',
      transfer: 'transfer',
      journal: 'journal',
    },
  },
  ledger: {
    title: 'Ledger',
    nothing: 'No points have moved.',
    journal: 'Journal',
    reference: 'Of',
    test: 'test',
    fee: 'Fee',
    through: 'Through',
    sender: 'From',
    recipient: 'To',
    accounts: { wallet: 'Purse', fee: 'Platform fees', issuance: 'Issuance' },
  },
  freeze: {
    frozen: 'Frozen',
    titles: {
      purses: { freeze: 'Freeze this purse', unfreeze: 'Unfreeze this purse' },
      orders: { freeze: 'Freeze this order', unfreeze: 'Unfreeze this order' },
      'payment-applications': { freeze: 'Suspend this application', unfreeze: 'Reinstate this application' },
    },
    texts: {
      purses: {
        freeze:
          'The member can pay and transfer nothing, nor can their applications transfer. Points still come in, and refunds still go out. The member reads the reason.',
        unfreeze: 'The member can pay and transfer again, at once.',
      },
      orders: {
        freeze:
          'Nobody can pay it. The merchant reads the reason; whoever opens it is told that it is on hold.',
        unfreeze: 'It can be paid again, as long as its time lasts.',
      },
      'payment-applications': {
        freeze:
          'It can place no orders, take no payments and transfer nothing. What was paid can still be asked for, and merchants are still told of it. The applicant reads the reason.',
        unfreeze: 'It can take payments again, at once.',
      },
    },
  },
  purse: {
    number: 'Member number',
    level: 'Trust level',
    since: 'Member since',
    applications: 'Payment applications',
  },
  history: {
    acts: {
      refund: 'Refunded',
      reverse: 'Reversed',
      freeze: 'Frozen',
      unfreeze: 'Unfrozen',
    } as Record<string, string>,
    fields: {} as Record<string, string>,
  },
}
