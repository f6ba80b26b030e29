#!/usr/bin/env bash
# C++ scope guards cost what the C macros cost: as many instructions, within the 1 % that register
# allocation makes of it, with both compilers; and nothing at all with -DTACH_DISABLE.
set -u
cd "$(dirname "$0")/../.."
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cat >"$work/guard.cc" <<'SOURCE'
#include <tach.hpp>
void body(void);
extern "C" void by_guard(void)
{
	TACH_GUARD(loop);
	body();
}
extern "C" void by_macro(void)
{
	TACH_SCOPE(loop);
	body();
}
extern "C" void bare(void)
{
	body();
}
extern "C" unsigned by_measure(tach::reader &r, uint64_t (&delta)[2])
{
	return r.measure(delta, [] { body(); });
}
extern "C" unsigned by_hand(tach::reader &r, uint64_t (&delta)[2])
{
	tach_mark mark;

	tach_reader_begin_n(r.get(), &mark, 2);
	body();
	return tach_reader_end_n(r.get(), &mark, delta, 2);
}
SOURCE
# The instructions of a function, registers and addresses left out.
instructions() { # OBJECT FUNCTION
	objdump -d --no-show-raw-insn --disassemble="$2" "$1" | awk -F'\t' '/^ /{ split($2, w, " "); if (w[1] !~ /^(nop|data16|cs|xchg)/) print w[1] }'
}
# What opening says when it fails, with exceptions and without.
cat >"$work/opening.cc" <<'SOURCE'
#include <cstdio>
#include <cstring>
#include <tach.hpp>
static int bad;
#define CHECK(is) ((is) ? (void)0 : (void)(bad = 1, std::printf("# line %d: %s\n", __LINE__, #is)))
int main()
{
	tach_error err = TACH_ERROR_INIT, other = TACH_ERROR_INIT;
	tach::set none("no_such_event", nullptr, 0, err), clock("", nullptr, 0, other);

	CHECK(!none && !none.get() && err.code == TACH_ERR_NOTFOUND && std::strstr(err.text, "no_such_event"));
	CHECK(clock && clock.get() && other.code == 0);
	tach::reader of_none(none, err), of_clock(clock, other);
	CHECK(!of_none && !of_none.get() && err.code == TACH_ERR_INVAL);
	CHECK(of_clock && of_clock.get());
	none = std::move(clock);
	CHECK(none && !clock);
#ifdef __EXCEPTIONS
	try {
		tach::set thrown("no_such_event");
		CHECK(!"reached");
	} catch (const tach::error &e) {
		CHECK(e.code == TACH_ERR_NOTFOUND && std::strstr(e.what(), "no_such_event"));
	}
#else
	tach::set empty("no_such_event");
	tach::reader of_empty(empty);
	CHECK(!empty && !of_empty);
#endif
	return bad;
}
SOURCE
failed=0
for compiler in g++ clang++; do
	command -v $compiler >/dev/null || { echo "skip guard $compiler: $compiler is not installed"; continue; }
	bad=0
	for disable in '' -DTACH_DISABLE; do
		$compiler -std=c++11 -O2 -Wall -Wextra -Werror -Iinclude $disable -c -o "$work/o" "$work/guard.cc" || { bad=1; continue; }
		pairs='by_guard:by_macro by_measure:by_hand'
		[ -z "$disable" ] || pairs='by_guard:bare by_macro:bare'
		for pair in $pairs; do
			a=$(instructions "$work/o" "${pair%:*}") b=$(instructions "$work/o" "${pair#*:}")
			a=$(wc -l <<<"$a") b=$(wc -l <<<"$b")
			[ "$a" -gt 0 ] && [ $((a > b ? a - b : b - a)) -le $((b / 100)) ] && continue
			echo "# $compiler $disable: $a instructions ${pair%:*}, $b ${pair#*:}"
			bad=1
		done
	done
	if [ $bad = 0 ]; then echo "ok guard $compiler"; else echo "not ok guard $compiler"; failed=1; fi
	bad=0
	for flags in '' '-fno-exceptions -fno-rtti'; do
		$compiler -std=c++11 -O1 -Wall -Wextra -Werror -Iinclude $flags -o "$work/opening" "$work/opening.cc" \
			"$B/libtach.a" -lurcu-bp -lurcu-common -lm -lpthread -ldl && "$work/opening" ||
			{ echo "# $compiler $flags: opening"; bad=1; }
	done
	if [ $bad = 0 ]; then echo "ok opening $compiler"; else echo "not ok opening $compiler"; failed=1; fi
done
exit $failed
