/** Lists the texts of the administration. */

import type { Texts, Translated } from '../web/languages.ts'
import {
  admin,
  appTerms,
  hosts,
  linkReview,
  mandateReview,
  registeredApps,
  review,
} from './apps/apps.texts.ts'
import { dashboard } from './dashboard/dashboard.texts.ts'
import { firstSteps } from './dashboard/first-steps.texts.ts'
import { find } from './find/find.texts.ts'
import { navigation } from './navigation/nav.texts.ts'
import { forum } from './people/forum.texts.ts'
import { localGroups } from './people/groups.texts.ts'
import { members } from './people/members.texts.ts'
import { adjustments } from './points/adjustments.texts.ts'
import { books, days, fees } from './points/books.texts.ts'
import { abuse, freeze, history, ledger, refundDecisions, wallet } from './points/points.texts.ts'
import { proposals } from './proposals/proposals.texts.ts'
import { audit } from './site/audit.texts.ts'
import { settings } from './site/settings.texts.ts'
import { versions } from './site/versions.texts.ts'
import { acts } from './wording/acts.texts.ts'

export const texts = {
  admin,
  dashboard,
  firstSteps,
  console: {
    navigation,
    acts,
    review,
    hosts,
    appTerms,
    linkReview,
    mandateReview,
    refundDecisions,
    find,
    ledger,
    wallet,
    history,
    freeze,
    proposals,
    forum,
    abuse,
    days,
    fees,
    versions,
  },
  books,
  registeredApps,
  audit,
  settings,
  members,
  localGroups,
  adjustments,
} satisfies Texts

declare module '../web/languages.ts' {
  interface Messages extends Translated<typeof texts> {}
}
