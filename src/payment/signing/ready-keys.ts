/** The keys that a process keeps ready: opening a stored key costs more than a request. */

/** Of 1 KB each. */
const READY_KEYS_MAX = 2_000

export type ReadyKeys<Key> = {
  find(id: bigint): Key | undefined
  /** Answers the key. Beyond the bound, the one that was kept first goes. */
  keep(id: bigint, key: Key): Key
}

/** Makes a store of keys by the id of their row. A row never gets another key, because a new key is a new row. */
export function makeReadyKeys<Key>(): ReadyKeys<Key> {
  const ready = new Map<bigint, Key>()
  return {
    find: (id) => ready.get(id),
    keep(id, key) {
      if (ready.size >= READY_KEYS_MAX) ready.delete(ready.keys().next().value!)
      ready.set(id, key)
      return key
    },
  }
}
