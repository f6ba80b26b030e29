#!/bin/sh
# The SBI PMU extension and Sscofpmf: 16 counters besides cycles and instructions; one instruction per ns.
exec tests/guest/suite riscv64-sbi machine riscv64 schedule region_exact region_stack adv_descriptor adv_revoked reader_planted riscv64_handlers mini_exact -- riscv64 -k trixie \
	-e GUEST_PMU=sbi
