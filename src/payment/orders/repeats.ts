/** Answers a repeated request with the result of the first one, even if new acts are refused now. spec/points 3.2. */
import { AppError } from '../../platform/errors.ts'

/**
 * Runs the checks that only a new act must pass. If they pass, returns undefined without a look-up. If one refuses,
 * returns the result of the first request by `find`, or throws the refusal.
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
