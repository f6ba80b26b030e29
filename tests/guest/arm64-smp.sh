#!/bin/sh
# Two processors that really run side by side; cycles only, instructions are not counted.
exec tests/guest/suite arm64-smp -- arm64 -c max,pauth-impdef=on -s 2 -i off
