#!/bin/sh
# Two harts that really run in parallel: if one thread closes a reader, another thread keeps its access.
exec tests/guest/suite riscv64-smp riscv64_harts -- riscv64 -k trixie -s 2 -i off \
	-e GUEST_PMU=sbi
