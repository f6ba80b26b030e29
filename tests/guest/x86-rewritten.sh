#!/bin/sh
# Two processors: one runs kernel code while the other rewrites it 2,000 times. The guest x86-perfmon6 crashes in most
# runs if QEMU does not translate such code again (x86/README.md).
exec tests/guest/suite x86-rewritten rdpmc_disable -- x86 -k sid -s 2 -c Skylake-Server,check=off,pmu=on,pdcm=on,full-width-write=on,pmu-ext=on,rdpmc-user-disable=on
