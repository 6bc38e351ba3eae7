/** What has had its time is forgotten: ended sessions and sign-ins, old attempts and links, mail long settled. */
import type { Deps } from '../deps.ts'
import { sweepAttempts } from './throttle.ts'

const DAY_MS = 86_400_000
const MAIL_DAYS = 30

/** Safe to run in any number of processes, and at any time: nothing that is deleted could be used again. */
export async function forgetWhatIsOver({ db, clock }: Deps): Promise<void> {
  const now = clock()
  // A day of grace keeps what a member or an administrator may still ask about.
  const yesterday = new Date(now.getTime() - DAY_MS)
  await db
    .deleteFrom('sessions')
    .where('id', 'in', (eb) =>
      // In the order of ids, as the exchange of codes locks them.
      eb.selectFrom('sessions').where('expires_at', '<=', yesterday).orderBy('id').select('id').forUpdate(),
    )
    .execute()
  await db.deleteFrom('pending_sign_ins').where('expires_at', '<=', yesterday).execute()
  await sweepAttempts({ db, clock })
  await db.deleteFrom('account_links').where('expires_at', '<=', yesterday).execute()
  await db.deleteFrom('recovery_requests').where('requested_at', '<=', yesterday).execute()
  const settled = new Date(now.getTime() - MAIL_DAYS * DAY_MS)
  await db
    .deleteFrom('outgoing_mails')
    .where((eb) => eb.or([eb('sent_at', '<=', settled), eb('given_up_at', '<=', settled)]))
    .execute()
}
