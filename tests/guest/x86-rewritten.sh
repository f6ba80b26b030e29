#!/bin/sh
# Two processors, of which one runs the kernel's code while the other rewrites it 2,000 times: the guest of
# x86-perfmon6 falls over that in most runs if QEMU does not translate such code anew (x86/README.md).
exec tests/guest/suite x86-rewritten rdpmc_disable -- x86 -k sid -s 2 -c Skylake-Server,check=off,pmu=on,pdcm=on,full-width-write=on,pmu-ext=on,rdpmc-user-disable=on
