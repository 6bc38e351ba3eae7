/** The description of an operation: its address, the schemas that check it, and examples. */
import { z } from 'zod'
import type { AccessScope } from '../../database/tables/access-keys.ts'
import type { Text } from '../../web/languages.ts'
import type { Samples } from './samples.ts'

export type Area = 'identity' | 'payment' | 'rest' | 'v1' | 'v2'
export const text = (en: string, zh: string): Text => ({ en, zh })

export type Answer = {
  about: Text
  schema?: z.ZodType
  /** An example of the body. */
  example?: unknown
}

export type Operation = {
  area: Area
  method: 'get' | 'post'
  /** The other method that does the same. */
  alsoBy?: 'get' | 'post'
  /** The path, with `{name}` for a parameter. */
  path: string
  /** The parameters of the path in an example, beside the Payment ID. */
  inPath?: (samples: Samples) => Record<string, string>
  about: Text
  /** What it does, and when to use it. */
  introduction: Text
  /** How the caller authenticates: a name of SECURITY. */
  security?: Security
  /** What its token must allow. */
  scope?: AccessScope
  request?: {
    in: 'query' | 'form' | 'json'
    schema: z.ZodObject
    /** The fields of an example, without pid, key, timestamp and signature. */
    example: (samples: Samples) => Record<string, unknown>
  }
  /** The answers by HTTP status. */
  answers: Record<number, Answer>
}

export type Security = 'client' | 'bearer' | 'accessKey'

/** What each scope of an access key allows. */
const SCOPES: Record<AccessScope, Text> = {
  'orders:read': text('Read orders, sales of links, and transfers', '查看订单、收款链接的销售与转账'),
  'orders:write': text('Create orders', '创建订单'),
  transfers: text('Send points from the wallet of the owner', '从所有者的钱包转出积分'),
  mandates: text('Offer, charge, read and revoke mandates', '发起、扣款、查询和撤销预授权'),
  payouts: text('Make, read and stop payouts', '发起、查询和停止批量付款'),
}

/** The ways to authenticate as OpenAPI has them. */
export function securitySchemes(tokenUrl: string, language: keyof Text) {
  const scopes = Object.fromEntries(Object.entries(SCOPES).map(([name, about]) => [name, about[language]]))
  return {
    client: { type: 'http', scheme: 'basic' },
    bearer: { type: 'http', scheme: 'bearer' },
    accessKey: { type: 'oauth2', flows: { clientCredentials: { tokenUrl, scopes } } },
  } satisfies Record<Security, object>
}

const IN_CHINESE = 'x-zh'

/** Adds descriptions to the fields of a shape. */
export function described<Members extends z.ZodRawShape, Config extends z.core.$ZodObjectConfig>(
  shape: z.ZodObject<Members, Config>,
  words: { [Name in keyof Members]?: Text },
): z.ZodObject<Members, Config> {
  const members = Object.entries(shape.shape).map(([name, schema]) => {
    const about = words[name]
    return [name, about === undefined ? schema : withWords(schema as z.ZodType, about)]
  })
  return shape.safeExtend(Object.fromEntries(members)) as typeof shape
}

/** Adds a description to a field. */
export function withWords(schema: z.ZodType, { en, zh }: Text): z.ZodType {
  return schema.meta({ description: en, [IN_CHINESE]: zh })
}

/** The JSON Schema of a request (`input`) or an answer (`output`), with descriptions in one language. */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output', language: keyof Text): object {
  return z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema: made }) => {
      const chinese = made[IN_CHINESE]
      if (language === 'zh' && chinese !== undefined) made.description = String(chinese)
      delete made[IN_CHINESE]
      delete made.$schema
    },
  })
}
