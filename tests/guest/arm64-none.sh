#!/bin/sh
# No PMU: nothing to be taken away.
exec tests/guest/suite arm64-none '!adv_*' -- arm64 -k trixie -c neoverse-n1,pmu=off
