#!/usr/bin/env bash
# Programs from Debian, and google-benchmark, in the x86 guest. We accept perf's own event names for six processors.
# llvm-exegesis, which was built for libpfm.so.4, gives the same results with our library and with Debian's.
# google-benchmark, compiled with our headers and libpfm.a, and a program with libpapi.so.7.0 count loops of known length.
# tests/run: memory=2300
set -u
cd "$(dirname "$0")/../.."
B=${B:-build}
tests/guest/ready x86 || exit 77
tools/need linux-perf llvm-14 libpfm4 >/dev/null || { echo "skip x86-clients: packages cannot be installed"; exit 77; }
headers=$PWD/compat/libpfm4/include
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cp -L "$B/libpfm4/libpfm.so.4" "$work/libpfm-ours.so"
perf=$(command -v perf) exegesis=/usr/lib/llvm-14/bin/llvm-exegesis env=$(command -v env)
mapfile -t libraries < <(ldd "$perf" "$exegesis" "$env" | grep -o '=> /[^ ]*' | cut -c4- | sort -u)
loader=$(ldd "$env" | grep -o '/[^ ]*ld-linux[^ ]*')

# The guest has no shared libraries of its own: the test names the loader, and gives it their folder.
run=("${loader##*/}" --library-path /bin) commands=()
for cpu in GenuineIntel-6-{55-4,6A-6,3C-3,8F-6} AuthenticAMD-{23-31-0,25-1-1}; do
	commands+=(-x "${run[*]} /bin/env PERF_CPUID=$cpu /bin/${run[*]} /bin/perf list --details pmu")
done
for preload in '' '--preload /bin/libpfm-ours.so'; do
	for mode in latency uops; do
		commands+=(-x "${run[*]} $preload /bin/llvm-exegesis --mode=$mode --opcode-name=ADD64rr --mcpu=skylake-avx512")
	done
done
# Settings that its build would generate, and its own tests for std::regex.
if src=$(tools/source benchmark); then
	cat >"$work/loop.cc" <<'END'
