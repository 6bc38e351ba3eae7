/**
 * Titles of the forum's topics, for labels of pages. They are read as a visitor reads them, without the key, so no title of a closed
 * category or of a private message is shown. A page waits for a title a second at most, and does without when there is none. spec/accounts 5.10.
 */
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import { fullNameOf, idOf, objectOf } from './facts.ts'
import { askAsVisitor } from './requests.ts'

/** How long a title is kept, how long it is not asked for again after none came, and how many a process keeps. */
const TITLE_MS = 3_600_000
const NO_TITLE_MS = 300_000
const TITLES_MAX = 1_000

/** By the address of the forum and the topic's number; the oldest first. `title` is undefined where the forum shows none. */
const kept = new Map<string, { title: string | undefined; ends_at: number }>()

const keyOf = ({ config }: Pick<Core, 'config'>, topic_id: bigint) => `${config.DISCOURSE_URL} ${topic_id}`

/** Returns the title that this process knows, without a request. */
export function knownTopicTitle(deps: Pick<Core, 'config' | 'clock'>, topic_id: bigint): string | undefined {
  return keptTitle(deps, topic_id)?.title
}

function keptTitle({ config, clock }: Pick<Core, 'config' | 'clock'>, topic_id: bigint) {
  const title = kept.get(keyOf({ config }, topic_id))
  return title !== undefined && title.ends_at > clock().getTime() ? title : undefined
}

/**
 * Returns the title of a topic that each visitor of the forum may read. A member causes few requests an hour, and all of them leave
 * requests to sign-ins.
 */
export async function readTopicTitle(
  deps: Core,
  topic_id: bigint,
  user_id: bigint,
): Promise<string | undefined> {
  const known = keptTitle(deps, topic_id)
  if (known !== undefined) return known.title
  if (!(await mayAsk(deps, user_id))) return undefined
  const answer = await askAsVisitor(deps, `/t/${topic_id}.json`)
  if (answer === 'not_asked') return undefined
  const body = objectOf(answer?.body)
  const title = body !== undefined && idOf(body.id) === topic_id ? fullNameOf(body.title)?.trim() : undefined
  keep(deps, topic_id, title || undefined)
  return title || undefined
}

async function mayAsk({ limits }: Core, user_id: bigint): Promise<boolean> {
  try {
    await limits.hit('topic_titles', user_id.toString())
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'too_many_attempts') return false
    throw error
  }
}

function keep(deps: Core, topic_id: bigint, title: string | undefined): void {
  const key = keyOf(deps, topic_id)
  kept.delete(key)
  kept.set(key, {
    title,
    ends_at: deps.clock().getTime() + (title === undefined ? NO_TITLE_MS : TITLE_MS),
  })
  for (const oldest of kept.keys()) {
    if (kept.size <= TITLES_MAX) break
    kept.delete(oldest)
  }
}
