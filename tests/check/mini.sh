#!/usr/bin/env bash
# tach-mini.h is copied alone into an empty folder. Each compiler, standard and libc accepts it without a warning, and
# two files of one program can share it. It has fewer than 1,000 lines. Against a hostile kernel it counts correctly
# or sets a flag. The same test detects each planted defect. bench/budgets.tsv has its cost.
set -u
cd "$(dirname "$0")/../.."
. tests/check/kept include core/reader arch tools/mini tests/check/mini.sh tests/check/mini examples/mini
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
flock "$B/flags" make -s B="$B" "$B/gen/tach-mini.h" >/dev/null || { echo "not ok mini: it is not made"; exit 1; }
cp "$B/gen/tach-mini.h" "$work/"
failed=0
verdict() { # NAME STATUS
	if [ "$2" = 0 ]; then echo "ok mini $1"; else echo "not ok mini $1"; failed=1; fi
}
lines=$(wc -l <"$work/tach-mini.h")
[ "$lines" -lt 1000 ] || echo "# $lines lines"
[ "$lines" -lt 1000 ]; verdict "has fewer than 1000 lines" $?

cat >"$work/one.c" <<'C'
#include "tach-mini.h"
int other(struct tach_mini *m, uint64_t *delta);
int main(void)
{
	struct tach_mini m;
	uint64_t delta[TACH_MINI_COUNTERS_MAX];
	int how = tach_mini_open(&m, "cycles,instructions");
	if (how < 0) return 1;
	puts(m.why);
	tach_mini_begin(&m);
	return other(&m, delta);
}
C
cat >"$work/two.c" <<'C'
#include "tach-mini.h"
int other(struct tach_mini *m, uint64_t *delta);
int other(struct tach_mini *m, uint64_t *delta)
{
	uint32_t flags = tach_mini_end(m, delta);
	if (flags & TACH_MINI_FLAG_LOST) return 2;
	tach_mini_close(m);
	return 0;
}
C
strict='-D_GNU_SOURCE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
kernel="-idirafter /usr/include -idirafter /usr/include/$(gcc -print-multiarch)"
# COMPILER WITH OPTIONS | can its programs run here?
compilers() { cat <<LIST
gcc -std=c99 -O0|yes
gcc -std=c11 -O2|yes
gcc -std=gnu17 -O3 -flto|yes
g++ -std=c++11 -O2 -x c++|yes
g++ -std=c++20 -O2 -x c++|yes
gcc -std=c99 -O1 -fsanitize=undefined,address|yes
clang -std=c99 -O2|yes
clang++ -std=c++17 -O2 -x c++|yes
musl-gcc -std=c99 -O2 $kernel|yes
musl-gcc -std=c11 -O2 -static $kernel|yes
aarch64-linux-gnu-gcc -std=c99 -O2|
riscv64-linux-gnu-gcc -std=c99 -O2|
LIST
}
while IFS='|' read -r compiler runs; do
	if ! command -v "${compiler%% *}" >/dev/null; then echo "skip mini by $compiler: ${compiler%% *} is not installed"; continue; fi
	rm -f "$work/program"
	# shellcheck disable=SC2086
	(cd "$work" && $compiler $strict -o program one.c two.c) >"$work/log" 2>&1 || { head -n 5 "$work/log" | sed 's/^/# /'; verdict "by ${compiler%%-idirafter*}" 1; continue; }
	said=0
	if [ -n "$runs" ]; then
		why=$("$work/program") && case $why in inline:*|"read(2):"*|clock:*) ;; *) false;; esac
		said=$?
	fi
	verdict "by ${compiler%% -idirafter*}" $said
done < <(compilers)

