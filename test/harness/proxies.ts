/** Runs the proxies of docs/operations by their samples, in front of processes of the test. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { certificateOf } from './certificate.ts'
import { freePort } from './free-port.ts'
import { makeScratchFolder } from './scratch.ts'
import { ROOT } from './server-process.ts'
import { until } from './waiting.ts'

const OPERATIONS = join(ROOT, 'docs/operations')

/** Whether a test of a program is left out, because this machine lacks it. Continuous integration leaves nothing out. */
export const isWithout = (program: string) =>
  process.env.CI !== 'true' && spawnSync(program, ['--help']).error !== undefined

export type RunningProxy = { port: number; url: string; stop: () => Promise<void> }

/** The sample for Caddy as it is, with the variables that docker-compose.yml sets. */
export const caddyVariables = (port: number, ports: number[]) => ({
  SITES: `http://127.0.0.1:${port}`,
  UPSTREAMS: ports.map((each) => `127.0.0.1:${each}`).join(' '),
  PORT: String(port),
  HTTPS_PORT: String(port + 1),
})

/** Starts Caddy by its sample. */
export async function startCaddy(port: number, ports: number[]): Promise<RunningProxy> {
  const folder = await makeScratchFolder()
  const child = spawn('caddy', ['run', '--config', join(OPERATIONS, 'Caddyfile'), '--adapter', 'caddyfile'], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
      ...caddyVariables(port, ports),
    },
    stdio: 'ignore',
  })
  return whenListening(child, { port, url: `http://127.0.0.1:${port}`, folder })
}

/** Starts nginx by its sample, with these ports and a certificate of the test in place of those that the sample names. */
export async function startNginx(port: number, ports: number[]): Promise<RunningProxy> {
  const folder = await makeScratchFolder()
  const config = await writeNginx(folder, port, ports)
  const child = spawn('nginx', ['-p', folder, '-c', config, '-g', 'daemon off;'], { stdio: 'ignore' })
  return whenListening(child, { port, url: `https://127.0.0.1:${port}`, folder })
}

/** Writes the sample for nginx with what a test needs, and returns the path of the configuration. */
export async function writeNginx(folder: string, port: number, ports: number[]): Promise<string> {
  const { key, cert } = certificateOf('127.0.0.1')
  await writeFile(join(folder, 'key.pem'), key)
  await writeFile(join(folder, 'cert.pem'), cert)
  const plain = await freePort()
  const sample = replaced(await readFile(join(OPERATIONS, 'nginx.conf'), 'utf8'), [
    ['127.0.0.1:3000', `127.0.0.1:${ports[0]}`],
    ['127.0.0.1:3001', `127.0.0.1:${ports[1]}`],
    ['listen 80;', `listen 127.0.0.1:${plain};`],
    ['listen [::]:80;', ''],
    ['listen 443 ssl http2;', `listen 127.0.0.1:${port} ssl http2;`],
    ['listen [::]:443 ssl http2;', ''],
    ['/etc/letsencrypt/live/id.example.org/fullchain.pem', join(folder, 'cert.pem')],
    ['/etc/letsencrypt/live/id.example.org/privkey.pem', join(folder, 'key.pem')],
    ['/var/log/nginx/error.log', join(folder, 'error.log')],
  ])
  await writeFile(join(folder, 'tessera.conf'), sample)
  await mkdir(join(folder, 'body'), { recursive: true })
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  await writeFile(
    join(folder, 'nginx.conf'),
    `worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/start.log;
events {}
http {
${paths.map((path) => `  ${path}_temp_path ${folder}/body;`).join('\n')}
  include ${folder}/tessera.conf;
}
`,
  )
  return join(folder, 'nginx.conf')
}

/** Throws where the sample lacks a text, because it would run with the addresses of the sample. */
function replaced(text: string, pairs: [string, string][]): string {
  return pairs.reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`The sample has no ${from}`)
    return changed.replaceAll(from, to)
  }, text)
}

async function whenListening(
  child: ChildProcess,
  { port, url, folder }: { port: number; url: string; folder: string },
): Promise<RunningProxy> {
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`The proxy ended with ${child.exitCode}`)
    return accepts(port)
  })
  return {
    port,
    url,
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}
