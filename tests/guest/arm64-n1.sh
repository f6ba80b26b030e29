#!/bin/sh
# Neoverse N1, one processor, one instruction 8 ns: exact counts, 32-bit event counters.
exec tests/guest/suite arm64-n1 -- arm64 -k sid -c neoverse-n1 -i 3
