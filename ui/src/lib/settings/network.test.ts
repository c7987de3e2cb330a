import { expect, test } from 'vitest'
import { isWholePath } from './network'

test('a file is named by its whole path', () => {
  for (const good of ['/etc/ssl/company.pem', 'C:\\certs\\company.pem', '\\\\server\\ca.pem'])
    expect(isWholePath(good), good).toBe(true)
  for (const bad of ['', 'company.pem', '~/company.pem']) expect(isWholePath(bad), bad).toBe(false)
})
