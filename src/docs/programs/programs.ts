/** The samples of an operation, one program per language. */
import { type Call, inParts } from './call.ts'
import { inGo } from './go.ts'
import { inJava } from './java.ts'
import { inJavaScript } from './javascript.ts'
import { inPhp } from './php.ts'
import { inPython } from './python.ts'
import { inShell, settingEnvironment } from './shell.ts'

/** The languages by the word after ``` in a guide, in the order of the tabs. */
const GENERATORS = {
  sh: inShell,
  js: inJavaScript,
  python: inPython,
  php: inPhp,
  go: inGo,
  java: inJava,
} satisfies Record<string, (call: Call) => string>

export type Program = { language: keyof typeof GENERATORS; code: string }

/** Writes a request in each language. */
export function programsOf(call: Call): Program[] {
  const languages = Object.keys(GENERATORS) as Program['language'][]
  return languages.map((language) => ({ language, code: GENERATORS[language](call) }))
}

/** Writes a request as one script, which sets its environment itself. */
export function scriptOf(call: Call): string {
  return inParts([settingEnvironment(call)].filter(Boolean), [inShell(call)])
}
