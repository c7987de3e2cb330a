/** Before every test file: what is loaded when it is needed may take its time on a machine that builds beside the tests. */
import { configure } from '@testing-library/svelte'

configure({ asyncUtilTimeout: 10_000 })
