/** Lists the texts of the rooms of identity. */

import type { Texts, Translated } from '../web/languages.ts'
import { access, apps, created, starters } from './apps/apps.texts.ts'
import { registry } from './apps/own-app.texts.ts'
import { authorised } from './authorised-apps.texts.ts'
import { device } from './devices/device.texts.ts'
import { logoutDeliveries } from './logout/deliveries.texts.ts'
import { notMe } from './not-me.texts.ts'
import { consent, consents, logout } from './oauth/consent.texts.ts'
import { errors, refused, suspended, unconfirmed } from './oauth/refused.texts.ts'
import { trial } from './oauth/trial.texts.ts'

export const texts = {
  identity: {
    ...access,
    apps,
    created,
    starters,
    consent,
    device,
    refused,
    suspended,
    unconfirmed,
    logout,
    errors,
  },
  registry: { ...registry, trial },
  logoutDeliveries,
  consents,
  authorised,
  notMe,
} satisfies Texts

declare module '../web/languages.ts' {
  interface Messages extends Translated<typeof texts> {}
}
