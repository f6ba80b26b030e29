#!/bin/sh
# Intel's architectural PMU, version 6: the kernel may hide counters from user space. One processor: see
# src/rdpmc_disable.c. The only adversary in this guest changes that setting.
exec tests/guest/suite x86-perfmon6 '!adv_[!r]*' -- x86 -k sid -c Skylake-Server,check=off,pmu=on,pdcm=on,full-width-write=on,pmu-ext=on,rdpmc-user-disable=on
