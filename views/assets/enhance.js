// Improves pages in browsers with scripts. Every page works without this file.
for (const time of document.querySelectorAll('time[datetime]')) {
  const moment = new Date(time.dateTime)
  time.textContent = moment.toLocaleString(document.documentElement.lang, {
    dateStyle: 'medium',
    timeStyle: 'short',
  })
}

for (const button of document.querySelectorAll('button[data-copy], button[data-copy-from]')) {
  button.hidden = false
  button.addEventListener('click', async () => {
    const { copy, copyFrom } = button.dataset
    await navigator.clipboard.writeText(copy ?? document.getElementById(copyFrom).textContent)
    button.dataset.copied = 'true'
    setTimeout(() => delete button.dataset.copied, 1500)
  })
}

// Removes a picture that cannot be loaded, so the initial behind it shows.
for (const picture of document.querySelectorAll('.avatar img')) {
  const hide = () => picture.remove()
  if (picture.complete && picture.naturalWidth === 0) hide()
  else picture.addEventListener('error', hide)
}

// Closes the account menu on Escape and on a click outside.
const menu = document.querySelector('details.menu')
addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape' || !menu?.open) return
  menu.open = false
  menu.querySelector('summary').focus()
})
addEventListener('click', ({ target }) => {
  if (menu?.open && !menu.contains(target)) menu.open = false
})

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
