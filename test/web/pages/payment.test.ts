import { describePages } from './check.ts'

describePages('payment')
