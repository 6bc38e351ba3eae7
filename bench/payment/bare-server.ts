/** The least cost of a service over Postgres: a bare Fastify route with one indexed select, and one with a durable insert. */
import Fastify from 'fastify'
import pg from 'pg'

const POOL_MAX = 10
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: POOL_MAX })
const app = Fastify()

app.get<{ Params: { transaction_id: string } }>('/orders/:transaction_id', async (request) => {
  const { rows } = await pool.query('select * from orders where transaction_id = $1', [
    request.params.transaction_id,
  ])
  return rows[0]
})

type NewRow = { order_id: string; description: string; amount: number }

app.post<{ Body: NewRow }>('/orders', async (request) => {
  const { order_id, description, amount } = request.body
  const { rows } = await pool.query(
    'insert into bare_orders (order_id, description, amount) values ($1, $2, $3) returning id, created_at',
    [order_id, description, amount],
  )
  return { id: rows[0].id, created_at: rows[0].created_at, status: 'pending' }
})

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
process.stdout.write('ready\n')
// A regular exit writes the profile. The process also ends when the bench ends.
for (const end of ['SIGTERM', 'disconnect']) process.on(end, () => process.exit(0))
