#!/bin/sh
# Two processors that really run in parallel; only cycles are counted, no instructions.
exec tests/guest/suite arm64-smp -- arm64 -c max,pauth-impdef=on -s 2 -i off
