#!/bin/sh
# Intel with 2 general counters of 32 bits: offsets change all the time.
exec tests/guest/suite x86-narrow -- x86 -k trixie -s 2 -c Skylake-Server,check=off,pmu=on,pdcm=on,full-width-write=on,pmu-width=32,pmu-gp=2
