/** Texts of the first steps of a new site. */
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'
import { POINT, POINTS } from '../../web/site-words.ts'

export const firstSteps = {
  nav: { en: 'First steps', zh: '开站清单' },
  title: { en: 'Before members come', zh: '迎接成员之前' },
  lead: {
    en: 'A step is done once the service has seen that it works.',
    zh: '系统确认可用后，该步骤才算完成。',
  },
  progress: (done: number, all: number) => ({ en: `${done} of ${all} done`, zh: `已完成 ${done} / ${all}` }),
  again: { en: 'Check again', zh: '重新检查' },
  needed: { en: 'Needed', zh: '必做' },
  worth: { en: 'Worth doing', zh: '建议' },
  next: (label: string) => ({ en: `Next: ${label}`, zh: `下一步：${label}` }),
  states: {
    works: { en: 'Works', zh: '正常' },
    done: { en: 'Done', zh: '已完成' },
    next: { en: 'Next', zh: '下一步' },
    fault: { en: 'Does not work', zh: '异常' },
  },
  guide: { en: 'Guide', zh: '指南' },
  steps: {
    name: {
      guide: { en: '/docs/operator#make-it-yours', zh: '/docs/operator#换成你的样子' },
      label: { en: 'Name, logo and colour', zh: '站名、图标与颜色' },
      todo: {
        en: `The site has no name yet. You also choose what a ${POINT} is called.`,
        zh: `还没有站名。${POINTS}的叫法也在这里设置。`,
      },
      act: { en: 'Choose a name', zh: '设置站名' },
    },
    mail: {
      guide: { en: '/docs/operator#mail', zh: '/docs/operator#邮件' },
      label: { en: 'Email', zh: '邮件' },
      off: {
        en: 'Write these lines with your own values into the environment, and start the service again.',
        zh: '请把以下两行换成你自己的值写入环境变量，然后重新启动服务。',
      },
      setUp: { en: 'How to set it up', zh: '查看设置方法' },
      todo: (host: string) => ({
        en: `${host} has taken no mail yet. Send one to yourself.`,
        zh: `${host} 还没有接收过邮件。请给自己发一封。`,
      }),
      seen: (host: string) => ({ en: `${host} took the last mail.`, zh: `${host} 已接收最近一封邮件。` }),
      refused: (host: string) => ({
        en: `${host} did not take the last mail. See above.`,
        zh: `${host} 没有接收最近一封邮件，详见上方。`,
      }),
      field: { en: 'Your address', zh: '你的邮箱' },
      act: { en: 'Send a test mail', zh: '发送测试邮件' },
    },
    members: {
      guide: { en: '/docs/discourse', zh: '/docs/discourse' },
      label: { en: 'How members come in', zh: '成员如何进入' },
      off: {
        en: 'Members sign in at your forum, or anyone may register here.',
        zh: '成员用论坛账号登录，或在本站注册。',
      },
      act: { en: 'Open the registration', zh: '开放注册' },
      open: { en: 'Anyone can register here.', zh: '任何人都可以在此注册。' },
      todo: (host: string) => ({
        en: `Connected to ${host}. Find a member there to test it.`,
        zh: `已连接 ${host}。请查找一名成员来测试。`,
      }),
      todoByHand: (host: string) => ({
        en: `Connected to ${host}, without an API key. Sign in through it once to test it.`,
        zh: `已连接 ${host}，未设置 API 密钥。请通过论坛登录一次来测试。`,
      }),
      seen: (name: string, host: string) => ({
        en: `@${name} was seen at ${host}.`,
        zh: `在 ${host} 找到了 @${name}。`,
      }),
      connect: { en: 'Connect the forum', zh: '连接论坛' },
      field: { en: 'Username at the forum', zh: '论坛用户名' },
      find: { en: 'Find the member', zh: '查找成员' },
      signIn: { en: 'Sign in through the forum', zh: '通过论坛登录' },
    },
    factor: {
      guide: { en: '/docs/operator#install-and-first-start', zh: '/docs/operator#安装与首次启动' },
      label: { en: 'Two-step verification', zh: '两步验证' },
      todo: {
        en: 'Your password alone is enough to open the administration.',
        zh: '目前仅凭密码就能进入管理后台。',
      },
      seen: { en: 'Your password alone is not enough.', zh: '仅凭密码无法进入管理后台。' },
      act: { en: 'Turn it on', zh: '开启' },
    },
    administrators: {
      guide: { en: '/docs/operator#day-by-day', zh: '/docs/operator#日常' },
      label: { en: 'A second administrator', zh: '第二位管理员' },
      todo: {
        en: 'You are the only one, and could lose password and phone. Make another at the forum, or run this on the server.',
        zh: '目前只有你一位，而密码和手机都可能丢失。请在论坛增加一位，或在服务器上运行以下命令。',
      },
      act: { en: 'See the members', zh: '查看成员' },
      seen: { en: 'There are at least two.', zh: '至少有两位。' },
    },
    fees: {
      guide: { en: '/docs/operator#make-it-yours', zh: '/docs/operator#换成你的样子' },
      label: { en: 'Fees', zh: '手续费' },
      todo: (percent: string) => ({
        en: `Merchants now pay ${percent}% of each payment. Save the fee to confirm it.`,
        zh: `目前商户每笔付款需付 ${percent}% 手续费。保存后即为确认。`,
      }),
      seen: (percent: string) => ({
        en: `Merchants pay ${percent}% of each payment.`,
        zh: `商户每笔付款需付 ${percent}% 手续费。`,
      }),
      act: { en: 'Decide', zh: '确定' },
    },
    application: {
      guide: { en: '/docs/oauth-application', zh: '/docs/oauth-application' },
      label: { en: 'The first application', zh: '第一个应用' },
      todo: {
        en: 'Create one that members sign in to, or one that they pay.',
        zh: '创建一个供成员登录或付款的应用。',
      },
      seen: (name: string) => ({ en: `${name} is registered.`, zh: `已注册 ${name}。` }),
      act: { en: 'Create one', zh: '创建' },
    },
    backup: {
      guide: { en: '/docs/operator#backup', zh: '/docs/operator#备份' },
      label: { en: 'A backup', zh: '备份' },
      todo: {
        en: 'None was reported yet. docker compose makes one every six hours.',
        zh: '还没有备份记录。docker compose 每六小时备份一次。',
      },
      act: { en: 'How to back up', zh: '查看备份方法' },
      seen: { en: 'The last one was made in time and reported.', zh: '最近一次备份已完成并上报。' },
    },
  },
  fault: {
    label: { en: 'Mend this first', zh: '请先处理' },
    title: { en: 'Email does not work', zh: '邮件无法发送' },
    answered: (host: string) => ({
      en: `The attempt to send through ${host} ended with:`,
      zh: `通过 ${host} 发送时得到：`,
    }),
    effect: {
      en: 'Meanwhile members cannot confirm an address or get a new password. Mend SMTP_URL or the mail server, start the service again, and send another test mail.',
      zh: '在此期间成员无法验证邮箱或找回密码。请修正 SMTP_URL 或邮件服务器，重新启动服务，然后再发送一封测试邮件。',
    },
  },
  sent: (email: string, host: string) => ({
    en: `${host} took the mail to ${email}. Look into your inbox.`,
    zh: `${host} 已接收发往 ${email} 的邮件，请查看收件箱。`,
  }),
  sendingLater: {
    en: 'The mail is on its way. Open this page again in a minute.',
    zh: '邮件正在发送，请一分钟后再打开此页。',
  },
  notSent: { en: 'The mail was not taken. The page says why.', zh: '邮件未被接收，原因见下方。' },
  noAddress: { en: 'Enter an email address.', zh: '请输入邮箱地址。' },
  found: (name: string, host: string, level: string) => ({
    en: `@${name} was found at ${host}, with trust level ${level}.`,
    zh: `在 ${host} 找到了 @${name}，信任等级 ${level}。`,
  }),
  noUsername: { en: 'Enter a username.', zh: '请输入用户名。' },
  notFound: (host: string) => ({
    en: `${host} has no such member.`,
    zh: `${host} 上没有这名成员。`,
  }),
  noAnswer: (host: string, failure: string) => ({
    en: `${host} gave no usable answer (${failure}). tessera doctor says how to mend it.`,
    zh: `${host} 没有给出可用的答复（${failure}）。tessera doctor 会说明如何修复。`,
  }),
  finish: {
    title: { en: 'Finish', zh: '完成' },
    text: {
      en: 'The overview then takes the place of this page. The site settings bring it back.',
      zh: '之后由总览取代此页。可在站点设置中恢复。',
    },
    open: (n: number) => ({
      en: `${n} needed ${counted(n, 'step is', 'steps are')} still open.`,
      zh: `还有 ${n} 个必做步骤未完成。`,
    }),
    button: { en: 'Finish the set-up', zh: '完成开站' },
    buttonAnyway: { en: 'Finish all the same', zh: '仍然完成' },
    done: { en: 'The set-up is finished. This is the overview.', zh: '开站已完成。这里是总览。' },
  },
  doctor: {
    title: { en: 'On the server', zh: '在服务器上' },
    text: {
      en: 'This command tests more: address, proxy, certificate, clock, database and books.',
      zh: '此命令还会检查地址、代理、证书、时钟、数据库和账本。',
    },
  },
  testMail: {
    subject: { en: 'Email works', zh: '邮件可用' },
    text: {
      en: 'You asked for this mail to test the mail server. Members can now confirm addresses and get new passwords.',
      zh: '这是你请求的测试邮件。成员现在可以验证邮箱、找回密码。',
    },
    button: { en: 'Back to the first steps', zh: '返回开站清单' },
  },
} satisfies Texts
