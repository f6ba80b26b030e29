#!/bin/sh
# The driver for firmware without the SBI PMU extension; in 7.2 user space cannot read its counters.
exec tests/guest/suite riscv64-legacy riscv64 schedule -- riscv64 -k sid -n pmu_sbi_devinit -e GUEST_PMU=legacy
