#!/bin/sh
# AMD: 6 counters of 48 bits, none fixed.
exec tests/guest/suite x86-milan -- x86 -s 2 -c EPYC-Milan,check=off,pmu=on
