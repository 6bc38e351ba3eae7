/** Opens the application with a mail server of its own, whose mailboxes tests read. */
import { startTestApp, type TestApp } from '../harness/harness.ts'
import { type SmtpServer, startSmtpServer } from '../harness/smtp-server.ts'

export type MailedApp = { test: TestApp; smtp: SmtpServer; close(): Promise<void> }

export async function startMailedApp(env: Record<string, string> = {}): Promise<MailedApp> {
  const smtp = await startSmtpServer()
  const test = await startTestApp({
    SMTP_URL: smtp.url,
    SMTP_FROM: 'no-reply@tessera.test',
    TRUST_PROXY: '127.0.0.1',
    ...env,
  })
  const close = async () => {
    await test.close()
    await smtp.close()
  }
  return { test, smtp, close }
}
