#!/bin/sh
# Intel Sapphire Rapids: top-down metrics of two levels, which a read may clear.
exec tests/guest/suite x86-sapphire '!adv_*' '!schedule' '!tables' -- x86 -k sid -s 2 -c Icelake-Server,model=143,check=off,pmu=on,pdcm=on,full-width-write=on,perf-metrics=on,rdpmc-metrics-clear=on
