#!/bin/sh
# Intel Ice Lake server whose host gives it no top-down metrics (PERF_CAPABILITIES bit 15 is 0).
exec tests/guest/suite x86-nometrics topdown_refused -- x86 -k trixie -c Icelake-Server,model=106,check=off,pmu=on,pdcm=on,full-width-write=on
