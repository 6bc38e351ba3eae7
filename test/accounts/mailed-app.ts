/** Opens the application with a mail server of its own, whose mailboxes tests read. */

import type { Language } from '../../src/web/languages.ts'
import { startTestApp, type TestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
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

/** The subject of a mail from a site that has not chosen its own name. */
export function subjectOf({ subject }: { subject: string }, language: Language = 'en'): string {
  return messages[language].letter.subject('Tessera', subject)
}
