/** /admin/settings shows the site settings by area, with their rules and last changes, and changes them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import type { Core } from '../../core/core.ts'
import { SETTING_NAMES, type SettingName } from '../../core/setting-values.ts'
import { describeSettings, type SettingControl, type SettingState } from '../../core/settings.ts'
import { AppError } from '../../platform/errors.ts'
import { actorOf } from '../acts/form.ts'
import { proposeSetting, type StandingProposal } from '../proposals/proposals.ts'

const PATH = '/admin/settings'
const SettingForm = z.object({ name: z.enum(SETTING_NAMES), value: z.string().max(10_000) })

/** The areas by the beginning of the settings' names. All other settings are about signing in. */
const AREAS = {
  site: /^(site_|point_|link_|time_zone$|announcement_|payments_read_only$)/,
  payments: /^(points_payment_|order_|payment_|alert_|gateway_at_root$|second_approver$)/,
  transfers: /^points_transfer/,
  limits: /^limit_/,
  forum: /^forum_/,
  signIn: /^/,
} as const

type Area = keyof typeof AREAS

function areaOf(name: SettingName): Area {
  return (Object.keys(AREAS) as Area[]).find((area) => AREAS[area].test(name))!
}

/** The page that has the form of this request. */
function pageOf({ body }: FastifyRequest): string {
  const { data } = SettingForm.safeParse(body)
  return data === undefined ? PATH : `${PATH}?area=${areaOf(data.name)}`
}

/** A refused value. */
type Problem = { name: SettingName; value: string }

declare module '../../web/views.ts' {
  interface PageData {
    'admin/site/settings': {
      settings: SettingState[]
      area: Area
      problem: Problem | undefined
      standing: StandingProposal | undefined
    }
  }
  interface PartData {
    'admin/site/setting-control': {
      name: SettingName
      control: SettingControl
      value: string
      isWrong: boolean
    }
  }
}

/** Registers the pages. A change requires a recent sign-in. The caller's scope must require an administrator. */
export function settingPages(app: FastifyInstance, deps: Core): void {
  /** @param standing the proposal that blocks a new one. */
  const show = async (reply: FastifyReply, area: Area, problem?: Problem, standing?: StandingProposal) => {
    const settings = (await describeSettings(deps.db)).filter(({ name }) => areaOf(name) === area)
    const status = problem !== undefined ? 400 : standing !== undefined ? 409 : 200
    return reply.page('admin/site/settings', { settings, area, problem, standing }, { status })
  }

  app.get<{ Querystring: Record<string, unknown> }>(PATH, async (request, reply) => {
    const { area } = request.query
    return show(reply, typeof area === 'string' && Object.hasOwn(AREAS, area) ? (area as Area) : 'payments')
  })

  app.post(PATH, { preHandler: requireFreshSignIn(deps, { page: pageOf }) }, async (request, reply) => {
    const form = SettingForm.safeParse(request.body)
    if (!form.success) throw new AppError('invalid_form', 'There is no such setting')
    const { name, value } = form.data
    const by = actorOf(request)
    try {
      const isSet = await deps.settings.change({ name, value, ...by, now: deps.clock() })
      if (!isSet) {
        const standing = await proposeSetting(deps, { name, value }, by)
        if (standing !== undefined) return show(reply, areaOf(name), undefined, standing)
        return reply.redirect('/admin/proposals', 303)
      }
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'invalid_form') throw error
      return show(reply, areaOf(name), { name, value })
    }
    return reply.redirect(`${PATH}?area=${areaOf(name)}#${name}`, 303)
  })
}
