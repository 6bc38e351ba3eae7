import { describePages } from './check.ts'

describePages('admin')
