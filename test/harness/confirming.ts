/** Sends a form of an act that asks first, and then the form of the page that asks. */
import type { Browser, Page } from './harness.ts'

/** Returns the page that asks, and the answer to its form. Throws when nothing asks. */
export async function sendSurely(
  client: Browser,
  page: Page,
  action: string,
  fields: Record<string, string> = {},
): Promise<{ asked: Page; answer: Page }> {
  const asked = await client.submit(page, action, fields)
  if (asked.status !== 200) throw new Error(`${action} did not ask: ${asked.status}`)
  return { asked, answer: await client.submit(asked, action) }
}
