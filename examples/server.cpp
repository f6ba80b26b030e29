/* SPDX-License-Identifier: MIT */
/*
 * A server whose requests cross three threads: one reads a request, one of several workers
 * computes it, one answers. Each request is a task, so its cost is one sum across threads. Its
 * tag is the request's number: the report names the slowest requests by it.
 *
 * 	TACH_OUTPUT=- TACH_WORST=3 ./server it is its own client, and exits
 * 	TACH_OUTPUT=server.json ./server 8080	until SIGTERM
 * 	tach top $(pidof server) inspects it while it runs
 * 	printf '5000\n' | nc -N localhost 8080 sends a request: the number of terms to add
 */
#include <arpa/inet.h>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>
#include <tach.hpp>

namespace
{

struct request {
	tach_task task = {};
	int fd = -1;
	long terms = 0;
	double answer = 0;
};
using owner = std::unique_ptr<request>;

/* Its lock orders the threads that handle a request one after another. */
class queue
{
      public:
	void put(owner r)
	{
		std::lock_guard hold(lock);
		waiting.push_back(std::move(r));
		more.notify_one();
	}
	/* Null: the queue is closed. */
	owner get()
	{
		std::unique_lock hold(lock);
		more.wait(hold, [this] { return over || !waiting.empty(); });
		if (waiting.empty())
			return nullptr;
		owner r = std::move(waiting.front());
		waiting.pop_front();
		return r;
	}
	void close()
	{
		std::lock_guard hold(lock);
		over = true;
		more.notify_all();
	}

      private:
	std::mutex lock;
	std::condition_variable more;
	std::deque<owner> waiting;
	bool over = false;
};

queue to_compute, to_answer;

/* Reads a line with a number. The wait is not part of the region. */
owner receive(int fd, std::uint64_t number)
{
	char text[32];
	ssize_t n = read(fd, text, sizeof text - 1);
	auto r = std::make_unique<request>();

	r->fd = fd;
	r->task.tag = number;
	TACH_TASK_BEGIN(&r->task, request);
	{
		TACH_SCOPE(parse);
		text[n > 0 ? n : 0] = '\0';
		r->terms = std::strtol(text, nullptr, 10);
	}
	tach_task_suspend(&r->task);
	return r;
}

void compute()
{
	while (owner r = to_compute.get()) {
		tach_task_resume(&r->task);
		{
			TACH_SCOPE(compute);
			for (long i = 1; i <= r->terms && i < 100000000; i++)
				r->answer += 1.0 / static_cast<double>(i);
		}
		tach_task_suspend(&r->task);
		to_answer.put(std::move(r));
	}
}

void answer()
{
	while (owner r = to_answer.get()) {
		char text[64];
		int n;

		tach_task_resume(&r->task);
		{
			TACH_SCOPE(respond);
			n = std::snprintf(text, sizeof text, "%.6f\n", r->answer);
			if (send(r->fd, text, static_cast<std::size_t>(n), MSG_NOSIGNAL) < 0)
				std::perror("send");
		}
		tach_task_end(&r->task);
		close(r->fd);
	}
}

/* requests < 0: for ever. */
void serve(int door, int requests)
{
	std::vector<std::thread> workers;
	std::thread speaker(answer);

	for (int i = 0; i < 3; i++)
		workers.emplace_back(compute);
	for (std::uint64_t n = 0; requests < 0 || n < static_cast<unsigned>(requests); n++) {
		int fd = accept(door, nullptr, nullptr);

		if (fd >= 0)
			to_compute.put(receive(fd, n));
	}
	to_compute.close();
	for (auto &w : workers)
		w.join();
	to_answer.close();
	speaker.join();
}

/* Request 13 asks for a hundred times more work than the others. */
void ask(sockaddr_in at, int requests)
{
	for (int i = 0; i < requests; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		std::string line = i == 13 ? "2000000\n" : "20000\n";
		char text[64];

		if (connect(fd, reinterpret_cast<sockaddr *>(&at), sizeof at) != 0 ||
		    write(fd, line.data(), line.size()) < 0 || read(fd, text, sizeof text) <= 0)
			std::perror("client");
		close(fd);
	}
}

} // namespace

int main(int argc, char **argv)
{
	constexpr int own = 50;
	int door = socket(AF_INET, SOCK_STREAM, 0);
	sockaddr_in at = {};
	socklen_t size = sizeof at;

	at.sin_family = AF_INET;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	at.sin_port = htons(static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 0));
	if (bind(door, reinterpret_cast<sockaddr *>(&at), sizeof at) != 0 ||
	    listen(door, 64) != 0 ||
	    getsockname(door, reinterpret_cast<sockaddr *>(&at), &size) != 0) {
		std::perror("server");
		return 1;
	}
	if (argc > 1) {
		serve(door, -1);
	} else {
		std::thread client(ask, at, own);

		serve(door, own);
		client.join();
		std::printf("%d requests on port %d\n", own, ntohs(at.sin_port));
	}
}
