/* SPDX-License-Identifier: MIT */
/*
 * Two coroutines alternate on one thread, each with a region that follows it
 * (tach/coroutine.hpp). The compiler adds the same code to each segment, so the difference of
 * their loops is exact. Two more coroutines nest two regions of one site. If the kernel
 * interrupted an entry, it is flagged and everything is repeated.
 */
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <tach.hpp>

namespace
{

constexpr int SEGMENTS = 100, NESTED = 3, SHORT = 1000, LONG = 3000, MOST = 100;

/*
 * Frames have equal positions in a page, because on arm64 the address decides how many
 * instructions clear a frame.
 */
alignas(4096) unsigned char frames[2][4096];
int nframes;

struct routine {
	struct promise_type : tach::following {
		static void *operator new(std::size_t size)
		{
			return size > sizeof frames[0] ? ::operator new(size)
						       : frames[nframes++ % 2];
		}
		static void operator delete(void *, std::size_t) noexcept
		{
		}
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

/* NESTED loops; the second one is in a region of the same site inside the first region. */
routine work_nested(tach_site *site, uint32_t n)
{
	tach::follower outer(co_await tach::this_coroutine{}, *site);

	loop(n);
	co_await std::suspend_always{};
	{
		tach::follower inner(co_await tach::this_coroutine{}, *site);

		loop(n);
		co_await std::suspend_always{};
	}
	loop(n);
	co_await std::suspend_always{};
}

tach_site sites[4] = {TACH_SITE_INIT("short", 0, ""), TACH_SITE_INIT("long", 0, ""),
		      TACH_SITE_INIT("short, nested", 0, ""),
		      TACH_SITE_INIT("long, nested", 0, "")};

/* Checks the sites `at` and `at + 1`. Returns 1: right, 0: wrong, -1: interrupted. */
int judge(const tach_snapshot *shot, int at, int loops, uint64_t calls)
{
	double value[2] = {0, 0};
	uint64_t flagged = 0;

	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_region_info info = tach_region_info();
		tach_value v{};

		tach_snapshot_region(shot, r, &info);
		for (int i = 0; i < 2; i++) {
			if (std::strcmp(info.name, sites[at + i].name) != 0)
				continue;
			tach_snapshot_value(shot, r, 1, TACH_PART_INCLUSIVE, &v);
			value[i] = v.raw - v.overhead;
			flagged += info.provenance[0];
			if (info.calls != calls)
				flagged += 1000000;
		}
	}
	std::printf("# %s %.0f, %s %.0f, rescheduled %llu\n", sites[at].name, value[0],
		    sites[at + 1].name, value[1], static_cast<unsigned long long>(flagged));
	if (value[1] - value[0] == 2.0 * (LONG - SHORT) * loops &&
	    value[0] >= 2.0 * SHORT * loops && value[0] < (2.0 * SHORT + MOST) * loops)
		return 1;
	return flagged > 0 && flagged < 1000000 ? -1 : 0;
}

int judge_all()
{
	tach_snapshot *shot;
	int plain, nested;

	if (tach_snapshot_take(&shot, nullptr) != 0)
		return 0;
	plain = judge(shot, 0, SEGMENTS, 1);
	nested = judge(shot, 2, NESTED, 2);
	tach_snapshot_free(shot);
	return plain == 1 && nested == 1 ? 1 : plain == 0 || nested == 0 ? 0 : -1;
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
	a = work_nested(&sites[2], SHORT);
	b = work_nested(&sites[3], LONG);
	while (!a.handle.done()) {
		a.handle.resume();
		loop(10000);
		b.handle.resume();
		loop(20000);
	}
	a.handle.destroy();
	b.handle.destroy();
	return judge_all();
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
