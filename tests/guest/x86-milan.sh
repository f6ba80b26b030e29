#!/bin/sh
# AMD: 6 general counters of 48 bits, no fixed ones.
exec tests/guest/suite x86-milan -- x86 -s 2 -c EPYC-Milan,check=off,pmu=on
