#!/usr/bin/env bash
# libtach-kokkos.so, loaded and called as by Kokkos: the report has kernels, regions, fences and copies by name, with
# their number and nesting, from every thread.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
! grep -q -e -fsanitize=address "$B/flags" || { echo "skip kokkos: AddressSanitizer would have to be loaded first"; exit 77; }
case $B in /*) lib=$B/libtach-kokkos.so;; *) lib=$PWD/$B/libtach-kokkos.so;; esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
say() { if [ "$2" = 0 ]; then echo "ok kokkos_$1"; else sed 's/^/# /' "$work/said" | head -30; echo "not ok kokkos_$1"; failed=1; fi; }
unset "${!TACH_@}" 2>/dev/null

nm -D --defined-only "$lib" | sed -n 's/.* [A-Za-z] //p' | sort >"$work/said"
printf 'kokkosp_%s\n' {begin,end}_{parallel_for,parallel_reduce,parallel_scan,fence,deep_copy} {push,pop}_profile_region {init,finalize}_library |
	sort | diff - "$work/said" >"$work/differ"; rc=$?
cp "$work/differ" "$work/said"
say names $rc

cat >"$work/host.c" <<'SOURCE'
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
typedef struct { char name[64]; } space;
static void (*init)(int, uint64_t, uint32_t, void *), (*finalize)(void), (*push)(const char *), (*pop)(void);
static void (*begin[4])(const char *, uint32_t, uint64_t *), (*end[4])(uint64_t);
static void (*copy)(space, const char *, const void *, space, const char *, const void *, uint64_t), (*copied)(void);
static void *threads(void *unused)
{
	uint64_t id;

	for (int i = 0; i < 5; i++) {
		begin[0]("kernel", 0, &id);
		end[0](id);
	}
	return unused;
}
int main(int argc, char **argv)
{
	static const char *const kinds[] = {"parallel_for", "parallel_reduce", "parallel_scan", "fence"};
	void *lib = dlopen(argv[argc - 1], RTLD_NOW);
	char name[64], text[600];
	space host = {"Host"};
	uint64_t id, inner;
	pthread_t t;

	if (!lib)
		return puts(dlerror()), 1;
	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof name, "kokkosp_begin_%s", kinds[i]);
		*(void **)&begin[i] = dlsym(lib, name);
		snprintf(name, sizeof name, "kokkosp_end_%s", kinds[i]);
		*(void **)&end[i] = dlsym(lib, name);
	}
	*(void **)&init = dlsym(lib, "kokkosp_init_library");
	*(void **)&finalize = dlsym(lib, "kokkosp_finalize_library");
	*(void **)&push = dlsym(lib, "kokkosp_push_profile_region");
	*(void **)&pop = dlsym(lib, "kokkosp_pop_profile_region");
	*(void **)&copy = dlsym(lib, "kokkosp_begin_deep_copy");
	*(void **)&copied = dlsym(lib, "kokkosp_end_deep_copy");
	pop(), end[0](7), end[0](0); /* before anything began */
	init(0, 20200625, 0, NULL);
	push("solve");
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "step%d", i % 2); /* the string changes in place */
		begin[1](name, 0, &id);
		begin[3]("wait", 0, &inner);
		end[3](inner);
		end[1](id);
	}
	copy(host, "a", name, host, "b", name, 8), copied();
	begin[2]("left", 0, &id);
	pop(); /* it never ended: over with what is around it */
	pop(), end[2](id), end[2](99);
	pthread_create(&t, NULL, threads, NULL);
	pthread_join(t, NULL);
	for (int i = 0; i < 100; i++)
		push("deep");
	for (int i = 0; i < 100; i++)
		pop();
	begin[0]("outer", 0, &id);
	push("inner"); /* never ended either */
	end[0](id);
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof name, "many%d", i % 1000);
		begin[0](name, 0, &id);
		end[0](id);
	}
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = 0;
	push(text), pop();
	push(NULL), pop();
	threads(NULL);
	finalize();
	dlclose(lib);
	return 0;
}
SOURCE
gcc -std=gnu11 -O1 -Wall -Werror -o "$work/host" "$work/host.c" -pthread -ldl 2>"$work/said"
say host $?
judge() {
	python3 - "$1" >"$work/said" 2>&1 <<'END'
import json, sys
regions = {r["name"]: r for r in json.load(open(sys.argv[1]))["regions"]}
entries = {n: r["entries"] for n, r in regions.items()}
want = {"solve": 1, "step0": 2, "step1": 1, "fence wait": 3, "copy a = b": 1, "kernel": 10, "left": 1, "deep": 64, "outer": 1, "inner": 1}
want.update((f"many{i}", 2) for i in range(1000))
assert {n: entries.get(n) for n in want} == want, entries
assert regions["solve"]["calls"] == 1 and regions["kernel"]["calls"] == 10 and regions["kernel"]["threads"] == 2
assert regions["solve"]["nested"] >= 7, regions["solve"]
assert regions["outer"]["nested"] == 1, regions["outer"]
END
}
TACH_EVENTS='' TACH_OUTPUT=$work/out.json "$work/host" "$lib" >"$work/said" 2>&1 && [ ! -s "$work/said" ] && judge "$work/out.json"
say counted $?
# Without a setting in the environment, the report goes to standard error.
"$work/host" "$lib" >"$work/out" 2>"$work/said" && [ ! -s "$work/out" ] && grep -qE '^ *kernel +10 ' "$work/said"
say alone $?
exit $failed