#include <benchmark/benchmark.h>
static void loop(benchmark::State &state)
{
	for (auto _ : state) {
		long n = 100000;

		__asm__ volatile("1: dec %0; jnz 1b" : "+r"(n));
	}
}
BENCHMARK(loop)->Iterations(10);
BENCHMARK_MAIN();
END
	printf '%s\n' "$src"/src/*.cc "$work/loop.cc" | grep -v benchmark_main |
		(cd "$work" && xargs -P 2 -I{} g++ -std=c++11 -w -DHAVE_LIBPFM -DHAVE_POSIX_REGEX -DHAVE_STEADY_CLOCK -DNDEBUG \
			-I"$src/include" -I"$headers" -c {}) >"$work/said" 2>&1 &&
		g++ -static -s -o "$work/benchmark" "$work"/*.o "$B/libpfm4/libpfm.a" -lpthread -lm >>"$work/said" 2>&1
	commands+=(-x "benchmark --benchmark_format=csv --benchmark_perf_counters=INST_RETIRED:ANY_P,BRANCH_INSTRUCTIONS_RETIRED")
fi
# Sets of one to five events: each number has code of its own. Then two regions, one of them with a read.
cat >"$work/papi.c" <<'END'
#include <papi.h>
#include <stdio.h>
static char *const names[] = {"INST_RETIRED:ANY_P", "BR_INST_RETIRED:ALL_BRANCHES", "perf::INSTRUCTIONS", "perf::BRANCHES", "perf::TASK-CLOCK"};
static const long long each[] = {200000, 100000, 200000, 100000, 0};
static void loop(void)
{
	long n = 100000;

	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(n));
}
int main(void)
{
	int set, code = PAPI_library_init(PAPI_VER_CURRENT);

	for (int n = 1; n <= 5; n++) {
		set = PAPI_NULL;
		code = PAPI_create_eventset(&set);
		for (int i = 0; i < n && code == PAPI_OK; i++)
			code = PAPI_add_named_event(set, names[i]);
		for (int round = 0; round < 2; round++) {
			long long value[3][5] = {{0}};

			code += PAPI_start(set);
			loop();
			code += PAPI_read(set, value[0]);
			loop();
			code += PAPI_accum(set, value[1]);
			loop();
			code += PAPI_stop(set, value[2]);
			for (int i = 0; i < 3 * n; i++) {
				long long is = value[i / n][i % n], loops = i / n == 1 ? 2 : 1, least = loops * each[i % n];
				int right = code == PAPI_OK && is >= least && (!least || is < least + 3000);

				printf("papi %s %d %d of %d: %d, %lld\n", right ? "right" : "wrong", i / n, i % n + 1, n, code, is);
			}
		}
		PAPI_cleanup_eventset(set);
		PAPI_destroy_eventset(&set);
	}
	for (int i = 0; i < 3; i++) {
		PAPI_hl_region_begin("outer");
		loop();
		PAPI_hl_region_begin("inner");
		loop();
		if (i == 2)
			PAPI_hl_read("inner");
		PAPI_hl_region_end("inner");
		PAPI_hl_region_end("outer");
	}
	return 0;
}
END
gcc -O2 -Icompat/papi/include -o "$work/papi" "$work/papi.c" -L"$B/papi" -l:libpapi.so.7.0 || exit 1
for n in 1 2 3 4; do
	events=(INST_RETIRED:ANY_P BR_INST_RETIRED:ALL_BRANCHES perf::INSTRUCTIONS perf::BRANCHES)
	commands+=(-x "${run[*]} /bin/env PAPI_REPORT=1 PAPI_OUTPUT_DIRECTORY=/tmp PAPI_EVENTS=$(IFS=,; echo "${events[*]:0:n}") /bin/${run[*]} /bin/papi")
done
tests/guest/boot x86 -m 2000 "${commands[@]}" "$perf" "$exegesis" "$env" "$work/libpfm-ours.so" "$loader" "$work/papi" "$B/papi/libpapi.so.7.0" \
	${src:+"$work/benchmark"} "${libraries[@]}" >"$work/out" 2>&1

failed=0
result() { if [ "$2" = 0 ]; then echo "ok x86-clients/$1"; else echo "not ok x86-clients/$1"; failed=1; fi; }

# Accepted differences of codes: perf 6.1 uses general counters for events that have fixed counters, and the vendor
# has corrected or withdrawn some codes.
cat >"$work/rules" <<'END'
fixed hsw cpu_clk_unhalted.thread
fixed hsw cpu_clk_unhalted.thread_any
fixed hsw inst_retired.any
fixed icx cpu_clk_unhalted.thread
fixed icx inst_retired.any
fixed skx cpu_clk_unhalted.thread
fixed skx cpu_clk_unhalted.thread_any
fixed skx inst_retired.any
fixed spr cpu_clk_unhalted.thread
fixed spr inst_retired.any
newer hsw uops_retired.total_cycles
newer skx uops_retired.stall_cycles
newer skx uops_retired.total_cycles
newer spr amx_ops_retired.bf16
newer spr amx_ops_retired.int8
newer spr arith.idiv_active
END
cat >"$work/names.py" <<'END'
import re, subprocess, sys
PMUS = {'6-55-4': 'skx', '6-6A-6': 'icx', '6-3C-3': 'hsw', '6-8F-6': 'spr',
        '23-31-0': 'amd64_fam17h_zen2', '25-1-1': 'amd64_fam19h_zen3'}
SHIFT = {'event': 0, 'umask': 8, 'edge': 18, 'any': 21, 'inv': 23, 'cmask': 24, 'in_tx': 32, 'in_tx_cp': 33}
asked, pmu, name = [], None, None
for line in open(sys.argv[1], errors='replace'):
    line = line.rstrip()
    if line.startswith('@@ run'):
        cpu = re.search(r'PERF_CPUID=\w+-(\S+)', line)
        pmu, name = PMUS[cpu.group(1)] if cpu else None, None
    elif pmu and re.match(r'  [a-z]\S*$', line):
        name = line.strip()
    elif name and (terms := re.match(r'\s{8}cpu/(.*)/$', line)):
        config = config1 = 0
        for term in terms.group(1).split(','):
            key, _, value = term.partition('=')
            value = int(value or '1', 0)
            if key == 'event' and pmu.startswith('amd'):
                value = value & 0xff | value >> 8 << 32
            if key in SHIFT:
                config |= value << SHIFT[key]
            elif key != 'period':
                config1 = value
        asked.append((pmu, name, config, config1))
        name = None
lines = ''.join('%s::%s\t8\t2\n' % a[:2] for a in asked)
answers = subprocess.run([sys.argv[2], 'encode', '--batch'], input=lines, capture_output=True, text=True).stdout
for (pmu, name, *want), answer in zip(asked, answers.splitlines(), strict=True):
    c = answer.split('\t')
    have = [int(x, 16) for x in c[4].split(':')[1:3]] if c[3] == 'OK' else None
    # perf 6.1 prints the lower half of the offcore response.
    if not have or [have[0], have[1] & 0xffffffff] != want:
        print(pmu, name)
        print('#', name, want, have or c[3], file=sys.stderr)
print(len(asked), file=open(sys.argv[3], 'w'))
END
rc=0
python3 "$work/names.py" "$work/out" "$B/tach" "$work/count" 2>"$work/said" | sort >"$work/differ"
[ "$(cat "$work/count")" -gt 1900 ] || { tail -n 5 "$work/out" | sed 's/^/# /'; rc=1; }
diff <(cut -d' ' -f2- "$work/rules" | sort) "$work/differ" || { cat "$work/said"; rc=1; }
result perf_list $rc

# Names of counters are libpfm-4's, and the emulator makes their counts: numbers agree within a hundredth.
measured() { grep -oE 'key: [A-Za-z0-9_]+, value: [0-9.]+' "$work/out" | sed -E 's/(\.[0-9]{2})[0-9]*$/\1/'; }
n=$(measured | wc -l)
[ "$n" -ge 20 ] && cmp -s <(measured | head -n $((n / 2))) <(measured | tail -n $((n / 2)))
rc=$?
[ $rc = 0 ] || { measured; grep error "$work/out"; } | sed 's/^/# /'
result llvm_exegesis $rc

# 4 runs of (1 + 2 + 3 + 4 + 5) * 3 calls * 2 rounds. Each has 6 entries of regions, with a read in one.
papi() { grep "^papi $1" "$work/out"; }
[ "$(papi right | wc -l)" = 360 ] && ! papi wrong >"$work/said"
rc=$?
[ $rc = 0 ] || { papi wrong; tail -n 5 "$work/out"; } | head -n 20 | sed 's/^/# /'
result papi $rc
tr -d '\r' <"$work/out" | awk -F'"' '
	/^PAPI-HL Output/ { runs++ }
	$2 == "name" { loops = $4 == "outer" ? 2 : 1 }
	$2 !~ /^(region_value|read_)/ { event = $2 }
	event ~ /INST|BRANCH/ && $4 != "" && loops {
		want = loops * (event ~ /BR/ ? 100000 : 200000); n++
		if ($4 < want || $4 >= want + 3000) { print "# " event ": " $4 " in " loops " loops"; bad++ } }
	/event_definitions/ { loops = 0 }
	END { exit bad || runs != 4 || n != 10 * 7 }'
result papi_regions $?

if [ -z "$src" ]; then
	echo "skip x86-clients/google_benchmark: its source cannot be fetched"
else
	# 200,000 instructions and 100,000 branches per iteration, the code around ten iterations (a tenth each), and
	# the kernel's ticks.
	awk -F, '/^"loop/ { found = $(NF - 1) >= 100000 && $(NF - 1) < 100500 && $NF >= 200000 && $NF < 202000 }
		END { exit !found }' "$work/out"
	rc=$?
	[ $rc = 0 ] || { tail -n 5 "$work/said"; grep -A1 '^name,' "$work/out"; } | sed 's/^/# /'
	result google_benchmark $rc
fi
exit $failed
