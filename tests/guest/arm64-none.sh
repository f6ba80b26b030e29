#!/bin/sh
# No PMU.
exec tests/guest/suite arm64-none -- arm64 -c neoverse-n1,pmu=off
