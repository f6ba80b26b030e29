#!/bin/sh
# No PMU: nothing to be taken away.
exec tests/guest/suite x86-none '!adv_*' -- x86 -c Skylake-Server,check=off,pmu=off
