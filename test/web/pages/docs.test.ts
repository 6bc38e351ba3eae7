import { describePages } from './check.ts'

describePages('docs')
