#!/bin/sh
# A CPU without a PMU: there is nothing to take away.
exec tests/guest/suite x86-none '!adv_*' -- x86 -c Skylake-Server,check=off,pmu=off
