#!/bin/sh
# Intel Ice Lake server: top-down metrics, one level.
exec tests/guest/suite x86-icelake '!adv_*' '!tables' -- x86 -k trixie -c Icelake-Server,model=106,check=off,pmu=on,pdcm=on,full-width-write=on,perf-metrics=on
