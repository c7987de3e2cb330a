#!/bin/sh
# Tests of the basket. Ends with 1 when one fails.
here=$(dirname "$0")
failed=0

check() {
  expected=$1
  shift
  found=$(sh "$here/../basket.sh" "$@" 2>&1)
  if [ "$found" = "$expected" ]; then
    echo "ok    $* = $expected"
  else
    echo "FAIL  $*: expected $expected, got $found"
    failed=1
  fi
}

check 50 apple=1
check 290 apple=3 pear=2
check 450 apple=10
check 810 plum=10 quince=5
check "no price for cherry" cherry=1

exit $failed
