/** What the search for suspicious patterns finds. */

/**
 * Two or three members who sent points in a ring, in its order. `points` is the smallest sum between two of them, so as many
 * went round, and `percent` is their part of all that the members sent. Shops and their buyers make rings too, of a small part.
 */
export type Ring = {
  usernames: string[]
  user_ids: bigint[]
  points: bigint
  movements: number
  percent: number
}

/** The points and movements of a member in one day. */
export type Mover = {
  user_id: bigint
  username: string
  trust_level: number
  movements: number
  sent: bigint
  received: bigint
}

/** New accounts that sent points to one member: `percent` of what that member received in the time. */
export type Cluster = {
  shared: string
  members: number
  usernames: string[]
  points: bigint
  percent: number
}

/** New accounts that signed in from one address, and the hours between the first and the last of them. */
export type Neighbours = { shared: string; members: number; usernames: string[]; hours: number }

export type MovementPatterns = {
  /** In the last 30 days: first much that went round and was a large part of what its members sent. */
  rings: Ring[]
  /** In the last day: first those who passed on the most of what they received, then those with the most movements. */
  movers: Mover[]
  /** Groups of three or more accounts of the last two weeks that sent points to one member since. */
  byRecipient: Cluster[]
}
