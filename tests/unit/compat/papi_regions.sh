#!/usr/bin/env bash
# PAPI's regions by name: the content of a program's file of results, which PAPI's own script can read.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B;; esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
say() { if [ "$2" = 0 ]; then echo "ok papi_regions/$1"; else sed 's/^/# /' "$work/said" | head -20; echo "not ok papi_regions/$1"; failed=1; fi; }
unset "${!PAPI_@}" "${!TACH_@}" 2>/dev/null
san=$(grep -o -e '-fsanitize=[^ ]*' "$B/flags" | sort -u)

cat >"$work/client.c" <<'SOURCE'
#include <papi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int bad;
#define GIVES(call, code) do { int is_ = (call); if (is_ != (code)) { bad = 1; printf("%s: %d, not %s\n", #call, is_, #code); } } while (0)

static void touch(int pages)
{
	char *p = mmap(NULL, (size_t)pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < pages; i++)
		((volatile char *)p)[i * 4096] = 1;
	munmap(p, (size_t)pages * 4096);
}

static void *thread(void *unused)
{
	GIVES(PAPI_hl_region_begin("thread"), PAPI_OK);
	GIVES(PAPI_hl_region_end("thread"), PAPI_OK);
	return unused;
}

static void nested(void)
{
	char name[] = "inner \"a\"";

	GIVES(PAPI_hl_read("outer"), PAPI_EMISC);
	GIVES(PAPI_hl_region_end("outer"), PAPI_EMISC);
	GIVES(PAPI_hl_region_begin("outer"), PAPI_OK);
	touch(100);
	GIVES(PAPI_hl_read("outer"), PAPI_OK);
	GIVES(PAPI_hl_read("other"), PAPI_OK);
	for (int i = 0; i < 2; i++) {
		name[7] = (char)('a' + i);
		GIVES(PAPI_hl_region_begin(name), PAPI_OK);
		touch(200);
		GIVES(PAPI_hl_region_end(name), PAPI_OK);
	}
	GIVES(PAPI_hl_read("outer"), PAPI_OK);
	GIVES(PAPI_hl_region_end("outer"), PAPI_OK);
	GIVES(PAPI_hl_read("outer"), PAPI_OK);
	GIVES(PAPI_hl_stop(), PAPI_OK);
	GIVES(PAPI_hl_stop(), PAPI_ENOEVNT);
	GIVES(PAPI_hl_region_begin(NULL), PAPI_EINVAL);
	GIVES(PAPI_hl_region_begin("again"), PAPI_OK);
	GIVES(PAPI_hl_region_end("again"), PAPI_OK);
}

static void fork_child(void)
{
	pid_t child;

	GIVES(PAPI_hl_region_begin("parent"), PAPI_OK);
	child = fork();
	if (child == 0) {
		thread(NULL);
		exit(bad);
	}
	waitpid(child, NULL, 0);
	GIVES(PAPI_hl_region_end("parent"), PAPI_OK);
}

int main(int argc, char **argv)
{
	pthread_t one;

	if (strcmp(argv[1], "nested") == 0)
		nested();
	if (strcmp(argv[1], "thread") == 0) {
		GIVES(PAPI_hl_region_begin("main"), PAPI_OK);
		pthread_create(&one, NULL, thread, NULL);
		pthread_join(one, NULL);
		GIVES(PAPI_hl_region_end("main"), PAPI_OK);
	}
	if (strcmp(argv[1], "fork") == 0)
		fork_child();
	if (strcmp(argv[1], "deep") == 0) {
		for (int i = 0; i < 5000; i++)
			GIVES(PAPI_hl_region_begin("deep"), PAPI_OK);
		for (int i = 0; i < 5000; i++)
			GIVES(PAPI_hl_region_end("deep"), PAPI_OK);
	}
	if (strcmp(argv[1], "open") == 0)
		GIVES(PAPI_hl_region_begin("open"), PAPI_OK);
	if (strcmp(argv[1], "unmatched") == 0) {
		GIVES(PAPI_hl_region_begin("one"), PAPI_OK);
		GIVES(PAPI_hl_region_end("two"), PAPI_EINVAL);
		GIVES(PAPI_hl_region_begin("one"), PAPI_EMISC);
		GIVES(PAPI_hl_stop(), PAPI_ENOEVNT);
	}
	if (strcmp(argv[1], "chosen") == 0) {
		GIVES(PAPI_hl_set_events("perf::CPU-MIGRATIONS"), PAPI_OK);
		thread(NULL);
		PAPI_hl_print_output();
		GIVES(access(argv[argc - 1], F_OK), 0);
	}
	return bad;
}
SOURCE
# shellcheck disable=SC2086
"${CC:-gcc}" -std=gnu11 -Wall -Wextra -Werror $san -Icompat/papi/include -o "$work/client" "$work/client.c" -L"$B/papi" -lpapi \
	-Wl,-rpath,"$B/papi" -pthread >"$work/said" 2>&1 || { say compiles 1; exit 1; }
