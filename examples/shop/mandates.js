// @ts-check
/**
 * The shop's mandates: permissions to charge a member later, within limits. An offer becomes a mandate when the member allows
 * it at Tessera. The shop keeps what it offered, and asks Tessera for the state: the member may lower, pause or revoke a
 * mandate there at any time. They are in memory: a real shop uses a database in place of the Map.
 */
import { randomBytes } from 'node:crypto'
import { orders, saveOrder, settle } from './orders.js'
import { Refused } from './payment.js'

/** @import { Order } from './orders.js' */
/** @import { MandateState, openPayments } from './payment.js' */
/** @import { Texts } from './texts.js' */
/**
 * @typedef {keyof typeof PLANS} Plan
 * @typedef {{
 *   reference: string, plan: Plan, mandate_id: string, mandate_url: string, buyer: string | undefined,
 *   state: MandateState | undefined, isBegun?: true
 * }} Mandate `state` is as Tessera answered last; `isBegun` once the shop has made its first charge
 */

/** The terms of an offer. A fixed amount is charged once a period; caps bound any charges. */
export const PLANS = {
  club: { period: 'month', amount: 60 },
  one_click: { period: 'week', charge_max: 120, period_max: 300 },
}
const SHANGHAI_MS = 8 * 3_600_000

/**
 * @param {string} name
 * @returns {name is Plan}
 */
export function isPlan(name) {
  return Object.hasOwn(PLANS, name)
}

/** @param {ReturnType<typeof openPayments>} payments */
export function openMandates(payments) {
  /** @type {Map<string, Mandate>} by reference */
  const mandates = new Map()

  /**
   * Asks Tessera for the state of a mandate. The member who accepted it is its buyer.
   * @param {Mandate} mandate
   */
  async function refresh(mandate) {
    mandate.state = await payments.mandate(mandate.mandate_id)
    if (mandate.state.user_id !== null) mandate.buyer = String(mandate.state.user_id)
  }

  /**
   * Charges an order under its mandate. Resolves to the refusal, or to undefined when the order is paid. A lost answer throws.
   * The order_id makes a repeated charge the same charge, so the shop can try again.
   * @param {Mandate} mandate
   * @param {Order} order
   * @returns {Promise<Refused | undefined>}
   */
  async function charge(mandate, order) {
    try {
      settle(order, await payments.charge(mandate.mandate_id, order))
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      await refresh(mandate)
      return error
    }
    await refresh(mandate)
    return undefined
  }

  /**
   * Charges the next month of a membership. Numbered order_ids keep a repeated charge from taking a second month.
   * @param {Mandate} mandate
   * @param {string} description
   */
  async function chargeMonth(mandate, description) {
    const { reference } = mandate
    const paid = [...orders.values()].filter((order) => order.mandate === reference && order.payment)
    const id = `${reference}_${paid.length + 1}`
    const facts = {
      id,
      buyer: String(mandate.buyer),
      description,
      amount: PLANS.club.amount,
      mandate: reference,
    }
    const order = orders.get(id) ?? saveOrder(facts)
    const refusal = await charge(mandate, order)
    // Nobody asked for this order by hand, so nobody can pay it by hand.
    if (refusal !== undefined) orders.delete(id)
    return { order, refusal }
  }

  return {
    refresh,
    charge,
    chargeMonth,

    /** @param {string} reference */
    find: (reference) => mandates.get(reference),

    /** @param {string} mandate_id */
    findById: (mandate_id) => [...mandates.values()].find((mandate) => mandate.mandate_id === mandate_id),

    /**
     * The member's mandate of a plan that has not ended, as far as the shop knows.
     * @param {string | undefined} buyer
     * @param {Plan} plan
     */
    held: (buyer, plan) =>
      [...mandates.values()].find(
        (mandate) =>
          buyer !== undefined &&
          mandate.buyer === buyer &&
          mandate.plan === plan &&
          ['active', 'paused'].includes(mandate.state?.status ?? ''),
      ),

    /**
     * Offers a mandate. Only `member` may accept it; without one, whoever signs in.
     * @param {Plan} plan
     * @param {Texts} t
     * @param {{ sub: string } | undefined} member
     * @returns {Promise<Mandate>}
     */
    async offer(plan, t, member) {
      const reference = `${plan}_${randomBytes(6).toString('hex')}`
      const purpose = t.plans[plan].purpose
      const asked = { reference, purpose, ...PLANS[plan], ...(member && { user_id: member.sub }) }
      const { mandate_id, mandate_url } = await payments.offer(asked)
      const mandate = { reference, plan, mandate_id, mandate_url, buyer: member?.sub, state: undefined }
      mandates.set(reference, mandate)
      return mandate
    },

    /**
     * Ends a mandate. The member reads the reason at Tessera.
     * @param {Mandate} mandate
     * @param {string} reason
     */
    async end(mandate, reason) {
      mandate.state = await payments.revoke(mandate.mandate_id, reason)
    },

    /**
     * Charges the memberships whose next month has begun. Tessera never charges by itself. A refused one is tried again next
     * time, unless the member has paused or revoked it.
     * @param {Texts} t
     * @param {Date} now
     */
    async renew(t, now) {
      // Days of mandates are days of Asia/Shanghai.
      const today = new Date(now.getTime() + SHANGHAI_MS).toISOString().slice(0, 10)
      for (const mandate of mandates.values()) {
        const { status, next_charge_on } = mandate.state ?? {}
        if (mandate.plan !== 'club' || status !== 'active' || !next_charge_on || next_charge_on > today)
          continue
        // A lost answer keeps no other member waiting. The next round repeats the same charge.
        await chargeMonth(mandate, t.plans.club.ordered).catch(console.error)
      }
    },
  }
}
