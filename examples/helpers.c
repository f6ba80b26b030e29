/* SPDX-License-Identifier: MIT */
/*
 * A loop in a pool of threads: the region around it counts its own thread, and the pool's
 * threads count their parts as its helpers. The report shows both, and their sum:
 *
 * 	TACH_OUTPUT=- build/examples/helpers
 */
#include <pthread.h>
#include <stdio.h>
#include <tach.h>

enum { THREADS = 3, ROUNDS = 20, N = 40000, PIECE = 1000 };

/* A loop that threads share; each takes the next piece. */
struct loop {
	void (*body)(int i, void *data);
	void *data;
	int n, next, busy;
	struct tach_team team; /* the regions that it works for */
};

static struct loop *now;
static int ending;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void run_pieces(struct loop *loop)
{
	struct tach_help help;
	int at;

	tach_team_join(&loop->team, &help);
	while ((at = __atomic_fetch_add(&loop->next, PIECE, __ATOMIC_RELAXED)) < loop->n)
		for (int i = at; i < at + PIECE && i < loop->n; i++)
			loop->body(i, loop->data);
	tach_team_leave(&help);
}

static void *worker(void *unused)
{
	pthread_mutex_lock(&lock);
	while (!ending) {
		struct loop *loop = now;

		if (!loop || __atomic_load_n(&loop->next, __ATOMIC_RELAXED) >= loop->n) {
			pthread_cond_wait(&changed, &lock);
			continue;
		}
		loop->busy++;
		pthread_mutex_unlock(&lock);
		run_pieces(loop);
		pthread_mutex_lock(&lock);
		if (--loop->busy == 0)
			pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
	return unused;
}

/* The caller works too: it has the region open, so nothing counts twice. */
static void run_parallel(int n, void (*body)(int i, void *data), void *data)
{
	struct loop loop = {.body = body, .data = data, .n = n};

	tach_team_take(&loop.team);
	pthread_mutex_lock(&lock);
	now = &loop;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	run_pieces(&loop);
	pthread_mutex_lock(&lock);
	now = NULL;
	while (loop.busy)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static void square(int i, void *data)
{
	((double *)data)[i] = (double)i * i;
}

int main(void)
{
	static double squares[N];
	pthread_t thread[THREADS];

	if (!tach_regions_enabled())
		tach_regions_configure(NULL, NULL); /* configured by the environment */
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, worker, NULL))
			return 1;
	for (int round = 0; round < ROUNDS; round++) {
		TACH_SCOPE(squares);
		run_parallel(N, square, squares);
	}
	pthread_mutex_lock(&lock);
	ending = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("the last square is %.0f\n", squares[N - 1]);
	return 0;
}
