/** Writes the pages of the API in Markdown, for agents and programs, from the same descriptions as the pages. */
import type { Messages, Text } from '../../web/languages.ts'
import type { Area, Operation } from '../operations/operation.ts'
import type { Samples } from '../operations/samples.ts'
import type { Webhook } from '../operations/webhooks.ts'
import { callOf } from '../programs/call.ts'
import { type Program, programsOf } from '../programs/programs.ts'
import { settingEnvironment } from '../programs/shell.ts'
import { describeArea, describeOperation, describeWebhook, type Field } from './describe.ts'

/** What the pages are written in and with. */
export type Writing = {
  t: Messages
  language: keyof Text
  samples: Samples
  /** Leaves out the programs in other languages than that of a shell. */
  isBrief: boolean
}

/** A block of code. */
export const fenced = (code: string, language = ''): string => `\`\`\`${language}\n${code}\n\`\`\``

const isText = (piece: string | undefined | false): piece is string => Boolean(piece)

/** Joins the pieces of a page that there are, with an empty line between. */
export const inPieces = (pieces: readonly (string | undefined | false)[]): string =>
  `${pieces.filter(isText).join('\n\n')}\n`

/** Whether a page shows a program. A brief page shows only those for a shell. */
export const isShown = (program: Program, isBrief: boolean): boolean => !isBrief || program.language === 'sh'

/** Writes an operation with its programs. @param server the address of its area. */
export function operationInMarkdown(operation: Operation, server: string, writing: Writing): string {
  const { t, language, samples, isBrief } = writing
  const { docs } = t
  const described = describeOperation(operation, language)
  const { about, introduction, method, alsoBy, path, security, sent, answers, refusals } = described
  const call = callOf(operation, samples, server)
  const environment = settingEnvironment(call)
  return inPieces([
    `# ${about}`,
    introduction,
    [method, alsoBy]
      .filter(isText)
      .map((verb) => `\`${verb} ${server}${path}\``)
      .join(', '),
    security && docs.security[security],
    sent && `## ${docs.request}`,
    sent && docs.sentIn[sent.in],
    sent && fieldsInMarkdown(sent.fields, t),
    `## ${docs.sample}`,
    environment && docs.fromEnvironment,
    environment && fenced(environment, 'sh'),
    ...programsOf(call)
      .filter((program) => isShown(program, isBrief))
      .map((program) => fenced(program.code, program.language)),
    `## ${docs.answers}`,
    ...answers.flatMap((answer) => [
      `**${answer.status}** ${answer.about}`,
      fieldsInMarkdown(answer.fields, t),
      answer.example && fenced(answer.example, 'json'),
    ]),
    `## ${docs.refused}`,
    refusals.map((refusal) => `- **${refusal.status}** ${refusal.about}`).join('\n'),
  ])
}

/** Writes an area: its refusals and the way to each of its operations. @param link the address of a page. */
export function areaInMarkdown(area: Area, link: (href: string) => string, { t, language }: Writing): string {
  const { operations, refusal } = describeArea(area, language)
  const { title, text } = t.docs.areas[area]
  return inPieces([
    `# ${title}`,
    text,
    operations
      .map(
        ({ id, method, path, about }) =>
          `- [${about}](${link(`/docs/${area}/${id}`)}): \`${method} ${path}\``,
      )
      .join('\n'),
    refusal && `## ${t.docs.refusals}`,
    refusal && fieldsInMarkdown(refusal.fields, t),
    refusal?.example && fenced(refusal.example, 'json'),
  ])
}

/** Writes a message that the service sends. */
export async function webhookInMarkdown(
  webhook: Webhook,
  { t, language, samples }: Writing,
): Promise<string> {
  const { method, title, when, about, answer, headers, fields, example } = await describeWebhook(
    webhook,
    language,
    samples,
  )
  return inPieces([
    `# ${title}`,
    when,
    about,
    `\`${method}\` ${t.docs.sentIn[method === 'GET' ? 'query' : 'json']}`,
    headers && `## ${t.docs.headers}`,
    headers && fieldsInMarkdown(headers, t),
    `## ${t.docs.parameters}`,
    fieldsInMarkdown(fields, t),
    `## ${t.docs.exampleAnswer}`,
    fenced(example),
    `## ${t.docs.yourAnswer}`,
    answer,
  ])
}

function fieldsInMarkdown(fields: readonly Field[], { docs }: Messages): string {
  return fields
    .map(({ name, type, isRequired, about, limit }) => {
      const kind = isRequired ? type : `${type}, ${docs.optional}`
      return `- \`${name}\` (${kind}): ${[about.replaceAll('\n', '; '), limit].filter(isText).join(' · ')}`
    })
    .join('\n')
}
