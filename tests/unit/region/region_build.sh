#!/usr/bin/env bash
# Regions in compilers and loaders: no code with -DTACH_DISABLE, C++ with exceptions and templates, libraries that are
# unloaded, and the code size of START and STOP.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
verdict() { # NAME STATUS
	if [ "$2" = 0 ]; then echo "ok $1"; else echo "not ok $1"; failed=1; fi
}
libs="$B/libtach.a -lurcu-bp -lm -lpthread -ldl"

# ---- --DTACH_DISABLE gives the same assembly as code without the macros ----
cat >"$work/bare.c" <<'END'
#include <tach/region.h>
int outer(const int *p, int n);
int outer(const int *p, int n)
{
	int sum = 0;
	START_OUTER
	for (int i = 0; i < n; i++) {
		START_INNER
		sum += p[i];
		STOP_INNER
	}
	STOP_OUTER
	return sum;
}
END
sed -e 's/START_OUTER/TACH_SCOPE(whole); TACH_START_FENCED(outer);/; s/STOP_OUTER/TACH_STOP(outer);/' \
	-e 's/START_INNER/TACH_START(inner);/; s/STOP_INNER/TACH_STOP(inner);/' "$work/bare.c" >"$work/with.c"
sed -i 's/START_OUTER//; s/STOP_OUTER//; s/START_INNER//; s/STOP_INNER//' "$work/bare.c"
for cc in gcc clang; do
	command -v $cc >/dev/null || { echo "skip disable $cc: it is not installed"; continue; }
	same=0
	for opt in -O0 -O2; do
		for f in bare with; do
			$cc -std=c11 $opt -DTACH_DISABLE -Iinclude -S -o "$work/$f.s" "$work/$f.c" || same=1
			sed -i '/^[[:space:]]*\.file/d' "$work/$f.s"
		done
		cmp -s "$work/bare.s" "$work/with.s" || { diff "$work/bare.s" "$work/with.s" | sed 's/^/# /' | head -20; same=1; }
	done
	verdict "disable $cc" $same
done

