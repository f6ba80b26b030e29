#!/bin/sh
# The driver for firmware without the SBI PMU extension, whose counters user space cannot read in 7.2.
exec tests/guest/suite riscv64-legacy riscv64 schedule -- riscv64 -k sid -n pmu_sbi_devinit -e GUEST_PMU=legacy
