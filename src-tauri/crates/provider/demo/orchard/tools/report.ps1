# The daily report needs today's exchange rates from the network.
try {
  $null = Invoke-WebRequest -UseBasicParsing -TimeoutSec 5 'http://example.com/'
  'live rates received'
} catch {
  [Console]::Error.WriteLine('no rates: example.com could not be reached')
  exit 1
}
