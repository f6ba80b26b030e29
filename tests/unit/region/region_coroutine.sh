#!/usr/bin/env bash
# Regions that follow C++20 coroutines (tach/coroutine.hpp), with both compilers: a region belongs to its coroutine,
# whatever the thread does between suspension and resumption, and whichever thread resumes it.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cat >"$work/coroutine.cc" <<'END'
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <sys/mman.h>
#include <tach.hpp>

static int bad;
#define CHECK(is) ((is) ? (void)0 : (void)(bad = 1, std::printf("# line %d: %s\n", __LINE__, #is)))

struct routine {
	struct promise_type : tach::following {
		using tach::following::await_transform;
		/* An await_transform of the promise's own. */
		auto await_transform(int)
		{
			return wrap(std::suspend_always{});
		}
		auto yield_value(double)
		{
			return wrap(std::suspend_always{});
		}
		routine get_return_object()
		{
			return {std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend() noexcept { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { thrown = true; }
		bool thrown = false;
	};
	std::coroutine_handle<promise_type> handle;
};

struct refuses { /* throws where others suspend */
	bool await_ready() { return false; }
	void await_suspend(std::coroutine_handle<>) { throw std::runtime_error("refused"); }
	void await_resume() {}
};
struct at_once { /* asks for the coroutine back */
	bool await_ready() { return false; }
	bool await_suspend(std::coroutine_handle<>) { return false; }
	int await_resume() { return 7; }
};
struct ready {
	bool await_ready() { return true; }
	void await_suspend(std::coroutine_handle<>) {}
	int await_resume() { return 8; }
};
struct converts {
	ready operator co_await() const { return {}; }
};

/* As many page faults, and hardly more. */
static void touch(size_t pages)
{
	char *at = static_cast<char *>(mmap(nullptr, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

	madvise(at, pages * 4096, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		static_cast<volatile char *>(at)[i * 4096] = 1;
	munmap(at, pages * 4096);
}

static routine first()
{
	TACH_FOLLOW(first);
	for (int i = 0; i < 3; i++) {
		TACH_FOLLOW(first_inner);
		{
			TACH_GUARD(first_plain);
			touch(10);
		}
		co_await std::suspend_always{};
	}
	CHECK(co_await at_once{} == 7);
	CHECK(co_await ready{} == 8);
	CHECK(co_await converts{} == 8);
	co_await 1;
	co_yield 1.0;
}

static routine second()
{
	TACH_FOLLOW(second);
	for (int i = 0; i < 5; i++) {
		touch(20);
		co_await std::suspend_always{};
	}
}

static routine throws()
{
	TACH_FOLLOW(throws);
	try {
		co_await refuses{};
	} catch (const std::exception &) {
	}
	TACH_FOLLOW(after_throw);
	co_await std::suspend_always{};
	throw 1;
}

static tach_snapshot *shot;
static int quantity; /* 1: page faults are counted */

/* Page faults of that region, or 0 where they are not counted. */
static double value(const char *name, tach_region_info *info)
{
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_value v{};
		*info = tach_region_info();
		tach_snapshot_region(shot, r, info);
		if (std::strcmp(info->name, name))
			continue;
		tach_snapshot_value(shot, r, quantity, TACH_PART_INCLUSIVE, &v);
		return quantity ? v.value : 0;
	}
	std::printf("# no region %s\n", name);
	bad = 1;
	return -1;
}

int main()
{
	tach_regions_options opt = tach_regions_options();
	tach_region_info info;
	tach_counts counts = tach_counts();

	opt.events = "page-faults";
	quantity = tach_regions_configure(&opt, nullptr) == 0;
	opt.events = "";
	if (!quantity && tach_regions_configure(&opt, nullptr) != 0)
		return 1;
	routine a = first(), b = second(), c = throws();
	/* In turns, on several threads, with page faults between the segments that are no region's. */
	while (!a.handle.done() || !b.handle.done()) {
		if (!a.handle.done())
			a.handle.resume();
		std::thread([&] { if (!b.handle.done()) b.handle.resume(); }).join();
		if (!a.handle.done())
			std::thread([&] { a.handle.resume(); }).join();
		touch(1000);
	}
	while (!c.handle.done())
		c.handle.resume();
	CHECK(c.handle.promise().thrown);
	/* Destroyed where it waits: its regions end. */
	routine d = second();
	d.handle.resume();
	d.handle.destroy();
	a.handle.destroy();
	b.handle.destroy();
	c.handle.destroy();
	CHECK(tach_snapshot_take(&shot, nullptr) == 0);
	tach_snapshot_counts(shot, &counts);
	CHECK(counts.refused == 0 && counts.lost == 0);
	auto faults = [](double got, double least) { return !quantity || (got >= least && got < least + 500); };
	CHECK(faults(value("first", &info), 30) && info.calls == 1 && info.lost == 0);
	CHECK(faults(value("first_inner", &info), 30) && info.calls == 3 && info.lost == 0);
	CHECK(faults(value("first_plain", &info), 30) && info.calls == 3 && info.lost == 0);
	CHECK(faults(value("second", &info), 120) && info.calls == 2 && info.lost == 0);
	CHECK(faults(value("throws", &info), 0) && info.calls == 1 && info.lost == 0);
	CHECK(faults(value("after_throw", &info), 0) && info.calls == 1 && info.lost == 0);
	tach_snapshot_free(shot);
	return bad;
}
END
failed=0
for compiler in "g++ -O2" "g++ -O0" "clang++ -O2" "g++ -O2 -DTACH_DISABLE"; do
	read -ra command <<<"$compiler"
	command -v "${command[0]}" >/dev/null || { echo "skip coroutine $compiler: ${command[0]} is not installed"; continue; }
	bad=0
	"${command[@]}" -std=c++20 -Wall -Wextra -Werror -Wno-unused-function -Iinclude -o "$work/coroutine" "$work/coroutine.cc" "$B/libtach.a" -lurcu-bp -lm -lpthread -ldl || bad=1
	# If regions are disabled, nothing is counted, but the program compiles.
	[ $bad = 1 ] || [[ $compiler = *DISABLE ]] || "$work/coroutine" || bad=1
	if [ $bad = 0 ]; then echo "ok coroutine $compiler"; else echo "not ok coroutine $compiler"; failed=1; fi
done
exit $failed
