// @ts-check
/** The shop's orders. They are in memory: a real shop uses a database in place of the Map. */
import { randomBytes } from 'node:crypto'

/**
 * @typedef {{ transaction_id: string, paid_at: string, platform_fee: number, merchant_points: number }} Payment
 * @typedef {{
 *   id: string, buyer: string, description: string, amount: number, created_at: string,
 *   mandate?: string, isTip?: true, isPassedOn?: true,
 *   payment_url?: string, payment?: Payment
 * }} Order `mandate` is the reference of the mandate under which the shop charges the order.
 */

/** @type {Map<string, Order>} by id */
export const orders = new Map()

/** A new order_id. A form contains one, so that a form that is sent twice buys once. */
export function newOrderId() {
  return `order_${randomBytes(6).toString('hex')}`
}

/**
 * Saves an order. The shop saves each before it asks for points, so every answer finds its order.
 * @param {Omit<Order, 'created_at'>} order
 */
export function saveOrder(order) {
  const saved = { ...order, created_at: new Date().toISOString() }
  orders.set(order.id, saved)
  return saved
}

/**
 * Marks an order paid if this verified record says so. Returns whether the order is paid. Repeated reports of a payment,
 * by callback, by query or by a repeated charge, send the goods only once.
 * @param {Order} order
 * @param {Record<string, any>} record
 */
export function settle(order, record) {
  if (record.status !== 'completed' || Number(record.amount) !== order.amount) return false
  if (order.payment === undefined) {
    order.payment = {
      transaction_id: record.transaction_id,
      paid_at: record.paid_at,
      platform_fee: Number(record.platform_fee),
      merchant_points: Number(record.merchant_points),
    }
    // A real shop sends the goods here, and only here.
  }
  return true
}
