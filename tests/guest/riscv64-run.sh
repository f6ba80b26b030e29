#!/usr/bin/env bash
# The tools on RISC-V's counters: tach run of a shared program with threads and regions with known instructions; the
# macros without it (TACH_OUTPUT), reports, the tutorial's program.
set -u
cd "$(dirname "$0")/../.."
B=${B:-build}/riscv64
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
tests/guest/ready riscv64 trixie || exit 77
make -s -j2 CC=riscv64-linux-gnu-gcc B="$B" "$B"/libtach{,-run}.so "$B/static/tach" || exit 1
build() { riscv64-linux-gnu-gcc -O2 -Iinclude "$@" "$B/libtach.so" -lpthread; }
awk '/^\/\* slow\.c \*\/$/ { on = 1 } on && /^```$/ { exit } on' docs/tutorial-loop.md | sed 's/2048/256/g' >"$work/slow.c"
build -o "$work/target" tests/unit/tools/run/target.c || exit 1
build -o "$work/slow" "$work/slow.c" || exit 1
build -DSWAPPED -o "$work/fast" "$work/slow.c" || exit 1

# LD_BIND_NOW: otherwise ld.so's work at the first call of a function counts for its caller. The guest has no shared
# libraries of its own: the test names the loader, and gives it their folder.
libraries=()
for l in ld-linux-riscv64-lp64d.so.1 libc.so.6 libm.so.6; do libraries+=("$(riscv64-linux-gnu-gcc -print-file-name=$l)"); done
shared="/bin/ld-linux-riscv64-lp64d.so.1 --library-path /bin /bin"
tests/guest/boot riscv64 -e LD_BIND_NOW=1 \
	-x "tach run --per-thread -e cycles,instructions -m ipc=instructions/cycles --format csv -- $shared/target count" \
	-x "tach run --outside -e instructions --format csv -- $shared/target count" \
	-x "tach run -e cycles,instructions -o /tmp/slow.json -- $shared/slow" \
	-x "tach run -e cycles,instructions -o /tmp/fast.json -- $shared/fast" \
	-x "tach report --format csv /tmp/slow.json" \
	-x "tach diff /tmp/slow.json /tmp/fast.json" \
	-x "tach doctor" \
	"$B/static/tach" "$B/libtach-run.so" "$B/libtach.so.0" "$work"/{target,slow,fast} "${libraries[@]}" >"$work/run" 2>&1
tests/guest/boot riscv64 -e TACH_OUTPUT=/tmp/macros.json -e TACH_EVENTS=instructions,cycles \
	-x "$shared/slow" -x "tach report --format csv /tmp/macros.json" \
	"$B/static/tach" "$B/libtach.so.0" "$work/slow" "${libraries[@]}" >"$work/macros" 2>&1

failed=0
between() { # OUTPUT COMMAND REGION QUANTITY LEAST MOST
	awk -F, -v command="@@ run $2" -v region="\"$3\"" -v quantity="\"$4\"" -v least="$5" -v most="$6" '
		/^@@ run / { on = index($0, command) == 1 }
		on && $1 == region && $6 == "inclusive" && $7 == quantity { found = 1; if ($8 + 0 < least || $8 + 0 > most) { print "# " $0; bad = 1 } }
		END { exit bad || !found }' "$work/$1" || { echo "not ok riscv64-run $2: $3 $4"; failed=1; }
}
says() { # TEXT
	grep -q -- "$1" "$work/run" || { echo "not ok riscv64-run: nothing says: $1"; failed=1; }
}
# Two threads of 2 and 6 million. The emulated PMU also counts the kernel: a tick in each 4 million instructions, and
# the kernel's work to run two threads and other processes.
between run 'tach run --per-thread' loop instructions 8000000 10000000
between run 'tach run --per-thread' '(thread 2)' instructions 2000000 3000000
between run 'tach run --per-thread' '(thread 3)' instructions 6000000 8000000
between run 'tach run --per-thread' loop ipc 0.99 1.01
# From outside: the loops, and the code of the loader and of main.
between run 'tach run --outside' '(whole program)' instructions 8000000 20000000
# The tutorial, smaller: 5 calls over 256 x 256 numbers, 2 to 6 instructions each.
for loop in by_row by_column; do
	between run 'tach report' $loop instructions 655360 3000000
	between run 'tach report' $loop cycles 655360 3000000
	between macros 'tach report' $loop instructions 655360 3000000
done
says '^by_column  *instructions '
says '^verdict: counters are read in user space, without a system call'
[ $failed = 0 ] || { sed 's/^/# /' "$work/run" "$work/macros" | tail -80; exit 1; }
echo "ok riscv64-run"
