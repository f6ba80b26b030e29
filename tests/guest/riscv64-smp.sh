#!/bin/sh
# Two harts that really run side by side: what one thread closes must not take another one's access.
exec tests/guest/suite riscv64-smp riscv64_harts -- riscv64 -k trixie -s 2 -i off \
	-e GUEST_PMU=sbi
