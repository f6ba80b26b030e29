// SPDX-License-Identifier: MIT
//
// A server of coroutines (C++20), each of which is a task: it is suspended at every co_await and goes
// on on whichever thread takes it from the queue. Regions inside end before it suspends.
//
//	TACH_OUTPUT=- TACH_WORST=3 ./coroutines
//
// What makes a coroutine a task is the promise alone: await_transform wraps what is awaited.
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

// Handles that are to go on, and the threads that take them.
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
std::atomic<int> flagged;

struct elsewhere { // goes on on another thread, perhaps
};

struct request {
	struct promise_type {
		tach_task task{};

		explicit promise_type(int number)
		{
			task.tag = static_cast<uint64_t>(number);
			TACH_TASK_BEGIN(&task, request);
		}
		~promise_type()
		{
			double ns = 0;

			tach_task_end(&task);
			if (tach_task_value(&task, 0, &ns) & TACH_FLAG_LOST)
				flagged++;
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
		auto await_transform(elsewhere)
		{
			struct awaiter {
				tach_task *task;

				bool await_ready()
				{
					return false;
				}
				void await_suspend(std::coroutine_handle<> handle)
				{
					// Before another thread may have it.
					tach_task_suspend(task);
					threads.put(handle);
				}
				void await_resume()
				{
					tach_task_resume(task);
				}
			};
			return awaiter{&task};
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
	for (int stage = 0; stage < 3; stage++) {
		compute(number == 13 ? 200000 : 2000); // one is slow
		co_await elsewhere{};
	}
}

} // namespace

int main()
{
	constexpr int requests = 50;

	if (!tach_regions_enabled())
		tach_regions_configure(nullptr, nullptr); // as the environment says
	left = requests;
	for (int i = 0; i < requests; i++)
		serve(i);
	{
		std::jthread pool[3];
		for (auto &t : pool)
			t = std::jthread([] { threads.run(); });
	}
	std::printf("%d requests, %d not counted in full\n", requests, flagged.load());
	return flagged != 0;
}
