// Asks the browser for a passkey and sends its answer with the form. Without this file, the forms stay hidden.
const { PublicKeyCredential } = window
const PARSERS = { create: 'parseCreationOptionsFromJSON', get: 'parseRequestOptionsFromJSON' }
const isSupported = (act) =>
  typeof PublicKeyCredential?.[PARSERS[act]] === 'function' && 'toJSON' in PublicKeyCredential.prototype

/** On our other address, browsers accept our passkeys only if they know related origins. */
async function knowsRelated() {
  return (await PublicKeyCredential.getClientCapabilities?.().catch(() => undefined))?.relatedOrigins === true
}

/** Returns the answer as JSON, without what the attestation object says too. */
function written(credential) {
  const { authenticatorData, publicKey, publicKeyAlgorithm, ...response } = credential.toJSON().response
  const { id, rawId, type, clientExtensionResults } = credential.toJSON()
  const isNew = response.attestationObject !== undefined
  const kept = isNew ? response : { ...response, authenticatorData }
  return JSON.stringify({ id, rawId, type, clientExtensionResults, response: kept })
}

/** The question that the browser has open: it answers one at a time. */
let open = new AbortController()

async function ask(form, options) {
  open.abort()
  open = new AbortController()
  const { signal } = open
  const { passkey: act } = form.dataset
  const publicKey = PublicKeyCredential[PARSERS[act]](JSON.parse(form.dataset.options))
  const credential = await navigator.credentials[act]({ publicKey, signal, ...options })
  form.elements.credential.value = written(credential)
  // Not requestSubmit, whose event would ask again.
  form.submit()
}

async function prepare(form) {
  const { passkey: act, related, autofill } = form.dataset
  if (!isSupported(act) || (related !== undefined && !(await knowsRelated()))) return
  form.hidden = false
  for (const without of document.querySelectorAll('[data-passkey-without]')) without.hidden = true
  const problem = form.querySelector('[data-passkey-problem]')
  form.addEventListener('submit', async (event) => {
    // The first click is still being answered.
    if (event.defaultPrevented) return
    event.preventDefault()
    problem.hidden = true
    await ask(form).catch(() => {
      problem.hidden = false
      delete form.dataset.sent
    })
  })
  // The list below the username field offers passkeys until the member chooses something else.
  if (autofill !== undefined && (await PublicKeyCredential.isConditionalMediationAvailable?.()))
    await ask(form, { mediation: 'conditional' }).catch(() => {})
}

for (const form of document.querySelectorAll('form[data-passkey]')) prepare(form).catch(() => {})

// Tells the browser that we do not know a passkey, so that it stops offering it.
for (const { dataset } of document.querySelectorAll('[data-unknown-passkey]'))
  PublicKeyCredential?.signalUnknownCredential?.(JSON.parse(dataset.unknownPasskey)).catch(() => {})
