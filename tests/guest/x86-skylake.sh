#!/bin/sh
# Intel: 8 general counters of 48 bits, 3 fixed ones.
exec tests/guest/suite x86-skylake -- x86 -k sid -s 2
