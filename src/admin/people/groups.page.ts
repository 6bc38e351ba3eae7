/** /admin/groups lists the local groups and creates one. The page of a group shows, adds and removes members, and deletes it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  ADDED_MAX,
  addMembers,
  createGroup,
  DESCRIPTION_LENGTH_MAX,
  deleteGroup,
  getGroup,
  isGroupName,
  LOCAL_GROUPS_MAX,
  type LocalGroup,
  listGroups,
  membersOf,
  removeMember,
  subjectOf,
} from '../../accounts/local-groups.ts'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import type { Core } from '../../core/core.ts'
import { appsNaming, NAMING_APPS_MAX, type NamingApp } from '../../identity/apps/naming.ts'
import { AppError } from '../../platform/errors.ts'
import { cursor, onePage, rowId } from '../../web/lists.ts'
import { isHonestText } from '../../web/parameters.ts'
import { actorOf, readForm, TABLE_LINES } from '../acts/form.ts'

const PATH = '/admin/groups'

type OneGroup = FastifyRequest<{ Params: { name: string } }>

const NewGroup = z.object({
  name: z.string().trim().refine(isGroupName),
  description: z.string().trim().max(DESCRIPTION_LENGTH_MAX).refine(isHonestText).default(''),
})
const Shown = z.object({ before: cursor })
const Usernames = z.object({
  usernames: z.string().transform((text) =>
    text
      .split('\n')
      .map((line) => line.trim().replace(/^@/, ''))
      .filter((line) => line !== ''),
  ),
})
const Removed = z.object({ user_id: rowId })
const Deleted = z.object({ typed_name: z.string().trim().catch('') })

type CreationProblem = 'name' | 'description' | 'taken'
/** Why nobody was added. `names` are unknown. */
type AdditionProblem = { kind: 'nobody' | 'many' | 'unknown'; names: string[] }

declare module '../../web/views.ts' {
  interface PageData {
    'admin/people/groups': {
      groups: Awaited<ReturnType<typeof listGroups>>
      isFull: boolean
      problem: CreationProblem | undefined
      typed: { name: string; description: string }
    }
    'admin/people/group': {
      group: LocalGroup
      members: Awaited<ReturnType<typeof membersOf>>
      next: bigint | undefined
      apps: NamingApp[]
      hasMoreApps: boolean
      subject: string
      problem: AdditionProblem | undefined
      typed: string
      isDeletionUnconfirmed: boolean
      path: string
    }
  }
}

/** Registers the pages. The caller's scope must require an administrator. */
export function groupPages(app: FastifyInstance, deps: Core): void {
  app.get(PATH, async (_request, reply) => showGroups(reply, deps))
  app.post(PATH, { preHandler: requireFreshSignIn(deps, { page: PATH }) }, async (request, reply) =>
    makeGroup(request, reply, deps),
  )

  app.get(`${PATH}/:name`, async (request: OneGroup, reply) => showGroup(request, reply, deps))
  const page = (request: FastifyRequest) => pathOf((request as OneGroup).params)
  const preHandler = requireFreshSignIn(deps, { page })
  app.post(`${PATH}/:name/add`, { preHandler }, async (request: OneGroup, reply) => add(request, reply, deps))
  app.post(`${PATH}/:name/remove`, { preHandler }, async (request: OneGroup, reply) =>
    remove(request, reply, deps),
  )
  app.post(`${PATH}/:name/delete`, { preHandler }, async (request: OneGroup, reply) =>
    deleteTyped(request, reply, deps),
  )
}

const pathOf = ({ name }: { name: string }) => `${PATH}/${encodeURIComponent(name)}`

async function makeGroup(request: FastifyRequest, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const form = NewGroup.safeParse(request.body)
  if (!form.success)
    return showGroups(reply, deps, form.error.issues[0]!.path[0] === 'description' ? 'description' : 'name')
  try {
    await createGroup(deps, form.data, actorOf(request))
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return showGroups(reply, deps, 'taken')
    throw error
  }
  return reply.done(pathOf(form.data), { text: request.locale.t.localGroups.created(form.data.name) })
}

/** @param problem why the new group was refused. */
async function showGroups(
  reply: FastifyReply,
  { db }: Core,
  problem?: CreationProblem,
): Promise<FastifyReply> {
  const sent = (reply.request.body ?? {}) as Record<string, unknown>
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  const groups = await listGroups(db)
  const data = {
    groups,
    isFull: groups.length >= LOCAL_GROUPS_MAX,
    problem,
    typed: { name: text(sent.name), description: text(sent.description) },
  }
  return reply.page('admin/people/groups', data, {
    status: problem === undefined ? 200 : problem === 'taken' ? 409 : 400,
  })
}

type Refused = { problem?: AdditionProblem; isDeletionUnconfirmed?: boolean }

async function showGroup(
  request: OneGroup,
  reply: FastifyReply,
  { db }: Core,
  { problem, isDeletionUnconfirmed = false }: Refused = {},
): Promise<FastifyReply> {
  const group = await getGroup(db, request.params.name)
  const { before } = Shown.parse(request.query)
  const [found, apps] = await Promise.all([
    membersOf(db, group, before, TABLE_LINES + 1),
    appsNaming(db, group.name),
  ])
  const { rows: members, next } = onePage(found, TABLE_LINES)
  const { usernames } = (request.body ?? {}) as Record<string, unknown>
  const data = {
    group,
    members,
    next,
    apps: apps.slice(0, NAMING_APPS_MAX),
    hasMoreApps: apps.length > NAMING_APPS_MAX,
    subject: subjectOf(group),
    problem,
    typed: typeof usernames === 'string' ? usernames : '',
    isDeletionUnconfirmed,
    // The page's own address, also in answers to its forms.
    path: pathOf(group),
  }
  const isRefused = problem !== undefined || isDeletionUnconfirmed
  return reply.page('admin/people/group', data, { status: isRefused ? 400 : 200 })
}

async function add(request: OneGroup, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const group = await getGroup(deps.db, request.params.name)
  const { usernames } = readForm(Usernames, request.body)
  const refuse = (kind: AdditionProblem['kind'], names: string[] = []) =>
    showGroup(request, reply, deps, { problem: { kind, names } })
  if (usernames.length === 0) return refuse('nobody')
  if (usernames.length > ADDED_MAX) return refuse('many')
  const addition = await addMembers(deps, group.name, usernames, actorOf(request))
  if ('unknown' in addition) return refuse('unknown', addition.unknown)
  const { t, points } = request.locale
  const { added, already } = addition
  const text = t.localGroups.added(group.name, points(added.length), added.length, points(already), already)
  return reply.done(pathOf(group), { text, tone: added.length === 0 ? 'warn' : 'good' })
}

async function remove(request: OneGroup, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const { user_id } = readForm(Removed, request.body)
  const group = await getGroup(deps.db, request.params.name)
  const username = await removeMember(deps, group.name, user_id, actorOf(request))
  return reply.done(pathOf(group), { text: request.locale.t.localGroups.removed(username, group.name) })
}

/** Deletes the group when its name was typed. */
async function deleteTyped(request: OneGroup, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const group = await getGroup(deps.db, request.params.name)
  if (readForm(Deleted, request.body).typed_name !== group.name)
    return showGroup(request, reply, deps, { isDeletionUnconfirmed: true })
  const { members } = await deleteGroup(deps, group.name, actorOf(request))
  const { t, points } = request.locale
  return reply.done(PATH, { text: t.localGroups.deleted(group.name, points(members), members) })
}
