import { expect, test } from 'vitest'
import { isProxyAddress, isWholePath } from './network'

test('a proxy has a known scheme and a host', () => {
  for (const good of [
    'http://proxy.example.com:3128',
    ' https://p',
    'socks5://127.0.0.1:1080',
    'socks5h://[::1]:9',
  ])
    expect(isProxyAddress(good), good).toBe(true)
  for (const bad of [
    '',
    'proxy.example.com',
    'proxy.example.com:3128',
    'ftp://p',
    'http://',
    'file:///etc/passwd',
  ])
    expect(isProxyAddress(bad), bad).toBe(false)
})

test('a file is named by its whole path', () => {
  for (const good of ['/etc/ssl/company.pem', 'C:\\certs\\company.pem', '\\\\server\\ca.pem'])
    expect(isWholePath(good), good).toBe(true)
  for (const bad of ['', 'company.pem', '~/company.pem']) expect(isWholePath(bad), bad).toBe(false)
})
