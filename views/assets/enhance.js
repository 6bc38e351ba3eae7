// Improves pages in browsers with scripts. Every page works without this file.

/** Copies by the clipboard where the page may, and else as a selection, which also works over plain http. */
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'hush'
  document.body.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (!isCopied) throw new Error('The browser did not copy')
}

/** Reads a text aloud in screen readers. */
const announcer = document.createElement('p')
announcer.className = 'hush'
announcer.setAttribute('role', 'status')
document.body.append(announcer)

for (const button of document.querySelectorAll('button[data-copy], button[data-copy-from]')) {
  button.hidden = false
  button.addEventListener('click', async () => {
    const { copy: text, copyFrom, said } = button.dataset
    await copy(text ?? document.getElementById(copyFrom).textContent)
    announcer.textContent = said ?? '✓'
    button.dataset.copied = 'true'
    setTimeout(() => {
      delete button.dataset.copied
      announcer.textContent = ''
    }, 1500)
  })
}

// Opens the sharing of the browser, where it has one. Leaving it is no fault.
for (const button of document.querySelectorAll('button[data-share]')) {
  button.hidden = !navigator.share
  button.addEventListener('click', () => {
    const { share: url, title } = button.dataset
    navigator.share({ title, url }).catch(() => {})
  })
}

// The field of a quantity takes one more or one fewer by the buttons beside it.
for (const button of document.querySelectorAll('button[data-step]')) {
  const field = button.parentElement.querySelector('input')
  button.hidden = false
  button.addEventListener('click', () => {
    field.stepUp(Number(button.dataset.step))
    field.dispatchEvent(new Event('input'))
  })
}

// The button that buys several units says their total. A single one has its price in the plain label.
for (const button of document.querySelectorAll('button[data-each]')) {
  const { each, total } = button.dataset
  const field = button.form.elements.quantity
  const plain = button.textContent
  const show = () => {
    const sum = BigInt(each) * BigInt(field.validity.valid ? field.value : 0)
    button.textContent = sum > 1n ? total.replace('{}', sum.toLocaleString('en')) : plain
  }
  field.addEventListener('input', show)
  addEventListener('pageshow', show)
}

// Marks the heading that the reader is at, in the list beside the page.
const places = [...document.querySelectorAll('.onpage a')].map((link) => [
  link,
  document.getElementById(decodeURIComponent(link.hash.slice(1))),
])
function markPlace() {
  const [current] =
    places.findLast(([, { offsetTop }]) => offsetTop <= scrollY + innerHeight / 3) ?? places[0]
  for (const [link] of places) {
    if (link === current) link.setAttribute('aria-current', 'true')
    else link.removeAttribute('aria-current')
  }
}
if (places.length > 0) {
  addEventListener('scroll', markPlace, { passive: true })
  markPlace()
}

// Shows a password while its button is pressed in.
for (const button of document.querySelectorAll('button[data-shows]')) {
  const field = document.getElementById(button.dataset.shows)
  button.hidden = false
  button.addEventListener('click', () => {
    const isShown = field.type === 'text'
    field.type = isShown ? 'password' : 'text'
    button.setAttribute('aria-pressed', String(!isShown))
  })
}

