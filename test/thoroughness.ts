/** How many times the usual number of random histories, requests and inputs the tests try: `npm run test:all` asks for more. */
export const TIMES = Number(process.env.TEST_TIMES ?? 1)
