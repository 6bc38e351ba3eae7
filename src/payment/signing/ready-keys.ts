/** Keeps decrypted keys in memory, because decrypting a stored key costs more than a request. */

/** Each key takes about 1 KB. */
const READY_KEYS_MAX = 2_000

export type ReadyKeys<Key> = {
  find(id: bigint): Key | undefined
  /** Keeps and returns the key. Beyond the bound, it drops the key that was kept first. */
  keep(id: bigint, key: Key): Key
}

/** Makes a store of keys by row id. A row's key never changes, because a new key is a new row. */
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
