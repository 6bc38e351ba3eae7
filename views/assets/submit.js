// Submits the form of a page that only passes a browser on. Without this file, its button does.
for (const form of document.querySelectorAll('form[data-submit]')) form.submit()
