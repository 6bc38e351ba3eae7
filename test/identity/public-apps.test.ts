import { describe, expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import {
  answerOf,
  authorizationUrl,
  authorize,
  basic,
  makeParty,
  makeVerifier,
  type Party,
  pkce,
  postForm,
  withoutWriting,
} from './relying-party.ts'

const LOOPBACK = 'http://127.0.0.1:5173/callback'
const PUBLIC = { token_endpoint_auth_method: 'none' } as const

const test = await useTestApp()
const party = await makeParty(test, PUBLIC)

const member = async () => (await makePerson(test)).signIn()

describe('a public application', () => {
  it('is not answered without a challenge', async () => {
    const client = await member()
    const page = await withoutWriting(test, () => client.get(authorizationUrl(party)))
    expect(answerOf(page)).toMatchObject({
      error: 'invalid_request',
      error_description: 'code_challenge is missing',
    })
  })

  it('cannot authenticate with a secret', async () => {
    const headers = { authorization: basic(party.client_id, 'x') }
    const form = { grant_type: 'authorization_code', code: 'x' }
    const answer = await postForm(test, '/oauth2/token', form, headers)
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
  })

  it('may send an empty secret in the header, which a confidential one may not', async () => {
    const form = { grant_type: 'authorization_code', code: 'x' }
    const headersOf = ({ client_id }: Party) => ({ authorization: basic(client_id, '') })
    const open = await postForm(test, '/oauth2/token', form, headersOf(party))
    expect(open).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    const confidential = await makeParty(test)
    const empty = await postForm(test, '/oauth2/token', form, headersOf(confidential))
    const wrong = await postForm(test, '/oauth2/token', form, {
      authorization: basic(confidential.client_id, 'x'),
    })
    expect(empty).toMatchObject({ status: 401, body: wrong.body })
    expect(empty.headers['www-authenticate']).toMatch(/^Basic/)
  })

  it('on the member’s own machine asks them each time', async () => {
    const local = await makeParty(test, { ...PUBLIC, redirect_uris: [LOOPBACK] })
    const client = await member()
    const request = pkce(makeVerifier())
    await authorize(client, local, request)
    expect((await client.get(authorizationUrl(local, request))).status).toBe(200)
    const silent = await client.get(authorizationUrl(local, { ...request, prompt: 'none' }))
    expect(answerOf(silent, LOOPBACK).error).toBe('consent_required')
    // On the web, its address identifies it.
    await authorize(client, party, request)
    expect((await client.get(authorizationUrl(party, request))).status).toBe(303)
  })
})
