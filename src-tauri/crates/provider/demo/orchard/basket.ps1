# Total of a basket in cents:  powershell -File basket.ps1 apple=3 pear=2
# From 10 pieces on, 10 percent are taken off.
$ErrorActionPreference = 'Stop'
$discount = 10
$total = 0
$pieces = 0

$prices = @{}
foreach ($line in Get-Content (Join-Path $PSScriptRoot 'prices.txt')) {
  $fruit, $price = $line -split ' '
  $prices[$fruit] = [int]$price
}

foreach ($entry in $args) {
  $fruit, $count = $entry -split '='
  if (-not $prices.ContainsKey($fruit)) {
    [Console]::Error.WriteLine("no price for $fruit")
    exit 1
  }
  $total = $total + $prices[$fruit] * [int]$count
  $pieces = $pieces + [int]$count
}

if ($pieces -ge 10) {
  $total = $total - $discount
}

[Math]::Floor($total)
