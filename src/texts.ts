/** The texts of all areas. Pages read them as `it.t`, in one language. */
import { texts as accounts } from './accounts/texts.ts'
import { texts as admin } from './admin/texts.ts'
import { texts as docs } from './docs/texts.ts'
import { texts as home } from './home/texts.ts'
import { texts as identity } from './identity/texts.ts'
import { texts as payment } from './payment/texts.ts'
import { texts as privacy } from './privacy/texts.ts'
import { texts as shops } from './shops/texts.ts'
import { texts as web } from './web/texts.ts'

export const texts = {
  ...web,
  ...accounts,
  ...shops,
  ...identity,
  ...payment,
  ...privacy,
  ...home,
  ...docs,
  ...admin,
}
