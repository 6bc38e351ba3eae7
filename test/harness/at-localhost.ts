/** A service at http://localhost, for tests in Chromium: passkeys and https-only features work there. */
import { freePort } from './free-port.ts'
import { startTestApp, type TestApp } from './harness.ts'

/** Starts a service that Chromium reaches at its own address. Close it after the tests. */
export async function startAtLocalhost(): Promise<TestApp> {
  const port = await freePort()
  const test = await startTestApp({ PUBLIC_URL: `http://localhost:${port}`, PORT: String(port) })
  // Chromium resolves localhost to both loopback addresses.
  await test.app.listen({ port, host: '127.0.0.1' })
  return test
}
