/* SPDX-License-Identifier: MIT */
/*
 * Regions of C++20 coroutines. Such a region stops at each co_await and continues after it, on
 * any thread. tach.hpp includes this header.
 */
#ifndef TACH_COROUTINE_HPP
#define TACH_COROUTINE_HPP

#include <tach.hpp>

#if defined(__cpp_impl_coroutine) && __cplusplus >= 202002L
#include <coroutine>
#include <type_traits>

namespace tach
{

class follower;

/* `co_await this_coroutine{}` returns the `following` of the coroutine's promise. It never
 * suspends. */
struct this_coroutine {
};

/*
 * A base of promise types:
 *
 *	struct promise_type : tach::following { ... };
 *
 * It wraps each object that the coroutine awaits. If a promise has its own await_transform,
 * declare `using tach::following::await_transform;` and return wrap(...) from yours. A
 * yield_value must return wrap(...) of its awaiter. A `following` cannot be copied, because
 * guards point to it.
 */
class following
{
      public:
	following() noexcept = default;
	following(const following &) = delete;
	following &operator=(const following &) = delete;

	/* Returns an awaiter that suspends the coroutine's regions while it waits for
	 * `what`. */
	template <class awaitable> auto wrap(awaitable &&what)
	{
		return waiting<decltype(awaiter_of(std::forward<awaitable>(what)))>{
			this, awaiter_of(std::forward<awaitable>(what))};
	}
	template <class awaitable> auto await_transform(awaitable &&what)
	{
		return wrap(std::forward<awaitable>(what));
	}
	auto await_transform(this_coroutine) noexcept
	{
		struct here {
			following *self;

			bool await_ready() const noexcept
			{
				return true;
			}
			void await_suspend(std::coroutine_handle<>) const noexcept
			{
			}
			following &await_resume() const noexcept
			{
				return *self;
			}
		};
		return here{this};
	}

      private:
	friend class follower;

	/* Finds the awaiter by the rules of the language, which may give a reference. */
	template <class awaitable> static decltype(auto) awaiter_of(awaitable &&what)
	{
		if constexpr (requires { std::forward<awaitable>(what).operator co_await(); })
			return std::forward<awaitable>(what).operator co_await();
		else if constexpr (requires {
					   operator co_await(std::forward<awaitable>(what));
				   })
			return operator co_await(std::forward<awaitable>(what));
		else
			return static_cast<awaitable &&>(what);
	}

	template <class awaiter> struct waiting {
		following *self;
		awaiter inner;
		bool suspended = false;

		bool await_ready()
		{
			return inner.await_ready();
		}
		/*
		 * Suspends the regions before it gives the handle to the awaiter. After that,
		 * another thread may resume the coroutine and destroy this object.
		 */
		template <class promise>
		auto await_suspend(std::coroutine_handle<promise> handle)
		{
			using result = decltype(inner.await_suspend(handle));
			struct undo {
				waiting *thrown;
				~undo()
				{
					if (thrown)
						thrown->go_on();
				}
			} undo{this};

			suspended = true;
			self->suspend();
			if constexpr (std::is_void_v<result>) {
				inner.await_suspend(handle);
				undo.thrown = nullptr;
			} else {
				result then = inner.await_suspend(handle);

				undo.thrown = nullptr;
				return then;
			}
		}
		decltype(auto) await_resume()
		{
			go_on();
			return inner.await_resume();
		}
		void go_on() noexcept
		{
			if (suspended)
				self->resume();
			suspended = false;
		}
	};

	inline void suspend() noexcept;
	inline void resume() noexcept;

	follower *last = nullptr; /* the innermost open region */
};

/*
 * A region from here to the end of the block, in the coroutine's own time:
 *
 *	TACH_FOLLOW(parse);
 *
 * The region is a task (tach/task.h). The time between two suspensions is a segment. The
 * region's calls are the calls of the block, and its values are the sums of all segments.
 */
class follower
{
      public:
	follower(following &coroutine, tach_site &site) noexcept
	    : around(coroutine.last), of(coroutine)
	{
		of.last = this;
		tach_task_begin(&task, &site);
	}
	follower(const follower &) = delete;
	follower &operator=(const follower &) = delete;
	~follower()
	{
		tach_task_end(&task);
		of.last = around;
	}
	/* Use it for tach_task_value, and to set the tag of the region's entry. */
	tach_task &get() noexcept
	{
		return task;
	}

      private:
	friend class following;

	follower *around, *inside = nullptr;
	following &of;
	tach_task task{};
};

/* Suspends regions from the innermost to the outermost, and links them for resume(). */
inline void following::suspend() noexcept
{
	follower *inside = nullptr;

	for (follower *f = last; f; f = f->around) {
		tach_task_suspend(&f->task);
		f->inside = inside;
		inside = f;
	}
}

inline void following::resume() noexcept
{
	follower *f = last;

	while (f && f->around)
		f = f->around;
	for (; f; f = f->inside)
		tach_task_resume(&f->task);
}

} // namespace tach

#ifdef TACH_DISABLE
#define TACH_FOLLOW(name) ((void)0)
#else
#define TACH_FOLLOW(name)                                                                      \
	static struct tach_site tach__site_##name = TACH_SITE_INIT(#name, 0, __func__);        \
	::tach::follower tach__follower_##name(co_await ::tach::this_coroutine{},              \
					       *TACH_ADDRESS(tach__site_##name))
#endif
#endif
#endif
