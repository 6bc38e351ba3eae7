/** The one source of time. Tests move it. */
export type Clock = () => Date
