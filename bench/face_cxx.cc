// SPDX-License-Identifier: MIT
// face.c in C++: shows for bench/faces what tach.hpp adds.
#include <cstdlib>
#include <cstring>
#include <tach.hpp>

static __attribute__((noinline)) void reads(tach::reader &reader, long n)
{
	uint64_t value[1];

	for (long i = 0; i < n; i++) {
		reader.read(value);
		__asm__ volatile("" : : "r"(value[0]));
	}
}

static __attribute__((noinline)) void pairs(tach::reader &reader, long n)
{
	uint64_t delta[1];

	for (long i = 0; i < n; i++) {
		reader.measure(delta, [] {});
		__asm__ volatile("" : : "r"(delta[0]));
	}
}

static __attribute__((noinline)) void regions(long n)
{
	for (long i = 0; i < n; i++) {
		TACH_GUARD(face);
		__asm__ volatile("");
	}
}

static __attribute__((noinline)) void nothing(long n)
{
	for (long i = 0; i < n; i++)
		__asm__ volatile("");
}

int main(int argc, char **argv)
{
	tach_regions_options opt = tach_regions_options();
	tach::set set("instructions");
	tach::reader reader(set);
	long n = argc > 2 ? std::atol(argv[2]) : 0;
	const char *what = argc > 2 ? argv[1] : "";

	opt.events = "instructions";
	if (std::strcmp(what, "read") == 0)
		reads(reader, n);
	else if (std::strcmp(what, "pair") == 0)
		pairs(reader, n);
	else if (std::strcmp(what, "region") == 0 && tach_regions_configure(&opt, nullptr) == 0)
		regions(n);
	else if (std::strcmp(what, "nothing") == 0)
		nothing(n);
	else
		return 2;
	return 0;
}
