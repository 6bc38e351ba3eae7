// Shows the payer the remaining time in its last quarter, and a payment that was made on another device.
const ANNOUNCED = [300, 60]
const QUIET_POLL_MS = 15_000
const POLL_MS = 2_000

const line = document.querySelector('[data-expires]')
const { dataset } = line
// The server's clock decides, so the difference to the local clock is taken into account.
const ahead = Date.now() - Date.parse(dataset.now)
const left = () => Math.ceil((Date.parse(dataset.expires) - Date.now() + ahead) / 1000)
const clock = line.querySelector('[data-clock]')
const voice = line.querySelector('[role="status"]')
const fill = (text, value) => text.replace('{}', value)
// The answer to a sent form leads on, most often to the shop. Loading this page again would cancel it.
const isLeaving = () => document.querySelector('form[data-sent]') !== null

let before = left()
function tick() {
  if (isLeaving()) return
  const now = left()
  if (now <= 0) return location.reload()
  if (now <= Number(dataset.countdown)) {
    const time = `${Math.floor(now / 60)}:${String(now % 60).padStart(2, '0')}`
    clock.textContent = fill(dataset.left, time)
    clock.hidden = false
  }
  const due = ANNOUNCED.find((seconds) => before > seconds && now <= seconds)
  if (due !== undefined) voice.textContent = fill(dataset.soon, due / 60)
  before = now
}
setInterval(tick, 1_000)
tick()

// A payer may pay on another device, and this page must show that. The page of a tip has no code to scan.
const elsewhere = document.querySelector('[data-elsewhere]')
let asked = Date.now()
async function look() {
  const pause = elsewhere?.open ? POLL_MS : QUIET_POLL_MS
  if (document.hidden || Date.now() - asked < pause) return
  asked = Date.now()
  const answer = await fetch(dataset.state, { headers: { accept: 'application/json' } }).catch(
    () => undefined,
  )
  const isOver = answer?.ok && (await answer.json()).state !== 'open'
  if (isOver && !isLeaving()) location.reload()
  // The server refused the request or cannot be reached: the next request comes later.
  else if (!answer?.ok) asked += QUIET_POLL_MS
}
setInterval(look, POLL_MS / 2)