# ---- how much code ----
cat >"$work/size.c" <<'END'
#include <tach/region.h>
void nothing(void);
void nothing(void) { __asm__ volatile(""); }
void both(void);
void both(void) { TACH_START(size); __asm__ volatile(""); TACH_STOP(size); }
END
# For every compiler, counts the instructions between START's return and STOP's call. A region counts these
# instructions in addition to the library's own, so their number must be equal everywhere, also in calibration.
while read -r cc at_most between; do
	command -v "$cc" >/dev/null || { echo "skip code size $cc: it is not installed"; continue; }
	dump=objdump
	case $cc:$(gcc -dumpmachine) in
	aarch64*) dump=aarch64-linux-gnu-objdump;;
	gcc:x86_64*|clang:x86_64*) ;;
	*) echo "skip code size $cc: the numbers are for x86-64 and a cross compiler"; continue;;
	esac
	bad=0
	for opt in -O1 -O2 -O3 -Os "-O2 -fPIC" "-O2 -fno-pie"; do
		# shellcheck disable=SC2086
		$cc -std=c11 $opt -Iinclude -c -o "$work/size.o" "$work/size.c" || { bad=1; continue; }
		size() { nm -S -t d "$work/size.o" | awk -v f="$1" '$4 == f { n = $2 + 0 } END { print n + 0 }'; }
		bytes=$(($(size both) - $(size nothing)))
		n=$($dump -d --no-show-raw-insn "$work/size.o" | awk '
			/<both>:/ { on = 1 } /^$/ { on = 0 }
			on && ($2 == "call" || $2 == "blr" || $2 == "callq") { calls++; next }
			on && calls == 1 { n++ }
			END { print (calls >= 2 ? n : -1) }')
		[ "$opt" != -O2 ] || echo "# $cc: a START and a STOP take $bytes bytes with their frame, $n instructions between the calls"
		[ "$bytes" -le "$at_most" ] || { echo "# $cc $opt: $bytes bytes, at most $at_most"; bad=1; }
		[ "$n" = "$between" ] || { echo "# $cc $opt: $n instructions between the calls, not $between"; bad=1; }
	done
	verdict "code size $cc" $bad
done <<'LIST'
gcc 90 3
clang 90 3
aarch64-linux-gnu-gcc 100 4
LIST

# ---- addresses of sites ---- GNU ld makes one GOT entry for all local objects of a section: sites must not be
# addressed by it.
if command -v aarch64-linux-gnu-gcc >/dev/null; then
	cat >"$work/two.c" <<'END'
#include <tach/region.h>
void two(void);
void two(void) { TACH_START(one); TACH_START(other); TACH_STOP(other); TACH_STOP(one); }
END
	bad=0
	for opt in -O0 -O2 '-O2 -fPIC' '-O2 -fno-pie'; do
		# shellcheck disable=SC2086
		aarch64-linux-gnu-gcc -std=c11 $opt -Iinclude -c -o "$work/two.o" "$work/two.c" || bad=1
		aarch64-linux-gnu-objdump -r "$work/two.o" | grep 'GOT.*+0x' | sed "s/^/# $opt: /" | grep . && bad=1
	done
	verdict "addresses of sites" $bad
else
	echo "skip addresses of sites: aarch64-linux-gnu-gcc is not installed"
fi

# ---- C++ ----
cat >"$work/cpp.cc" <<'END'
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <tach.hpp>

template <typename T> static T twice(T x) { TACH_SCOPE(templated); return x + x; }
inline int in_header(int x) { TACH_SCOPE(inlined); return x + 1; }
static void throws(int n) { TACH_SCOPE(throwing); if (n) throws(n - 1); else throw std::runtime_error("thrown"); }
static void leaves_open() { TACH_START(left_open); throw 1; TACH_STOP(left_open); }
struct Late { ~Late() { TACH_SCOPE(static_destructor); } } late;

int main()
{
	tach_regions_options opt = tach_regions_options();
	opt.events = "";
	if (tach_regions_configure(&opt, NULL) != 0) return 1;
	auto lambda = [](int x) { TACH_SCOPE(lambda); return x; };
	for (int i = 0; i < 3; i++) {
		twice(1); twice(1.0); in_header(1); lambda(1);
		try { TACH_SCOPE(around); throws(4); } catch (const std::exception &) {}
		try { leaves_open(); } catch (int) {}
	}
	{ TACH_GUARD_FENCED(guard_fenced); }
	{ TACH_GUARD(guard); }
	tach_region_mark mark = TACH_REGION_MARK_INIT;
	tach_region_end(&mark);
	tach_snapshot *s;
	if (tach_snapshot_take(&s, NULL) != 0) return 2;
	for (int r = 0; r < tach_snapshot_nregions(s); r++) {
		tach_region_info info = tach_region_info();
		tach_snapshot_region(s, r, &info);
		std::printf("%s %d %d%s\n", info.name, int(info.calls), int(info.outermost), info.fenced ? " fenced" : "");
	}
	tach_snapshot_free(s);
}
END
cat >"$work/want" <<'END'
around 3 3
guard 1 1
guard_fenced 1 1 fenced
inlined 3 3
lambda 3 3
left_open 3 3
templated 6 6
throwing 15 3
END
if command -v g++ >/dev/null; then
	# shellcheck disable=SC2086
	g++ -std=c++11 -Wall -Wextra -Werror -O2 -Iinclude -o "$work/cpp" "$work/cpp.cc" $libs &&
		"$work/cpp" | sort >"$work/got" && diff "$work/want" "$work/got" | sed 's/^/# /' &&
		cmp -s "$work/want" "$work/got"
	verdict "C++ exceptions, templates, lambdas" $?
else
	echo "skip C++: g++ is not installed"
fi

# ---- dlopen, dlclose ----
cat >"$work/plugin.c" <<'END'
#include <tach.h>
__attribute__((constructor)) static void loaded(void) { TACH_SCOPE(plugin_constructor); }
void plugin(void);
void plugin(void) { TACH_SCOPE(plugin_region); }
END
cat >"$work/host.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <tach.h>
static int calls(const char *name)
{
	struct tach_region_info info = {0};
	struct tach_snapshot *s;
	int n = 0;
	if (tach_snapshot_take(&s, NULL) != 0) return -1;
	for (int r = 0; r < tach_snapshot_nregions(s); r++) {
		tach_snapshot_region(s, r, &info);
		if (strcmp(info.name, name) == 0) n += (int)info.calls;
	}
	tach_snapshot_free(s);
	return n;
}
int main(int argc, char **argv)
{
	struct tach_regions_options opt = {.events = ""};
	int bad = 0;
	(void)argc;
	bad |= tach_regions_configure(&opt, NULL) != 0;
	for (int i = 1; i <= 5; i++) {
		void *library = dlopen(argv[1], RTLD_NOW);
		void (*plugin)(void) = library ? (void (*)(void))dlsym(library, "plugin") : NULL;
		if (!plugin) { puts(dlerror()); return 1; }
		plugin();
		dlclose(library);
		if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD)) { puts("# it was not unloaded"); return 1; }
		dlopen(argv[1], RTLD_NOW); /* wherever it comes to lie: the same sites */
		if (calls("plugin_region") != 1 || calls("plugin_constructor") != 2) {
			printf("# round %d: %d and %d calls\n", i, calls("plugin_region"),
			       calls("plugin_constructor"));
			bad = 1;
		}
		while ((library = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD))) {
			dlclose(library);
			dlclose(library);
		}
		tach_regions_disable(); /* must not write where the library was */
		bad |= calls("plugin_region") != 1;
		bad |= tach_regions_configure(&opt, NULL) != 0;
	}
	return bad;
}
END
# shellcheck disable=SC2086
gcc -std=c11 -O2 -Iinclude -shared -fPIC -o "$work/plugin.so" "$work/plugin.c" -L"$B" -ltach &&
	gcc -std=gnu11 -O2 -Iinclude -o "$work/host" "$work/host.c" -L"$B" -ltach -ldl &&
	LD_LIBRARY_PATH=$B "$work/host" "$work/plugin.so"
verdict "dlopen and dlclose" $?
exit $failed
