#!/bin/sh
# Intel with 4 general counters of 40 bits, as before full-width writes.
exec tests/guest/suite x86-40 -- x86 -s 2 -c Nehalem,check=off,pmu=on,pmu-width=40,pmu-gp=4
