#!/bin/sh
# Total of a basket in cents:  sh basket.sh apple=3 pear=2
# From 10 pieces on, 10 percent are taken off.
set -eu
here=$(dirname "$0")
discount=10
total=0
pieces=0

for entry in "$@"; do
  fruit=${entry%%=*}
  count=${entry#*=}
  price=$(sed -n "s/^$fruit //p" "$here/prices.txt")
  if [ -z "$price" ]; then
    echo "no price for $fruit" >&2
    exit 1
  fi
  total=$((total + price * count))
  pieces=$((pieces + count))
done

if [ "$pieces" -ge 10 ]; then
  total=$((total - discount))
fi

echo "$total"
