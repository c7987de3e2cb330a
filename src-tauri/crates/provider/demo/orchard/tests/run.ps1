# Tests of the basket. Ends with 1 when one fails.
$basket = Join-Path (Split-Path $PSScriptRoot) 'basket.ps1'
$failed = 0

function check($expected, $entries) {
  $found = (powershell -NoProfile -ExecutionPolicy Bypass -File $basket @entries 2>&1 | Out-String).Trim()
  if ($found -eq $expected) {
    "ok    $entries = $expected"
  } else {
    "FAIL  ${entries}: expected $expected, got $found"
    $script:failed = 1
  }
}

check '50' @('apple=1')
check '290' @('apple=3', 'pear=2')
check '450' @('apple=10')
check '810' @('plum=10', 'quince=5')

exit $failed
