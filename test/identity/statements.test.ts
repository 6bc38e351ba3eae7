import { makePerson } from '../harness/cast.ts'
import { setSetting, useTestApp } from '../harness/harness.ts'
import { expectStatements, itCounts } from '../harness/statements.ts'
import {
  answerOf,
  authorizationUrl,
  authorize,
  exchange,
  exchangePublic,
  makeParty,
  makeVerifier,
  type Party,
  pkce,
  postForm,
  refresh,
  storeDocumentClient,
  userinfo,
} from './relying-party.ts'

const test = await useTestApp()
const party = await makeParty(test)
// Every process reads its signing keys once a minute, and notes the use of a secret every ten minutes.
await exchange(test, party, 'x')

itCounts('a remembered authorization takes four: session, application, consent, code', async () => {
  const client = await (await makePerson(test)).signIn()
  await authorize(client, party)
  await expectStatements(4, () => client.get(authorizationUrl(party)), 303)
})

itCounts('a code exchange takes two, a refresh takes two, userinfo takes one', async () => {
  const client = await (await makePerson(test, { groups: ['crew'] })).signIn()
  const { code } = await authorize(client, party)
  const exchanged = await expectStatements(2, () => exchange(test, party, code))
  const refreshed = await expectStatements(2, () =>
    refresh(test, party, exchanged.body.refresh_token, { scope: 'openid' }),
  )
  await expectStatements(1, () => userinfo(test, refreshed.body.access_token))
})

itCounts('a client that is known by its document takes as many', async () => {
  await setSetting(test, 'client_id_metadata_documents', 'any')
  const person = await makePerson(test)
  const client = await person.signIn()
  const agent = (await storeDocumentClient(test, person)) as Party
  const { client_id, redirect_uri } = agent
  const code_verifier = makeVerifier()
  const challenge = pkce(code_verifier)
  await authorize(client, agent, challenge)
  const page = await expectStatements(4, () => client.get(authorizationUrl(agent, challenge)), 303)
  const { code } = answerOf(page, redirect_uri)
  const exchanged = await expectStatements(2, () => exchangePublic(test, agent, code, { code_verifier }))
  const { refresh_token } = exchanged.body as Record<string, string>
  const refreshed = await expectStatements(2, () =>
    postForm(test, '/oauth2/token', { grant_type: 'refresh_token', client_id, refresh_token }),
  )
  await expectStatements(1, () => userinfo(test, refreshed.body.access_token))
})

itCounts('an unknown client and a wrong secret cost three statements each', async () => {
  const wrong = { ...party, client_secret: makeVerifier() }
  await expectStatements(3, () => exchange(test, wrong, 'x'), 401)
  await expectStatements(3, () => exchange(test, { ...wrong, client_id: 'nobody' }, 'x'), 401)
})
