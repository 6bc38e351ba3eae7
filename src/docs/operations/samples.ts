/**
 * The keys in the examples of the reference. The demo uses keys of its own applications, so a copied example works.
 * Elsewhere the keys are made up, and readers replace them with their own.
 */
import { newRsaPair } from '../../payment/signing/keys.ts'

export type Samples = {
  /** Whether the service here knows these keys. */
  isLive: boolean
  issuer: string
  client_id: string
  client_secret: string
  redirect_uri: string
  code: string
  access_token: string
  payment_id: string
  token: string
  pid: string
  merchant_key: string
  /** PKCS#8 as bare base64. */
  merchant_private_key: string
  /** The mandates of the examples: one to charge, and one that is revoked. */
  mandates: { charged: string; revoked: string }
  /** An access key, a token of it, and the transaction_ids of an order and a transfer of its application. */
  access: { client_id: string; client_secret: string; token: string; order: string; transfer: string }
  /** The member that receives the transfer. */
  member: { id: string; username: string }
}

/** Finds the keys for one page. A code can be used once, so the demo makes a new one each time. */
export type FindSamples = () => Promise<Samples>

/** Orders of the demo's applications. The examples query them, and close the last one. */
export const SAMPLE_ORDER = { order_id: 'order-1001', amount: '120', description: 'Sticker pack' }
export const SAMPLE_TRADES = { asked: 'mug-1001', closed: 'mug-1002' }
export const SAMPLE_TRADE = {
  type: 'alipay',
  notify_url: 'https://shop.example/notify',
  return_url: 'https://shop.example/return',
  name: 'Mug',
  money: '9.90',
}
/** The payout of the examples, and its line without the member. */
export const SAMPLE_PAYOUT = { reference: 'raffle-7', line: { line_id: '1', memo: 'First prize' } }
export const MADE_UP_MANDATE = 'mdt_8f2k4m6n8p0q2r4s6t8v0w2x'
/** A placeholder in an example for the second at which it is sent. */
export const NOW = '$TIMESTAMP'

let pair: ReturnType<typeof newRsaPair> | undefined

/** Sample keys that no application has. */
export async function madeUpSamples(): Promise<Samples> {
  pair ??= newRsaPair()
  const { private_base64 } = await pair
  return {
    isLive: false,
    issuer: 'https://id.example',
    client_id: 'sampleclientsampleclient',
    client_secret: 'sample-client-secret',
    redirect_uri: 'https://app.example/callback',
    code: 'sample-code',
    access_token: 'sample-access-token',
    payment_id: 'pay_samplesamplesample00',
    token: 'tk_SampleSampleSampleSampleSampleSample0000',
    pid: '1001',
    merchant_key: 'SampleSampleSampleSampleSample00',
    merchant_private_key: private_base64,
    mandates: { charged: MADE_UP_MANDATE, revoked: MADE_UP_MANDATE },
    access: {
      client_id: 'ak_samplesamplesample00',
      client_secret: 'sk_SampleSampleSampleSampleSampleSample0000',
      token: 'sample-token-of-an-access-key',
      order: 'txn_8f2k4m6n8p0q2r4s6t8v0w2x',
      transfer: 'txn_0a1b2c3d4e5f6g7h8i9j0k1l',
    },
    member: { id: '1', username: 'alice' },
  }
}
