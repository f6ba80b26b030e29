// SPDX-License-Identifier: MIT
//
// A server of coroutines (C++20). Its regions follow the coroutines: they stop at each co_await
// and continue after it, on any thread that takes the coroutine from the queue.
//
// 	TACH_OUTPUT=- TACH_WORST=3 ./coroutines
//
// The promise derives from tach::following; TACH_FOLLOW begins a region of the coroutine.
#include <atomic>
#include <condition_variable>
#include <coroutine>
#include <cstdio>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <tach.hpp>

namespace
{

// Handles of ready coroutines, and the threads that run them.
class executor
{
      public:
	void put(std::coroutine_handle<> handle)
	{
		std::lock_guard<std::mutex> hold(lock);
		queue.push_back(handle);
		more.notify_one();
	}
	void run()
	{
		std::unique_lock<std::mutex> hold(lock);
		for (;;) {
			more.wait(hold, [this] { return over || !queue.empty(); });
			if (queue.empty())
				return;
			auto handle = queue.front();
			queue.pop_front();
			hold.unlock();
			handle.resume();
			hold.lock();
		}
	}
	void end()
	{
		std::lock_guard<std::mutex> hold(lock);
		over = true;
		more.notify_all();
	}

      private:
	std::mutex lock;
	std::condition_variable more;
	std::deque<std::coroutine_handle<>> queue;
	bool over = false;
};

executor threads;
std::atomic<int> left;

// Continues, possibly on another thread.
struct elsewhere {
	bool await_ready()
	{
		return false;
	}
	void await_suspend(std::coroutine_handle<> handle)
	{
		threads.put(handle);
	}
	void await_resume()
	{
	}
};

struct request {
	struct promise_type : tach::following {
		~promise_type()
		{
			if (--left == 0)
				threads.end();
		}
		request get_return_object()
		{
			return {};
		}
		std::suspend_never initial_suspend() noexcept
		{
			return {};
		}
		std::suspend_never final_suspend() noexcept
		{
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			std::terminate();
		}
	};
};

void compute(int n)
{
	TACH_GUARD(compute);
	for (int i = 0; i < n; i++)
		__asm__ volatile("");
}

request serve(int number)
{
	TACH_FOLLOW(request);
	for (int stage = 0; stage < 3; stage++) {
		TACH_FOLLOW(stage);		       // around a co_await
		compute(number == 13 ? 200000 : 2000); // one is slow
		co_await elsewhere{};
		compute(1000);
	}
}

} // namespace

int main()
{
	constexpr int requests = 50;

	if (!tach_regions_enabled())
		tach_regions_configure(nullptr, nullptr); // configured by the environment
	left = requests;
	for (int i = 0; i < requests; i++)
		serve(i);
	{
		std::jthread pool[3];
		for (auto &t : pool)
			t = std::jthread([] { threads.run(); });
	}
	std::printf("%d requests\n", requests);
	return left != 0;
}
