#!/bin/sh
# No Sscofpmf, as on the U74: no privilege level can be excluded.
exec tests/guest/suite riscv64-undivided riscv64 schedule -- riscv64 -k sid -c rv64 -e GUEST_PMU=undivided
