#!/usr/bin/env bash
# The compiler moves nothing across barriers: stores stay before or after a fence, and the addition to a counter's
# value stays after the counter instruction. TACH_FENCE is the processor's instruction. Then each memory clobber and
# the fence are removed from the header, one at a time, and the check must notice each. It runs for x86-64 and, with
# its cross compiler, arm64.
set -u
cd "$(dirname "$0")/../.."
# shellcheck disable=SC1091
. tests/check/kept include
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cat >"$work/stores.c" <<'END'
#define TACH_BUILD
#include <tach/reader.h>
void fence(uint64_t *p);
void counter(uint64_t *p, struct tach_way way, uint32_t number);
void counter_48(uint64_t *p, struct tach_way way, uint32_t number);
void counter_shown(uint64_t *p, struct tach_way way, uint32_t number);
uint64_t add(uint64_t *p, uint64_t value, uint64_t more);
void fence(uint64_t *p)
{
	*p = 1;
	TACH_FENCE();
	*p = 2;
}
void counter(uint64_t *p, struct tach_way way, uint32_t number)
{
	uint64_t value;
	uint32_t seen = 0;

	*p = 1;
	TACH_COUNTER(way, number, value, seen);
	(void)value;
	*p = 2;
}
void counter_48(uint64_t *p, struct tach_way way, uint32_t number)
{
	uint64_t value;
	uint32_t seen = 0;

	*p = 1;
	TACH_COUNTER_48(way, number, value, seen);
	(void)value;
	*p = 2;
}
void counter_shown(uint64_t *p, struct tach_way way, uint32_t number)
{
	uint64_t value;
	uint32_t seen = 0;

	*p = 1;
	TACH_COUNTER_SHOWN(way, number, value, seen);
	(void)value;
	*p = 2;
}
#ifdef __aarch64__
void counter_at(uint64_t *p, const char *at);
void take(uint64_t *p, uint64_t *word);
void counter_at(uint64_t *p, const char *at)
{
	uint64_t value;
	uint32_t seen = 0;

	*p = 1;
	TACH_COUNTER_AT(at, value, seen);
	(void)value;
	*p = 2;
}
void take(uint64_t *p, uint64_t *word)
{
	*p = 1;
	(void)TACH_TAKE(*word, 0);
	if (*p != 1)
		*p = 2;
}
#endif
uint64_t add(uint64_t *p, uint64_t value, uint64_t more)
{
	*p = 1;
	TACH_ADD(value, more);
	*p = 2;
	return value;
}
END

# holds COMPILER INCLUDE FENCE STORE FUNCTION...: each function has one store before and one after the fence or the
# reads
holds() {
	local cc=$1 include=$2 fence=$3 store=$4 f
	shift 4
	$cc -std=c11 -O2 -w -I"$include" -I. -S -o "$work/s" "$work/stores.c" 2>"$work/error" || { sed 's/^/# /' "$work/error"; return 2; }
	for f; do
		awk -v f="$f" -v store="$store" -v fence="$([ "$f" = fence ] && echo "$fence")" '
			$1 == f ":" { in_it = 1 }
			in_it && /^\t\.size/ { in_it = 0 }
			in_it && $0 ~ store { stores++ }
			in_it && fence != "" && $1 == fence && stores == 1 { between = 1 }
			END { exit !(stores == 2 && (fence == "" || between)) }' "$work/s" || return 1
	done
}

failed=0
try() { # NAME COMPILER HEADER FENCE STORE FUNCTION...
	local name=$1 cc=$2 header=$3 bad=0 n i
	shift 3
	command -v "${cc%% *}" >/dev/null || return
	holds "$cc" include "$@" || { echo "# $name: the header as it is"; bad=1; }
	n=$(grep -c '"memory"' "include/tach/arch/$header.h")
	for ((i = 1; i <= n + 1; i++)); do
		rm -rf "$work/include"
		cp -r include "$work/include"
		if [ "$i" -gt "$n" ]; then
			sed -i "s/volatile(\"$1\"/volatile(\"nop\"/" "$work/include/tach/arch/$header.h"
		else
			awk -v i="$i" '/"memory"/ && ++n == i { sub(/, "memory"/, "") || sub(/: *: *"memory"/, "") || sub(/::: "memory"/, "") || sub(/: "memory", /, ": ") } { print }' \
				"include/tach/arch/$header.h" >"$work/include/tach/arch/$header.h"
		fi
		! cmp -s "include/tach/arch/$header.h" "$work/include/tach/arch/$header.h" || { echo "# $name: $i changes nothing"; bad=1; }
		holds "$cc" "$work/include" "$@"
		[ $? = 1 ] || { echo "# $name: without $i of $n clobbers and the fence nothing shows"; bad=1; }
	done
	if [ $bad = 0 ]; then echo "ok barriers_$name"; else echo "not ok barriers_$name"; failed=1; fi
}
case $(gcc -dumpmachine) in
x86_64*)
	try x86 gcc x86 lfence '\tmovq\t\$[12], ' fence counter counter_48 counter_shown add;;
*) echo "skip barriers: checked on x86-64 and with a cross compiler";;
esac
try arm64 aarch64-linux-gnu-gcc arm64 isb '\tstr\tx' fence counter counter_48 counter_shown counter_at take
exit $failed
