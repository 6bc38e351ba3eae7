import { describe, expect, it } from 'vitest'
import { madeUpSamples } from '../../src/docs/operations/samples.ts'
import { WEBHOOKS } from '../../src/docs/operations/webhooks.ts'
import {
  describeArea,
  describeOperation,
  describeWebhook,
  type Field,
} from '../../src/docs/reference/describe.ts'
import { AREAS, OPERATIONS, operationId } from '../../src/docs/reference/openapi.ts'

const samples = await madeUpSamples()

/** Every field that the pages describe, by the page and its name. */
async function fieldsIn(language: 'en' | 'zh'): Promise<[string, Field][]> {
  const named = (page: string, fields: readonly Field[] = []) =>
    fields.map((field): [string, Field] => [`${page} ${field.name}`, field])
  const webhooks = WEBHOOKS.map(async (webhook) => {
    const { headers = [], fields } = await describeWebhook(webhook, language, samples)
    return named(webhook.name, [...headers, ...fields])
  })
  return [
    ...AREAS.flatMap((area) => named(area, describeArea(area, language).refusal?.fields)),
    ...OPERATIONS.flatMap((operation) => {
      const { sent, answers } = describeOperation(operation, language)
      return named(operationId(operation), [
        ...(sent?.fields ?? []),
        ...answers.flatMap(({ fields }) => fields),
      ])
    }),
    ...(await Promise.all(webhooks)).flat(),
  ]
}

describe.each(['en', 'zh'] as const)('the fields of the API in %s', (language) => {
  it('are all described', async () => {
    const fields = await fieldsIn(language)
    expect(fields.length).toBeGreaterThan(400)
    expect(fields.filter(([, { about }]) => about === '').map(([name]) => name)).toEqual([])
  })

  it('have their limits in words', async () => {
    const limits = (await fieldsIn(language)).map(([, { limit }]) => limit ?? '')
    expect(new Set(limits).size).toBeGreaterThan(10)
    expect(limits.filter((limit) => /[\^$\\]/.test(limit))).toEqual([])
  })
})

it('the parts of an event are described as those of an answer are', async () => {
  const { fields } = await describeWebhook(WEBHOOKS.find(({ name }) => name === 'order.paid')!, 'en', samples)
  expect(fields.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['data', 'data.order_id', 'data.paid_at']),
  )
})
