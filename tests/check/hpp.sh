#!/usr/bin/env bash
# tests/run: seconds=60
# C++ scope guards cost as many instructions as the C macros with both compilers, within 1 % for register allocation,
# and nothing at all with -DTACH_DISABLE.
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
# The instructions of a function, without registers and addresses.
instructions() { # OBJECT FUNCTION
	objdump -d --no-show-raw-insn --disassemble="$2" "$1" | awk -F'\t' '/^ /{ split($2, w, " "); if (w[1] !~ /^(nop|data16|cs|xchg)/) print w[1] }'
}
# Messages of a failed open, with and without exceptions.
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
# Every owner type: made, moved, released, queried, and empty with a reason if it cannot be made.
cat >"$work/owners.cc" <<'SOURCE'
#include <cstdio>
#include <cstring>
#include <string>
#include <tach.hpp>
static int bad;
#define CHECK(is) ((is) ? (void)0 : (void)(bad = 1, std::printf("# line %d: %s\n", __LINE__, #is)))
template <class owner> static void moved(owner &o)
{
	auto *at = o.get();
	owner other(std::move(o));

	CHECK(at && !o && !o.get() && other.get() == at);
	o = std::move(other);
	CHECK(o.get() == at && !other);
	other = std::move(o);
	o = std::move(other);
	CHECK(o.get() == at);
}
static int called;
int main()
{
	static const char json[] = "not json";
	tach_error err = TACH_ERROR_INIT;
	tach_regions_options regions = tach_regions_options();
	tach::formula sum("N0 + N1 * 2", err), broken("N0 +", err);
	const uint64_t operands[] = {3, 4};

	CHECK(!broken && err.code == TACH_ERR_SYNTAX && sum && sum.eval(operands) == 11);
	moved(sum);
	tach_formula *given = sum.release();
	CHECK(given && !sum);
	tach_formula_free(given);
	CHECK(tach::formula("elapsed_ns", err).eval(nullptr, std::chrono::microseconds(2)) == 2000);

	regions.events = "";
	CHECK(tach_regions_configure(&regions, &err) == 0);
	{
		tach::region named(std::string("made at run time").c_str()), never("never");
		for (int i = 0; i < 2; i++) {
			TACH_GUARD(guarded);
			TACH_SCOPE_NAMED(std::string("made at ") + "run time");
			named.begin();
			named.begin(); /* ends the one before */
		}
	}
	tach::snapshot now(err), none(json, sizeof json - 1, err);
	CHECK(now && !none && err.code == TACH_ERR_SYNTAX && now.nregions() == 2);
	for (int i = 0; i < now.nregions(); i++) {
		bool named = std::strcmp(now.info(i).name, "made at run time") == 0;

		CHECK(named || std::strcmp(now.info(i).name, "guarded") == 0);
		CHECK(now.info(i).entries == (named ? 6u : 2u));
		CHECK(now.time(i).count() == now.value(i, TACH_QUANTITY_TIME).value);
		CHECK(now.time(i) < std::chrono::hours(1));
	}
	CHECK(now.value(99, 0).flags == TACH_FLAG_LOST && now.derived(0, 99).flags == TACH_FLAG_LOST);
	moved(now);
	{ TACH_GUARD(guarded); }
	tach::snapshot later(err), between = later.since(now, err);
	int calls = 0;
	for (int i = 0; i < between.nregions(); i++)
		calls += static_cast<int>(between.info(i).calls);
	CHECK(calls == 1);
	CHECK(later.report("/nonexistent/x.json", err) < 0 && err.code == -ENOENT);
	CHECK(!tach::snapshot(-1, err) && err.code < 0);

	tach::derived own(err);
	CHECK(own && own.load("/nonexistent", err) < 0);
	tach::expansion x(own.get(), -1, "no_such_name", err);
	CHECK(!x && err.code < 0);
	tach::uncore boxes("no_such_box::X", err);
	CHECK(!boxes && err.code < 0);

	tach::set clock("task-clock", "twice = task-clock * 2", 0, err);
	CHECK(clock && clock.count() == 1 && std::strcmp(clock.name(0), "task-clock") == 0 && clock.nmetrics() == 1);
	CHECK(clock.eval(0, operands, std::chrono::seconds(0)) == 6);
	moved(clock);
	tach::reader reader(clock, err);
	if (reader) {
		uint64_t delta[1] = {0}, value[1] = {0};

		moved(reader);
		CHECK((reader.measure(delta, [] { called++; }) & TACH_FLAG_LOST) == 0 && called == 1);
		CHECK((reader.read(value) & TACH_FLAG_LOST) == 0 && value[0] >= delta[0]);
#ifdef __cpp_lib_span
		CHECK((reader.measure(std::span(delta), [] { called++; }) & TACH_FLAG_LOST) == 0 && called == 2);
		std::span<uint64_t> dynamic(value);
		CHECK((reader.read(dynamic) & TACH_FLAG_LOST) == 0);
#elif __cplusplus >= 202002L
#error "no span"
#endif
	}
	tach_bench_options quick = tach_bench_options();
	const int two = 2;
	tach::bench refused("{}", two, err);

	if (refused)
		return 1;
	uint64_t turns = 0;
	quick.events = "";
	quick.samples = 6;
	tach::bench b("turns", [&turns](uint64_t n) { turns += n; }, err, &quick);
	CHECK(b && turns > 0 && b.count() > 0);
	moved(b);
	return bad;
}
SOURCE
cat >"$work/module.cc" <<'SOURCE'
module;
#include <tach.hpp>
export module parser;
export int parse(int n)
{
	TACH_GUARD(parse);
	tach::region named("named");
	int sum = 0;

	named.begin();
	for (int i = 0; i < n; i++)
		sum += i;
	named.end();
	return sum;
}
SOURCE
printf 'import parser;\nint main() { return parse(10) != 45; }\n' >"$work/user.cc"
# Module options of each compiler. ccache does not store the module, which is a file next to the object.
module() { # COMPILER
	case $1 in
	g++) (export CCACHE_DISABLE=1 && cd "$work" && g++ -std=c++20 -fmodules-ts -Wall -Wextra -I"$include" -c -o module.o module.cc &&
		g++ -std=c++20 -fmodules-ts -o user user.cc module.o "${libraries[@]}");;
	*) (cd "$work" && clang++ -std=c++20 -Wall -Wextra -I"$include" --precompile -x c++-module -o parser.pcm module.cc &&
		clang++ -std=c++20 -fmodule-file=parser.pcm -o user user.cc parser.pcm "${libraries[@]}");;
	esac
}
# `import <tach.hpp>;` gives the macros too. Clang 14 has no header units of C++20.
cat >"$work/unit.cc" <<'SOURCE'
import <tach.hpp>;
int main()
{
	tach_error err = TACH_ERROR_INIT;
	tach::set none("no_such_event", nullptr, 0, err), clock("task-clock", nullptr, 0, err);
	{
		TACH_GUARD(imported);
	}
	return none || !clock || clock.count() != 1;
}
SOURCE
header_unit() { # COMPILER
	(export CCACHE_DISABLE=1 && cd "$work" && "$1" -std=c++20 -fmodules-ts -O1 -I"$include" -x c++-system-header tach.hpp &&
		"$1" -std=c++20 -fmodules-ts -O1 -I"$include" -o unit unit.cc "${libraries[@]}")
}
case $B in /*) archive=$B/libtach.a;; *) archive=$PWD/$B/libtach.a;; esac
libraries=("$archive" -lurcu-bp -lurcu-common -lm -lpthread -ldl) include=$PWD/include
unset "${!TACH_@}" 2>/dev/null
awk '/^\.Ed/ { on = 0 } on { gsub(/\\e/, "\\"); print } /^\.Sh DESCRIPTION/ { examples = 1 } examples && /^\.Bd/ { on = 1 }' man/tach.hpp.3 >"$work/manual.cc"
# Compile and link in two steps, because ccache stores only compiled files; use relative names, which are equal in
# every run.
build() { # COMPILER PROGRAM FLAG...
	(cd "$work" && "$1" "${@:3}" -Wall -Wextra -Werror -MMD -I"$include" -c -o "$2.o" "$2.cc" && "$1" -o "$2" "$2.o" "${libraries[@]}")
}
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
		build $compiler opening -std=c++11 -O1 $flags && "$work/opening" ||
			{ echo "# $compiler $flags: opening"; bad=1; }
	done
	if [ $bad = 0 ]; then echo "ok opening $compiler"; else echo "not ok opening $compiler"; failed=1; fi
	bad=0
	for flags in -std=c++11 '-std=c++17 -fno-exceptions -fno-rtti' -std=c++20 '-std=c++20 -fno-exceptions -fno-rtti'; do
		for program in owners manual; do
			build $compiler $program -O1 $flags && "$work/$program" >"$work/said" || { echo "# $compiler $flags: $program"; head -n 5 "$work/said"; bad=1; }
		done
		grep -q '^parse took some time: 1$' "$work/said" || { echo "# $compiler $flags: the manual's program"; bad=1; }
	done
	if [ $bad = 0 ]; then echo "ok owners $compiler"; else echo "not ok owners $compiler"; failed=1; fi
	if module $compiler && TACH_EVENTS='' TACH_OUTPUT=$work/report.csv "$work/user" && grep -q '\<parse\>' "$work/report.csv" && grep -q '\<named\>' "$work/report.csv"; then
		echo "ok modules $compiler"
	else
		echo "not ok modules $compiler"
		failed=1
	fi
	[ $compiler = g++ ] || continue
	if header_unit $compiler && TACH_EVENTS='' TACH_OUTPUT=$work/unit.csv "$work/unit" && grep -q '\<imported\>' "$work/unit.csv"; then
		echo "ok header_unit $compiler"
	else
		echo "not ok header_unit $compiler"
		failed=1
	fi
done
exit $failed