// Shows a colour in the sample while it is typed or picked. The page of the tried colour has the sample.
for (const picker of document.querySelectorAll('input[data-tries]')) {
  const field = document.getElementById(picker.dataset.tries)
  const swatch = picker.previousElementSibling.firstElementChild
  let waiting
  const show = async () => {
    const address = new URL(location.origin + location.pathname)
    address.search = new URLSearchParams({ area: 'brand', try: field.value })
    const answer = await fetch(address, { headers: { accept: 'text/html' } })
    if (address.searchParams.get('try') !== field.value || !answer.ok) return
    const next = new DOMParser().parseFromString(await answer.text(), 'text/html')
    document.getElementById('sample').replaceWith(next.getElementById('sample'))
  }
  const showSoon = () => {
    clearTimeout(waiting)
    waiting = setTimeout(show, 200)
    if (!/^#[0-9a-f]{6}$/i.test(field.value)) return
    picker.value = field.value
    swatch.setAttribute('fill', field.value)
  }
  picker.hidden = false
  picker.addEventListener('input', () => {
    field.value = picker.value
    showSoon()
  })
  field.addEventListener('input', showSoon)
}

// Another amount takes the place of a choice, and a choice that of another amount.
for (const choices of document.querySelectorAll('.choices')) {
  const other = choices.form.elements.amount
  choices.addEventListener('change', () => {
    other.value = ''
  })
  other.addEventListener('input', () => {
    for (const each of choices.elements) each.checked = other.value === '' && each.defaultChecked
  })
}

// Names the changed settings in the bar that saves them.
for (const bar of document.querySelectorAll('.savebar [data-many]')) {
  const { form } = bar.parentElement.querySelector('button')
  const { one, many, separator } = bar.dataset
  const unchanged = bar.textContent
  const isChanged = (field) => {
    if (field.type === 'checkbox') return field.checked !== field.defaultChecked
    if (field.options) return [...field.options].some((each) => each.selected !== each.defaultSelected)
    return field.value !== field.defaultValue
  }
  const show = () => {
    const fields = [...form.elements].filter((field) => field.labels?.length > 0 && isChanged(field))
    const names = new Set(fields.map((field) => field.closest('.setting').querySelector('b').textContent))
    const count = names.size === 1 ? one : many.replace('#', names.size)
    const text = names.size > 0 ? count + [...names].join(separator) : unchanged
    bar.classList.toggle('desk', names.size === 0)
    if (bar.textContent !== text) bar.textContent = text
  }
  form.addEventListener('input', show)
  addEventListener('pageshow', show)
}

// Prints the page, such as a receipt.
for (const button of document.querySelectorAll('button[data-print]')) {
  button.hidden = false
  button.addEventListener('click', () => print())
}

// Removes a picture that cannot be loaded, so the initial behind it shows.
for (const picture of document.querySelectorAll(':is(.tile, .avatar) img')) {
  const hide = () => picture.remove()
  if (picture.complete && picture.naturalWidth === 0) hide()
  else picture.addEventListener('error', hide)
}

// Counts down from a number of seconds. The clock here may be wrong, so the server gives the seconds and not the moment.
for (const time of document.querySelectorAll('[data-seconds]')) {
  const end = Date.now() + Number(time.dataset.seconds) * 1000
  const show = () => {
    const seconds = Math.max(0, Math.ceil((end - Date.now()) / 1000))
    time.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
    if (seconds > 0) setTimeout(show, 1000)
  }
  show()
}

// Renews a part of the page while it says that something is under way.
const POLL_MS = 3000
async function poll(part) {
  const answer = await fetch(location.href, { headers: { accept: 'text/html' } })
  const next = new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById(part.id)
  if (answer.ok && next) {
    part.replaceWith(next)
    if (next.dataset.poll !== undefined) setTimeout(poll, POLL_MS, next)
  }
}
for (const part of document.querySelectorAll('[id][data-poll]')) setTimeout(poll, POLL_MS, part)

// Shows the current place where a row of tabs is wider than the screen, or the menu is higher.
for (const link of document.querySelectorAll(':is(.tabs, .chips, .side) [aria-current]')) {
  const frame = link.closest('.tabs, .chips, .side')
  const [place, whole] = [link.getBoundingClientRect(), frame.getBoundingClientRect()]
  frame.scrollLeft += place.left - whole.left - (whole.width - place.width) / 2
  if (place.bottom > whole.bottom) frame.scrollTop += place.top - whole.top - whole.height / 2
}

// Closes the menu of the phone on Escape.
addEventListener('keydown', ({ key }) => {
  if (key === 'Escape' && location.hash === '#menu') location.hash = '#content'
})

// A named time replaces the days that were chosen before.
for (const select of document.querySelectorAll('select[name="period"]')) {
  select.addEventListener('change', () => {
    if (select.value) for (const day of select.form.querySelectorAll('[type="date"]')) day.value = ''
  })
}

// Stops a second submit, which would only delay the answer to the first.
for (const form of document.querySelectorAll('form[method="post"]')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent) event.preventDefault()
    form.dataset.sent = 'true'
  })
}
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) delete form.dataset.sent
})

// Opens samples in the language that the reader has chosen last. The browser may keep nothing: then this ends here.
const LANGUAGE = 'language of samples'
const chosen = localStorage.getItem(LANGUAGE)
for (const tab of document.querySelectorAll('.code-tabs > input')) {
  const name = tab.nextElementSibling.textContent
  if (name === chosen) tab.checked = true
  tab.addEventListener('change', () => localStorage.setItem(LANGUAGE, name))
}
