import { describePages } from './check.ts'

describePages('members')
