#!/bin/sh
# The daily report needs today's exchange rates from the network.
url=http://example.com/
if command -v curl >/dev/null 2>&1; then
  curl --silent --show-error --fail --max-time 5 --output /dev/null "$url"
elif command -v wget >/dev/null 2>&1; then
  wget -q -T 5 -O /dev/null "$url"
else
  echo "neither curl nor wget is installed" >&2
  false
fi

if [ $? -ne 0 ]; then
  echo "no rates: example.com could not be reached" >&2
  exit 1
fi
echo "live rates received"
