/** Texts of a merchant's payouts. */
import type {
  LineRefusal,
  LineStatus,
  PayoutCancellation,
  PayoutHalt,
  PayoutStatus,
} from '../../database/tables/payouts.ts'
import type { Text, Texts } from '../../web/languages.ts'
import { counted, pointsOf } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

const lineOf = (n: number) => counted(n, 'line', 'lines')

export const merchantPayouts = {
  lead: {
    en: `Send ${POINTS} to many members at once, such as the winners of a raffle. No line is paid twice.`,
    zh: `一次向多位成员转出${POINTS}，例如发放抽奖奖品。每一行只付一次。`,
  },
  new: { en: 'New payout', zh: '新建批量付款' },
  empty: { en: 'No payouts yet', zh: '还没有批量付款' },
  emptyText: {
    en: 'Upload a file with usernames and amounts. You see every line before anything is paid.',
    zh: '上传包含用户名和金额的文件，付款前可以逐行核对。',
  },
  reference: { en: 'Reference', zh: '编号' },
  referenceHint: {
    en: 'Such as raffle-2026-11. The same reference never pays twice. Empty: today’s date.',
    zh: '例如 raffle-2026-11。同一个编号不会付款两次。留空则用当天日期。',
  },
  referenceWrong: {
    en: '1 to 64 English letters, digits and signs, without &.',
    zh: '1 至 64 个英文字母、数字或符号，不含 &。',
  },
  referenceUsed: {
    en: 'This reference was used before. Choose another one.',
    zh: '此编号已使用过，请换一个。',
  },
  openUsed: (reference: string) => ({ en: `Open ${reference}`, zh: `打开 ${reference}` }),
  created: { en: 'Created', zh: '创建时间' },
  progress: { en: 'Paid', zh: '已付' },
  linesPaid: (paid: string, count: string, n: number) => ({
    en: `${paid} of ${count} ${lineOf(n)}`,
    zh: `${paid} / ${count} 行`,
  }),
  /** The badge of a finished payout with unpaid lines. */
  partlyPaid: (paid: string, count: string) => ({
    en: `${paid} of ${count} paid`,
    zh: `已付 ${paid} / ${count}`,
  }),
  statuses: {
    draft: { en: 'Draft', zh: '草稿' },
    waiting: { en: 'Waiting', zh: '排队中' },
    running: { en: 'Being paid', zh: '付款中' },
    halted: { en: 'Halted', zh: '已暂停' },
    finished: { en: 'Finished', zh: '已完成' },
    refused: { en: 'Refused', zh: '已拒绝' },
    cancelled: { en: 'Cancelled', zh: '已取消' },
  } satisfies Record<PayoutStatus, Text>,
  file: { en: 'CSV file', zh: 'CSV 文件' },
  fileHint: {
    en: 'A username, an amount and perhaps a memo a line, up to 1,000 lines.',
    zh: '每行依次为用户名、金额、备注（可省略），最多 1,000 行。',
  },
  format: { en: 'Other columns and formats', zh: '其他列与格式' },
  formatText: {
    en: 'A header can name the columns in any order: username and amount, and perhaps user_id, memo and line_id. Commas, semicolons or tabs separate them. A file is UTF-8 of at most 256 KB.',
    zh: '可用表头按任意顺序写明各列：username 和 amount 必填，user_id、memo、line_id 可选。以逗号、分号或制表符分隔；文件为 UTF-8 编码，不超过 256 KB。',
  },
  paste: { en: 'Or paste the lines', zh: '或粘贴各行' },
  pasteHint: { en: 'Also from a spreadsheet.', zh: '也可从电子表格粘贴。' },
  pasteOrFile: { en: 'Choose a file or paste lines, not both.', zh: '文件和粘贴请二选一。' },
  again: { en: 'Pay the rest in a new payout', zh: '新建批量付款支付其余各行' },
  fileAgain: { en: 'Choose the file again.', zh: '请重新选择文件。' },
  example: { en: 'Example', zh: '示例' },
  exampleMemos: [
    { en: 'Raffle: first prize', zh: '抽奖：一等奖' },
    { en: 'Raffle: second prize', zh: '抽奖：二等奖' },
    { en: 'Raffle: third prize', zh: '抽奖：三等奖' },
  ],
  downloadExample: { en: 'Download this as a CSV', zh: '下载此示例（CSV）' },
  mode: { en: 'If a line cannot be paid', zh: '如有一行无法付款' },
  modes: {
    each: { en: 'Pay the others', zh: '继续支付其他行' },
    all: { en: 'Pay nothing (up to 500 lines)', zh: '全部不付（最多 500 行）' },
  },
  upload: { en: 'Check the lines', zh: '核对各行' },
  faults: {
    too_large: { en: 'The file is larger than 256 KB.', zh: '文件超过 256 KB。' },
    not_text: { en: 'The file is no text in UTF-8.', zh: '文件不是 UTF-8 文本。' },
    no_header: {
      en: 'The first line must name the columns username and amount.',
      zh: '第一行须包含列名 username 和 amount。',
    },
    no_lines: {
      en: 'Choose a file or paste lines: a header needs at least one line below it.',
      zh: '请选择文件或粘贴各行；如有表头，其下至少要有一行。',
    },
    too_many: { en: 'A payout has at most 1,000 lines.', zh: '每次批量付款最多 1,000 行。' },
    too_many_for_all: {
      en: 'At most 500 lines can be paid together or not at all.',
      zh: '“全部不付”方式最多 500 行。',
    },
  },
  lineFaults: (line: string, value: string) => ({
    '"': {
      en: `Line ${line}: a quotation mark is missing or in the wrong place.`,
      zh: `第 ${line} 行：引号缺失或位置有误。`,
    },
    username: { en: `Line ${line}: “${value}” is no username.`, zh: `第 ${line} 行：“${value}”不是用户名。` },
    amount: {
      en: `Line ${line}: “${value}” is not a number of ${POINTS}. Enter a whole number from 1.`,
      zh: `第 ${line} 行：“${value}”不是${POINTS}数量，请填写不小于 1 的整数。`,
    },
    user_id: {
      en: `Line ${line}: “${value}” is not the number of a member.`,
      zh: `第 ${line} 行：“${value}”不是成员编号。`,
    },
    memo: {
      en: `Line ${line}: the memo has more than 100 characters, a tab, a line break or an invisible character.`,
      zh: `第 ${line} 行：备注超过 100 个字符，或含有制表符、换行、不可见字符。`,
    },
    thousands: {
      en: `Line ${line}: write “${value}” without commas. A memo of three digits needs quotation marks.`,
      zh: `第 ${line} 行：“${value}”请不要用逗号分隔；如备注是三位数字，请加引号。`,
    },
    cells: {
      en: `Line ${line}: the header has no column for “${value}”. Put a memo with commas in quotation marks.`,
      zh: `第 ${line} 行：表头中没有“${value}”对应的列；含逗号的备注请加引号。`,
    },
    twice: {
      en: `Line ${line}: the header names the column ${value} twice.`,
      zh: `第 ${line} 行：表头中列名 ${value} 重复。`,
    },
    header: {
      en: `Line ${line}: a header must name the columns username and amount.`,
      zh: `第 ${line} 行：如为表头，须包含列名 username 和 amount。`,
    },
    member: { en: `Line ${line}: there is no member “${value}”.`, zh: `第 ${line} 行：没有成员“${value}”。` },
    line_id: {
      en: `Line ${line}: “${value}” is no line_id. It has 1 to 32 letters, digits and signs, without spaces, & and colons.`,
      zh: `第 ${line} 行：“${value}”不能用作 line_id。应为 1 至 32 个字母、数字或符号，不含空格、& 和冒号。`,
    },
  }),
  lineMissing: {
    username: (line: string) => ({
      en: `Line ${line}: the username is missing.`,
      zh: `第 ${line} 行：缺少用户名。`,
    }),
    amount: (line: string) => ({
      en: `Line ${line}: the amount is missing.`,
      zh: `第 ${line} 行：缺少金额。`,
    }),
  },
  lineRepeated: (line: string, value: string, first: string) => ({
    en: `Line ${line}: the line_id ${value} is already in line ${first}.`,
    zh: `第 ${line} 行：line_id ${value} 与第 ${first} 行重复。`,
  }),
  moreFaults: (more: string, n: number) => ({
    en: `${more} more ${counted(n, 'fault', 'faults')} in later lines.`,
    zh: `后面的行还有 ${more} 处错误。`,
  }),
  check: { en: 'Check and pay', zh: '核对并付款' },
  toPay: { en: 'Lines to pay', zh: '待付行数' },
  amount: { en: 'To recipients', zh: '收款人所得' },
  fees: { en: 'Fees, in addition', zh: '另付手续费' },
  total: { en: 'Total', zh: '共扣除' },
  have: { en: 'Your balance', zh: '当前余额' },
  ownersBalance: { en: 'Balance of the owner', zh: '所有者余额' },
  after: { en: 'Balance after', zh: '付款后余额' },
  costSoFar: { en: 'Total so far', zh: '目前共扣除' },
  short: (points: string) => ({
    en: `The balance is short of ${pointsOf(points)}. Paying starts anyway and halts there.`,
    zh: `余额还差 ${points} ${POINTS}。仍可开始付款，付到不足处会暂停。`,
  }),
  shortAll: (points: string) => ({
    en: `The balance is short of ${pointsOf(points)}, so nothing would be paid.`,
    zh: `余额还差 ${points} ${POINTS}，因此不会支付任何一行。`,
  }),
  leftToday: (points: string) => ({
    en: `The daily limit leaves ${pointsOf(points)} today.`,
    zh: `今日限额还剩 ${points} ${POINTS}。`,
  }),
  suspended: (n: string, count: number) => ({
    en: `${n} ${counted(count, 'recipient is', 'recipients are')} suspended, and ${counted(count, 'receives', 'receive')} nevertheless.`,
    zh: `${n} 位收款人已被封禁，仍会收到款项。`,
  }),
  twice: (names: string) => ({
    en: `More than one line pays the same member: ${names}.`,
    zh: `有多行付给同一位成员：${names}。`,
  }),
  pay: (members: string, n: number, points: string) => ({
    en: `Pay ${members} ${counted(n, 'member', 'members')}, ${pointsOf(points)}`,
    zh: `支付给 ${members} 位成员，共 ${points} ${POINTS}`,
  }),
  onlyOwner: { en: 'Only the owner of the application can pay.', zh: '只有应用所有者可以付款。' },
  draftFor: { en: 'A draft can be paid for 24 hours.', zh: '草稿在 24 小时内可付款。' },
  draftOver: {
    en: 'This draft is older than 24 hours. Upload the file again.',
    zh: '草稿已超过 24 小时，请重新上传文件。',
  },
  nothingToPay: { en: 'No line can be paid.', zh: '没有可付的行。' },
  allOrNothing: {
    en: 'You chose to pay every line or nothing. Correct the file and upload it again.',
    zh: '你选择了“全部不付”，请改正文件后重新上传。',
  },
  discard: { en: 'Discard the draft', zh: '放弃草稿' },
  cancel: { en: 'Cancel the payout', zh: '取消批量付款' },
  cancelHint: { en: 'Paid lines stay paid.', zh: '已付款的不受影响。' },
  resume: { en: 'Resume', zh: '继续付款' },
  reload: { en: 'Reload', zh: '刷新' },
  underWay: (done: string, count: string) => ({
    en: `${done} of ${count} done. This page refreshes itself.`,
    zh: `已处理 ${done} / ${count} 行，本页会自动刷新。`,
  }),
  download: { en: 'All lines as CSV', zh: '下载全部明细（CSV）' },
  headings: (lines: string, n: number) => ({
    faulty: { en: `${lines} ${lineOf(n)} cannot be paid now`, zh: `${lines} 行目前无法付款` },
    payable: { en: `${lines} ${lineOf(n)} to pay`, zh: `待付 ${lines} 行` },
    unpaid: { en: `${lines} ${lineOf(n)} not paid`, zh: `未付 ${lines} 行` },
    paid: { en: `${lines} ${lineOf(n)} paid`, zh: `已付 ${lines} 行` },
    open: { en: `${lines} ${lineOf(n)} paid or waiting`, zh: `已付和待付 ${lines} 行` },
  }),
  lineStatuses: {
    pending: { en: 'Waiting', zh: '待付' },
    paid: { en: 'Paid', zh: '已付' },
    refused: { en: 'Refused', zh: '已拒绝' },
    cancelled: { en: 'Cancelled', zh: '已取消' },
  } satisfies Record<LineStatus, Text>,
  line: { en: 'Line', zh: '行' },
  fileLine: { en: 'Line of the file', zh: '文件行号' },
  memo: { en: 'Memo', zh: '备注' },
  recipient: { en: 'Recipient', zh: '收款人' },
  why: { en: 'Why', zh: '原因' },
  hasId: (name: string) => ({
    en: `No member has this name. The one with this id is @${name}.`,
    zh: `没有叫这个名字的成员；此 ID 的成员是 @${name}。`,
  }),
  more: (shown: string, of: string) => ({
    en: `The first ${shown} of ${of}. The file has all lines.`,
    zh: `仅显示前 ${shown} 行，共 ${of} 行；完整明细见文件。`,
  }),
  outcomes: {
    changed: {
      en: 'This line was paid with another recipient or amount.',
      zh: '此行已按其他收款人或金额付过款。',
    },
    reversed: { en: 'Its transfer was reversed.', zh: '对应的转账已冲正。' },
    unusable: { en: 'The application is not approved or suspended.', zh: '应用未通过审核或已停用。' },
    mismatch: { en: 'No member has this username, or not this id.', zh: '没有此用户名的成员，或 ID 不符。' },
    to_self: { en: 'You cannot send to yourself.', zh: '不能转给自己。' },
    below_minimum: { en: 'Below the minimum for one transfer.', zh: '低于每次转账的最低额度。' },
    above_maximum: { en: 'Above the maximum for one transfer.', zh: '超过每次转账的最高额度。' },
    too_large: { en: 'Too large to count.', zh: '金额过大。' },
    daily_limit: { en: 'More than the daily limit leaves.', zh: '超过今天剩余的额度。' },
    wallet_frozen: { en: 'The wallet of the owner is frozen.', zh: '所有者的钱包已冻结。' },
    insufficient: { en: `Not enough ${POINTS}.`, zh: `${POINTS}不足。` },
  } satisfies Record<LineRefusal, Text>,
  /** Outcomes with the bound that a line breaks, in words of a draft. */
  bounds: (bound: string) => ({
    below_minimum: { en: `Below the minimum of ${bound}.`, zh: `低于最低额度 ${bound}。` },
    above_maximum: { en: `Above the maximum of ${bound}.`, zh: `超过最高额度 ${bound}。` },
  }),
  reasons: {
    insufficient: {
      en: `Halted: not enough ${POINTS}. Paid lines stay paid.`,
      zh: `已暂停：${POINTS}不足，已付款的不受影响。`,
    },
    daily_limit: {
      en: 'Halted: the daily limit is reached. Paid lines stay paid.',
      zh: '已暂停：达到每日限额，已付款的不受影响。',
    },
    wallet_frozen: {
      en: 'Halted: the wallet of the owner is frozen. Paid lines stay paid.',
      zh: '已暂停：所有者的钱包被冻结，已付款的不受影响。',
    },
    unusable: {
      en: 'Halted: the application is not approved or suspended. Paid lines stay paid.',
      zh: '已暂停：应用未通过审核或已停用，已付款的不受影响。',
    },
    transfers_off: {
      en: 'Halted: transfers are switched off. Paid lines stay paid.',
      zh: '已暂停：转账功能已关闭，已付款的不受影响。',
    },
    lines_refused: {
      en: 'Nothing was paid, because not every line could be paid.',
      zh: '有的行无法付款，因此全部未付。',
    },
    merchant: { en: 'It was cancelled. Paid lines stay paid.', zh: '已取消，已付款的不受影响。' },
    halted_too_long: { en: 'It was halted for 7 days and is cancelled.', zh: '暂停超过 7 天，已自动取消。' },
    owner_changed: { en: 'The application has a new owner.', zh: '应用已移交给新的所有者。' },
    account_closed: { en: 'The account of its owner is closed.', zh: '所有者的账号已注销。' },
  } satisfies Record<PayoutHalt | PayoutCancellation | 'lines_refused', Text>,
  haltedUntil: { en: 'A payout that is halted for 7 days is cancelled.', zh: '暂停满 7 天会自动取消。' },
  /** The verdict of a payout that has ended: recipients, what they got, and lines that were not paid. */
  ended: (members: string, n: number, points: string, unpaid: string, left: number) => ({
    en: `${members} ${counted(n, 'line', 'lines')} paid, ${pointsOf(points)} received.${left === 0 ? '' : ` ${unpaid} ${counted(left, 'line was', 'lines were')} not paid.`}`,
    zh: `已付 ${members} 行，共到账 ${points} ${POINTS}。${left === 0 ? '' : `${unpaid} 行未付。`}`,
  }),
  twiceMark: { en: 'Twice', zh: '重复' },
  done: {
    pay: { en: 'The payout starts in a moment.', zh: '即将开始付款。' },
    cancel: { en: 'The payout is cancelled. Paid lines stay paid.', zh: '已取消，已付款的不受影响。' },
    resume: { en: 'The payout goes on in a moment.', zh: '即将继续付款。' },
    nothing: { en: 'The payout has changed meanwhile. Nothing was done.', zh: '状态已变化，未作任何操作。' },
  },
  /** What a page says below the reason why no payout starts. */
  waysOn: {
    transfers_disabled: {
      en: 'An administrator can switch them on. Earlier payouts stay readable.',
      zh: '管理员重新开启后即可新建，以前的批量付款仍可查看。',
    },
    payments_paused: { en: 'Earlier payouts stay readable.', zh: '以前的批量付款仍可查看。' },
    application_unusable: {
      en: `The overview says what is missing. A test application pays play ${POINTS} at once.`,
      zh: `概览页说明还缺什么。测试应用可立即用虚拟${POINTS}付款。`,
    },
    wallet_frozen: { en: 'Ask an administrator why.', zh: '请向管理员了解原因。' },
  },
  refusals: {
    transfers_disabled: { en: 'Payouts are currently switched off.', zh: '批量付款目前已关闭。' },
    payments_paused: {
      en: 'Payments and transfers are paused for maintenance. Try again later.',
      zh: '系统维护中，暂停付款和转账，请稍后再试。',
    },
    application_unusable: {
      en: 'This application is not approved, so it cannot pay.',
      zh: '此应用未通过审核，不能付款。',
    },
    wallet_frozen: {
      en: 'An administrator has frozen the wallet of the owner, so it cannot pay.',
      zh: '管理员已冻结所有者的钱包，不能付款。',
    },
    parameter_invalid: { en: 'The lines add up to more than can be counted.', zh: '合计金额过大。' },
    too_many_attempts: {
      en: 'Too many payouts for now. Try again later.',
      zh: '批量付款过于频繁，请稍后再试。',
    },
    conflict: {
      en: 'This draft is older than 24 hours. Upload the file again.',
      zh: '草稿已超过 24 小时，请重新上传文件。',
    },
  },
} satisfies Texts