# ---- the examples, built as docs/recipes/one-header.md says ----
cp examples/mini/* "$work/"
(cd "$work" && gcc -O2 -Wall -Wextra -Werror -o loop loop.c && g++ -std=c++11 -O2 -Wall -Wextra -Werror -o table table.cc &&
	gcc -O2 -Wall -Wextra -Werror -o limit limit.c) 2>"$work/log" || sed 's/^/# /' "$work/log"
[ "$("$work/loop" | grep -cE '(a turn|disturbed\))$')" = 5 ]; verdict "example loop" $?
[ "$("$work/table" | grep -cE '^(sum|reverse|sort) ')" = 3 ]; verdict "example table" $?
"$work/limit" 1000000 >"$work/said"; few=$?
"$work/limit" 1 >>"$work/said"; many=$?
case $few$many in 01|7777) true;; *) false;; esac; verdict "example limit" $?

# ---- the hostile kernel ----
hooked() { # FOLDER SCRIPT
	sed -e 's/^#define TACH_MINI_PAGE_LOAD(page, field).*/#define TACH_MINI_PAGE_LOAD(page, field) (step(), *(const volatile __typeof__((page)->field) *)\&(page)->field)/' \
		-e '/^	(\*TACH_MINI__CAST(const volatile __typeof__/d' \
		-e 's/^#define TACH_MINI_PAGE_OPERAND.*/#define TACH_MINI_PAGE_OPERAND(page, field) (step(), (page)->field)/' \
		-e 's/^#define TACH_MINI__COUNTER_AT(place.*/#define TACH_MINI__COUNTER_AT(place, number, value, seen) (step(), (value) = sim_counter((number) + 1, \&(seen)))\n#define TACH_MINI__UNUSED_AT(place, number, value, seen) \\/' \
		-e 's/^#define TACH_MINI_PAGE(reader, i).*/#define TACH_MINI_PAGE(reader, i) ((reader)->way[i].page)/' \
		-e 's/long result = syscall(number, a, b, c, d, e, f);/long result = sim_sys(number, b, number == SYS_ioctl ? c : b);\n	(void)a, (void)d, (void)e, (void)f;/' \
		-e 's/	if (result < 0) result = -errno;//' -e "$2" "$work/tach-mini.h" >"$1/tach-mini.h"
}
hostile() { # FOLDER SCRIPT
	mkdir -p "$1"
	hooked "$1" "$2"
	gcc -O1 -w -D_GNU_SOURCE -I"$1" -o "$1/program" tests/check/mini/hostile.c 2>"$1/log" || { head -n 5 "$1/log" | sed 's/^/# /'; return 3; }
	timeout 60 "$1/program" >"$1/out"
}
if [ "$(uname -m)" = x86_64 ]; then
	hostile "$work/whole" ''
	status=$?
	[ $status = 0 ] || head -n 8 "$work/whole/out" | sed 's/^\([^#]\)/# \1/'
	verdict "is right or flagged whatever a kernel does" $status
	# NAME | sed script
	while IFS='|' read -r name script; do
		rm -rf "$work/planted"
		hostile "$work/planted" "$script" 2>/dev/null
		status=$?
		name=$(echo $name)
		if cmp -s "$work/planted/tach-mini.h" "$work/whole/tach-mini.h"; then echo "not ok mini defect: $name (the code it changes is not there)"; failed=1
		elif [ $status = 3 ]; then echo "not ok mini defect: $name (does not compile)"; failed=1
		elif [ $status = 0 ]; then echo "not ok mini defect: $name (nothing noticed it)"; failed=1
		else echo "ok mini defect: $name"; fi
	done <<'LIST'
no lock check             | /int tach_mini__sum(struct/,/^}/s/return TACH_MINI_WORD(.*/return 1;/
no lock check at the end  | /int tach_mini__sum_since(/,/^}/s/return TACH_MINI_WORD(.*/return 1;/
offset forgotten          | /^TACH/,/^}/s/TACH_MINI_ADD(value, TACH_MINI_PAGE_OPERAND(way.page, offset));//
lock not kept by begin    | s/mark->lock = lock;/mark->lock = 2;/
difference not modulo     | s/TACH_MINI_MODULAR ? sum \& reader->mask : sum;/sum;/
index not less one        | /^TACH/,/^}/s/TACH_MINI_COUNTER(way, number, value/TACH_MINI_COUNTER(way, number + 1, value/
two ways not told         | s/by_pages ? TACH_MINI_FLAG_MIXED : /by_pages ? 0 : /;s/flags = TACH_MINI_FLAG_SYSCALL |/flags =/
starving not noticed      | s/lag > known ? UINT64_MAX : 0/0/
a failed group hidden     | s/if (got == 0) return 0;/if (got == 0) return 1;/
LIST
fi
exit $failed
