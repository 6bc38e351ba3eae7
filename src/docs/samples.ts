/**
 * The keys that the examples of the reference are made with. In the demo they belong to applications that exist there,
 * so an example works as it is copied; anywhere else they are made up, and a reader puts their own in their place.
 */
import { newRsaPair } from '../payment/signing/keys.ts'

export type Samples = {
  /** Whether the service here knows these keys. */
  isLive: boolean
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
  /** The member that receives the transfer. */
  member: { id: string; username: string }
}

/** Answers the keys of one reader's page: a code is used once, so the demo makes another each time. */
export type FindSamples = () => Promise<Samples>

/** Orders that the demo's applications have: examples ask about them, and close the last one. */
export const SAMPLE_ORDER = { order_id: 'order-1001', amount: '120', description: 'Sticker pack' }
export const SAMPLE_TRADES = { asked: 'mug-1001', closed: 'mug-1002' }
export const SAMPLE_TRADE = {
  type: 'alipay',
  notify_url: 'https://shop.example/notify',
  return_url: 'https://shop.example/return',
  name: 'Mug',
  money: '9.90',
}
/** In the value of an example: the second at which it is sent. */
export const NOW = '$TIMESTAMP'

let pair: ReturnType<typeof newRsaPair> | undefined

/** Keys that belong to nobody. */
export async function madeUpSamples(): Promise<Samples> {
  pair ??= newRsaPair()
  const { private_base64 } = await pair
  return {
    isLive: false,
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
    member: { id: '1', username: 'alice' },
  }
}
