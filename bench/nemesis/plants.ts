/** Bugs that a run must find. They are planted in a copy of the project, never in the project. */
import { createHash } from 'node:crypto'
import { appendFile, cp, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { ROOT } from '../../test/harness/server-process.ts'
import type { FaultKind } from './plan.ts'

export type Plant = {
  name: string
  /** Texts of files, each with its replacement. */
  edits: { file: string; from: string; to: string }[]
  /** Another numbered file of migrations. */
  migration?: string
  /** The faults that bring it to light. */
  faults: readonly FaultKind[]
}

const FUNCTIONS = 'migrations/functions'
const COPIED = [
  'src',
  'views',
  'docs',
  'migrations',
  'examples',
  'package.json',
  'tsconfig.json',
  'CHANGELOG.md',
]

export const PLANTS: Plant[] = [
  {
    name: 'an early acknowledgement: commits are answered before they are on disk',
    edits: [],
    migration: 'alter role current_user set synchronous_commit = off;',
    faults: ['kill postgres', 'failover', 'stop process'],
  },
  {
    name: 'a missing unique key: an order is looked for, and then inserted',
    edits: [
      {
        file: `${FUNCTIONS}/payment/orders.sql`,
        from: `  order by asked.app_id, asked.door, asked.order_id, asked.ordinality
  on conflict on constraint orders_order_id_key do nothing;`,
        to: `  where not exists (
    select from orders as o
    where o.app_id = asked.app_id and o.book = app.book and o.door = asked.door and o.order_id = asked.order_id
  )
  order by asked.app_id, asked.door, asked.order_id, asked.ordinality;`,
      },
    ],
    migration: `alter table orders drop constraint orders_order_id_key;
      create index orders_order_id_key on orders (app_id, book, door, order_id);`,
    faults: ['stop process', 'kill process', 'delay process', 'cut process'],
  },
  {
    name: 'a stale read: a process remembers an order for seconds',
    edits: [
      {
        file: 'src/payment/hmac/acts.ts',
        from: '  const findTransaction = makeFindTransaction(deps)\n',
        to: `  const find = makeFindTransaction(deps)
  const known = new Map<string, { order: Awaited<ReturnType<typeof find>>; until: number }>()
  const findTransaction: typeof find = async (look) => {
    const id = look.transaction_id
    const kept = known.get(id)
    if (kept !== undefined && kept.until > Date.now()) return kept.order
    const order = await find(look)
    known.set(id, { order, until: Date.now() + 5_000 })
    return order
  }
`,
      },
    ],
    faults: ['stop process', 'kill process', 'clock'],
  },
  {
    name: 'a late delivery: a process gathers sales for a moment, and then takes their codes',
    edits: [
      {
        file: `${FUNCTIONS}/payment/pay.sql`,
        from: "      if f.door = 'link' then perform take_units(f.order_id, f.now); end if;\n",
        to: '      -- The process takes the units.\n',
      },
      {
        file: 'src/payment/orders/pay.ts',
        from: '      // Without a return, the order is null in every column.\n',
        to: `      const sold = rows.filter(({ outcome, door }) => outcome === 'paid' && door === 'link')
      if (sold.length > 0) await new Promise((resolve) => setTimeout(resolve, 300))
      for (const { id } of sold)
        await sql\`select take_units(\${id}, \${deps.clock()}::timestamptz)\`.execute(deps.db)
`,
      },
    ],
    faults: ['kill process', 'cut process', 'delay process', 'kill postgres'],
  },
  {
    name: 'a payout without a lock and a key: its reference is looked for, and then inserted',
    edits: [
      {
        file: 'src/payment/payouts/payouts.ts',
        from: '    await lockApp(tx, payer)\n    const made = await findSame(tx, payer, asked)\n',
        to: '    // Another request may create it meanwhile.\n    const made = await findSame(tx, payer, asked)\n',
      },
    ],
    migration: `alter table payouts drop constraint payouts_reference_key;
      create index payouts_reference_key on payouts (app_id, reference);`,
    faults: ['stop process', 'kill process', 'delay process', 'cut process'],
  },
]

/** Copies the project and plants a bug there. Returns the folder of the copy. */
export async function plantIn({ edits, migration }: Plant): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'tessera-planted-'))
  const filter = (path: string) => !path.endsWith('node_modules')
  for (const name of COPIED) await cp(join(ROOT, name), join(copy, name), { recursive: true, filter })
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  for (const { file, from, to } of edits) {
    const path = join(copy, file)
    const text = await readFile(path, 'utf8')
    if (text.split(from).length !== 2) throw new Error(`${file} has no such text, or has it twice`)
    const planted = text.replace(from, () => to)
    await writeFile(path, planted)
    if (!file.startsWith(FUNCTIONS)) continue
    const hash = createHash('sha256').update(planted).digest('hex')
    await appendFile(join(copy, FUNCTIONS, 'history'), `${hash}  ${relative('migrations', file)}\n`)
  }
  if (migration !== undefined) await writeFile(join(copy, 'migrations/999-planted.sql'), `${migration}\n`)
  return copy
}
