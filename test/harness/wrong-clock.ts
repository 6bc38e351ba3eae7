/** A process whose clock seems wrong, for what runs within it. */
import type { ClockCheck } from '../../src/core/clock-check.ts'

/** Lets the clock seem a day ahead until `end`. `asked` says how often somebody wanted to know. */
export function feignWrongClock(clockCheck: ClockCheck): { asked(): number; end(): void } {
  const { secondsApart } = clockCheck
  let asked = 0
  clockCheck.secondsApart = async () => {
    asked += 1
    return 86_400
  }
  return {
    asked: () => asked,
    end() {
      clockCheck.secondsApart = secondsApart
    },
  }
}
