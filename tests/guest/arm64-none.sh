#!/bin/sh
# A CPU without a PMU: there is nothing to take away.
exec tests/guest/suite arm64-none '!adv_*' -- arm64 -k trixie -c neoverse-n1,pmu=off
