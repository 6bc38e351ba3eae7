// @ts-nocheck: the rest of the project does not have the types of this package.
/** A site with passport-oauth2, which shows the profile. The outcomes are those that passport itself adds to a strategy. */
import OAuth2Strategy from 'passport-oauth2'
import { fromRecipe, serve } from './site.mjs'

const verify = (_access, _refresh, profile, done) => done(null, { profile })
const strategy = await fromRecipe('strategy', { OAuth2Strategy, verify })
const session = {}

serve(
  ({ url }) =>
    new Promise((resolve, reject) => {
      const outcomes = {
        redirect: (address) => resolve(Response.redirect(address)),
        success: resolve,
        fail: reject,
        error: reject,
      }
      const query = Object.fromEntries(new URL(url).searchParams)
      Object.assign(Object.create(strategy), outcomes).authenticate({ session, query })
    }),
)
