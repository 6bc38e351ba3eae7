/** A repeated request is answered with what its first one made, whatever was switched off since. decisions.md 12.2. */
import { AppError } from '../../platform/errors.ts'

/**
 * Runs the checks that only a new act must pass. If they pass, answers undefined, without a look-up. If one refuses,
 * answers what `find` finds of the first request, or throws the refusal.
 */
export async function madeBefore<Made>(
  requireAllowed: () => Promise<void>,
  find: () => Promise<Made | undefined>,
): Promise<Made | undefined> {
  try {
    await requireAllowed()
    return undefined
  } catch (refused) {
    const made = refused instanceof AppError ? await find() : undefined
    if (made === undefined) throw refused
    return made
  }
}
