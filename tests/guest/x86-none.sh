#!/bin/sh
# No PMU.
exec tests/guest/suite x86-none -- x86 -c Skylake-Server,check=off,pmu=off
