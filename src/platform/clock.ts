/** Returns the current time. All code reads time from this clock, and tests move it. */
export type Clock = () => Date