run() { # CASE NAME=VALUE...
	local case=$1
	shift
	rm -rf "$work/at"
	mkdir "$work/at"
	(cd "$work/at" && env PAPI_EVENTS=perf::PAGE-FAULTS "$@" "$work/client" "$case" "$work/at/papi_hl_output") >"$work/said" 2>&1
}
# Runs Python with `d`, the results, and `r`, the regions of thread 0.
results() { # PYTHON
	local f
	for f in "$work"/at/papi_hl_output/*.json; do :; done
	python3 - "$f" <<-EOF >>"$work/said" 2>&1
	import json, sys
	d = json.load(open(sys.argv[1]))
	r = d["threads"]["0"]["regions"]
	$1
	EOF
}

if ! run thread && grep -q 'PAPI_hl_region_begin("main"): -' "$work/said"; then
	echo "skip papi_regions: no event opens"
	exit 77
fi
results 'assert list(d["threads"]) == ["0", "1"]
assert d["threads"]["1"]["regions"]["0"]["name"] == "thread" and r["0"]["name"] == "main"
assert set(d) == {"papi_version", "cpu_info", "max_cpu_rate_mhz", "min_cpu_rate_mhz", "event_definitions", "threads"}'
say threads $?

run nested && results 'assert [r[i]["name"] for i in "0123"] == ["outer", "inner \"a\"", "inner \"b\"", "again"]
assert [r[i]["parent_region_id"] for i in "0123"] == ["-1", "0", "0", "-1"]
f = r["0"]["perf::PAGE-FAULTS"]
assert list(f) == ["region_value", "read_1", "read_2"], f
assert 100 <= int(f["read_1"]) < 200 and 500 <= int(f["read_2"]) <= int(f["region_value"]) < 600, f
assert all(200 <= int(r[i]["perf::PAGE-FAULTS"]) < 250 for i in "12"), r
for e in r["0"], r["1"]:
	for k in "cycles", "real_time_nsec":
		v = e[k] if isinstance(e[k], str) else e[k]["region_value"]
		assert 0 < int(v) < 10**12, e
assert int(r["1"]["real_time_nsec"]) + int(r["2"]["real_time_nsec"]) < int(r["0"]["real_time_nsec"]["region_value"])
assert d["event_definitions"]["perf::PAGE-FAULTS"] == {"component": "perf_event", "type": "delta"}'
say nested $?
if command -v papi_hl_output_writer >/dev/null; then
	rc=0
	for how in "detail derived" "detail raw" "summary derived" "summary raw"; do
		# shellcheck disable=SC2086
		set -- $how
		(cd "$work/at" && papi_hl_output_writer --type="$1" --notation="$2") >"$work/said" 2>&1 && grep -q outer "$work/said" || rc=1
	done
	say writer $rc
else
	echo "skip papi_regions/writer: papi-tools is not installed"
fi

run deep && results 'assert len(r) == 5000 and r["4999"]["parent_region_id"] == "4998"'
say deep $?
run fork && [ "$(ls "$work"/at/papi_hl_output | wc -l)" = 2 ] &&
	[ "$(cat "$work"/at/papi_hl_output/* | grep -c '"name":"parent"')" = 1 ] && [ "$(cat "$work"/at/papi_hl_output/* | grep -c '"name":"thread"')" = 1 ]
say fork $?
run unmatched PAPI_HL_VERBOSE=1 && grep -q 'no matching region' "$work/said" && [ ! -e "$work/at/papi_hl_output" ]
say unmatched $?
run open && [ ! -e "$work/at/papi_hl_output" ]
say open $?
run chosen PAPI_EVENTS=nonsense && results 'assert list(d["event_definitions"]) == ["perf::CPU-MIGRATIONS"]'
say chosen $?
run thread PAPI_EVENTS=' perf::PAGE-FAULTS=instant, nonsense , perf::TASK-CLOCK' PAPI_REPORT=1 &&
	results 'assert [(n, e["type"]) for n, e in d["event_definitions"].items()] == [("perf::PAGE-FAULTS", "instant"), ("perf::TASK-CLOCK", "delta")]
assert 0 < int(r["0"]["perf::TASK-CLOCK"]) < 10**11' && grep -q '^PAPI-HL Output:' "$work/said"
say events $?

# The path of the file: a new folder, named after a rank; an older folder is kept.
run thread PAPI_OUTPUT_DIRECTORY="$work/at/a/b" SLURM_PROCID=7 && [ -e "$work/at/a/b/papi_hl_output/rank_000007.json" ] &&
	touch -d '1 minute ago' "$work/at/a/b/papi_hl_output" &&
	(cd "$work/at" && PAPI_EVENTS=perf::PAGE-FAULTS PAPI_OUTPUT_DIRECTORY=a/b PMI_RANK=7 "$work/client" thread) &&
	[ "$(ls -d "$work"/at/a/b/papi_hl_output* | wc -l)" = 2 ] && [ "$(ls "$work"/at/a/b/papi_hl_output)" = rank_000007.json ]
say folder $?
exit $failed
