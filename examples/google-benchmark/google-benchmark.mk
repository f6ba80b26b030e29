# `make google-benchmark`: our counters under Debian's google-benchmark.
google_benchmark := $(B)/examples/google-benchmark/loops

$(google_benchmark): examples/google-benchmark/loops.cc $(B)/libtach.a $(headers)
	@mkdir -p $(@D)
	g++ -std=c++11 -O2 -Wall -Wextra -Werror -Iinclude -o $@ $< $(B)/libtach.a $(static_libs) -lbenchmark -lpthread

# For compare.py and its dependencies: tests/check/slow/google-benchmark.sh
slow_packages += libbenchmark-tools libbenchmark-dev python3-scipy catch2
google-benchmark: need-build
	@tools/need libbenchmark-dev g++
	+@$(MAKE) --no-print-directory -s $(google_benchmark)
	@$(google_benchmark) --benchmark_min_time=0.2

.PHONY: google-benchmark
