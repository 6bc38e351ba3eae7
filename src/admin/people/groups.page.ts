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
import { actorOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { TABLE_LINES } from '../../database/paging.ts'
import { appsNaming, NAMING_APPS_MAX, type NamingApp } from '../../identity/apps/naming.ts'
import { AppError } from '../../platform/errors.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import { cursor, onePage, rowId } from '../../web/lists.ts'
import { isHonestText } from '../../web/parameters.ts'

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
const Deleted = z.object({ typed_name: z.string().trim() })

declare module '../../web/views.ts' {
  interface PageData {
    'admin/people/groups': {
      groups: Awaited<ReturnType<typeof listGroups>>
      isFull: boolean
    }
    'admin/people/group': {
      group: LocalGroup
      members: Awaited<ReturnType<typeof membersOf>>
      next: bigint | undefined
      apps: NamingApp[]
      hasMoreApps: boolean
      subject: string
      path: string
    }
  }
}

/** Registers the pages. The caller's scope must require an administrator. */
export function groupPages(app: FastifyInstance, deps: Core): void {
  app.get(PATH, async (_request, reply) => showGroups(reply, deps))
  const preHandler = requireFreshSignIn(deps)
  app.post(PATH, { preHandler }, async (request, reply) => makeGroup(request, reply, deps))

  app.get(`${PATH}/:name`, async (request: OneGroup, reply) => showGroup(request, reply, deps))
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
  const { localGroups } = request.locale.t
  const form = readForm(request, NewGroup, localGroups.problems)
  try {
    await createGroup(deps, form, actorOf(request))
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict')
      throw new FormRefused({ name: localGroups.problems.taken }, 'conflict')
    if (error instanceof AppError && error.code === 'invalid_form')
      throw new FormRefused({ name: localGroups.problems.name })
    throw error
  }
  return reply.done(pathOf(form), { text: localGroups.created(form.name) })
}

async function showGroups(reply: FastifyReply, { db }: Core): Promise<FastifyReply> {
  const groups = await listGroups(db)
  return reply.page('admin/people/groups', { groups, isFull: groups.length >= LOCAL_GROUPS_MAX })
}

async function showGroup(request: OneGroup, reply: FastifyReply, { db }: Core): Promise<FastifyReply> {
  const group = await getGroup(db, request.params.name)
  const { before } = Shown.parse(request.query)
  const [found, apps] = await Promise.all([
    membersOf(db, group, before, TABLE_LINES + 1),
    appsNaming(db, group.name),
  ])
  const { rows: members, next } = onePage(found, TABLE_LINES)
  const data = {
    group,
    members,
    next,
    apps: apps.slice(0, NAMING_APPS_MAX),
    hasMoreApps: apps.length > NAMING_APPS_MAX,
    subject: subjectOf(group),
    // The page's own address, also in answers to its forms.
    path: pathOf(group),
  }
  return reply.page('admin/people/group', data)
}

async function add(request: OneGroup, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const group = await getGroup(deps.db, request.params.name)
  const { t, points } = request.locale
  const { additionProblems, unknown } = t.localGroups
  const { usernames } = readForm(request, Usernames)
  if (usernames.length === 0) throw new FormRefused({ usernames: additionProblems.nobody })
  if (usernames.length > ADDED_MAX) throw new FormRefused({ usernames: additionProblems.many })
  const addition = await addMembers(deps, group.name, usernames, actorOf(request))
  if ('unknown' in addition)
    throw new FormRefused({ usernames: unknown(addition.unknown.join(t.common.comma)) })
  const { added, already } = addition
  const text = t.localGroups.added(group.name, points(added.length), added.length, points(already), already)
  return reply.done(pathOf(group), { text, tone: added.length === 0 ? 'warn' : 'good' })
}

async function remove(request: OneGroup, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const { user_id } = readForm(request, Removed)
  const group = await getGroup(deps.db, request.params.name)
  const username = await removeMember(deps, group.name, user_id, actorOf(request))
  return reply.done(pathOf(group), { text: request.locale.t.localGroups.removed(username, group.name) })
}

/** Deletes the group when its name was typed. */
async function deleteTyped(request: OneGroup, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const group = await getGroup(deps.db, request.params.name)
  const { t, points } = request.locale
  if (readForm(request, Deleted).typed_name !== group.name)
    throw new FormRefused({ typed_name: t.localGroups.deleteUnconfirmed })
  const { members } = await deleteGroup(deps, group.name, actorOf(request))
  return reply.done(PATH, { text: t.localGroups.deleted(group.name, points(members), members) })
}
