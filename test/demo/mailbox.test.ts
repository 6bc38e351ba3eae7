/** The demo's mail server prints what the service sends. */
import { createTransport } from 'nodemailer'
import { expect, it } from 'vitest'
import { openMailbox } from '../../src/demo/mailbox.ts'

it('the demo prints the text of each mail, in any encoding', async () => {
  const printed: string[] = []
  const mailbox = await openMailbox((mail) => printed.push(mail))
  const transport = createTransport(mailbox.url)
  const texts = [
    'Hello,\n\n.a dot, and\n-- \nhttp://localhost/?token=a=b',
    '你好：\n\n链接 30 分钟内有效',
    `Café ${'x'.repeat(200)}`,
  ]
  for (const text of texts)
    await transport.sendMail({
      from: 'site@demo.example',
      to: 'alice@example.org',
      subject: 'S',
      text,
      html: '<p>H</p>',
    })
  transport.close()
  await mailbox.close()
  const indented = (text: string) => text.replace(/^(?=.)/gm, '  ')
  expect(printed).toEqual(texts.map((text) => `\nMail to alice@example.org\n${indented(text)}\n`))
})
