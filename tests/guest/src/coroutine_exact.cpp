/* SPDX-License-Identifier: MIT */
/*
 * Two coroutines in turns on one thread, each with a region that follows it
 * (tach/coroutine.hpp). The language adds the same to each segment, so the difference of their
 * loops is exact. If the kernel interrupted an entry, it is flagged and everything is repeated.
 */
#include <coroutine>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <tach.hpp>

namespace
{

constexpr int SEGMENTS = 100, SHORT = 1000, LONG = 3000, MOST = 100;

struct routine {
	struct promise_type : tach::following {
		routine get_return_object()
		{
			return {std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend() noexcept
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
		}
	};
	std::coroutine_handle<promise_type> handle;
};

/* 2 n instructions, and the setup. */
inline void loop(uint32_t n)
{
#if defined(__x86_64__)
	__asm__ volatile("1:\tdec %0\n\tjnz 1b" : "+r"(n) : : "cc");
#elif defined(__aarch64__)
	__asm__ volatile("1:\tsubs %w0, %w0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
#else
	(void)n;
#endif
}

routine work(tach_site *site, uint32_t n)
{
	tach::follower region(co_await tach::this_coroutine{}, *site);

	for (int i = 0; i < SEGMENTS; i++) {
		loop(n);
		co_await std::suspend_always{};
	}
}

tach_site sites[2] = {TACH_SITE_INIT("short", 0, ""), TACH_SITE_INIT("long", 0, "")};

/* 1: right, 0: wrong, -1: interrupted. */
int judge()
{
	double value[2] = {0, 0};
	tach_snapshot *shot;
	uint64_t flagged = 0;

	if (tach_snapshot_take(&shot, nullptr) != 0)
		return 0;
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_region_info info = tach_region_info();
		tach_value v{};

		tach_snapshot_region(shot, r, &info);
		for (int i = 0; i < 2; i++) {
			if (std::strcmp(info.name, sites[i].name) != 0)
				continue;
			tach_snapshot_value(shot, r, 1, TACH_PART_INCLUSIVE, &v);
			value[i] = v.raw - v.overhead;
			flagged += info.provenance[0];
			if (info.calls != 1)
				flagged += 1000000;
		}
	}
	tach_snapshot_free(shot);
	std::printf("# short %.0f, long %.0f, rescheduled %llu\n", value[0], value[1],
		    static_cast<unsigned long long>(flagged));
	if (value[1] - value[0] == 2.0 * (LONG - SHORT) * SEGMENTS &&
	    value[0] >= 2.0 * SHORT * SEGMENTS && value[0] < (2.0 * SHORT + MOST) * SEGMENTS)
		return 1;
	return flagged > 0 && flagged < 1000000 ? -1 : 0;
}

int once(bool two)
{
	tach_regions_options opt = tach_regions_options();
	tach_error err = TACH_ERROR_INIT;

	opt.events = two ? "instructions,cycles" : "instructions";
	if (tach_regions_configure(&opt, &err) != 0) {
		std::printf("# %s\n", err.text);
		return 0;
	}
	routine a = work(&sites[0], SHORT), b = work(&sites[1], LONG);
	while (!a.handle.done()) {
		a.handle.resume();
		loop(10000);
		b.handle.resume();
		loop(20000);
	}
	a.handle.destroy();
	b.handle.destroy();
	return judge();
}

} // namespace

int main()
{
	int failed = 0;

	for (int two = 0; two < 2; two++) {
		int got = -1;

		for (int tries = 0; tries < 50 && got < 0; tries++)
			got = once(two != 0);
		failed += got != 1;
	}
	std::printf("%sok coroutine_exact\n", failed ? "not " : "");
	return failed != 0;
}
