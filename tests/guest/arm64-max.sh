#!/bin/sh
# QEMU's newest CPU: 64-bit counters, exact counts.
exec tests/guest/suite arm64-max -- arm64 -k trixie -c max,pauth-impdef=on -i 3
