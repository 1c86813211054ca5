/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_prof_sampler [LOOKS]: what one look at one thread costs the looking thread, by what the
 * thread waits in and by what is asked, in CPU time; what a census costs per thread, what an empty
 * turn costs, and how long a fork waits for a look. No GPU, no Python.
 */
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/clockpoll.h"
#include "core/ownfds.h"
#include "core/thread.h"
#include "sample/thread_sample.h"
#include "sample/sample_rate.h"

enum way {
	WAY_SLEEP,
	WAY_PIPE,
	WAY_POLL,
	WAY_LOCK,
	WAY_RUN,
	WAYS
};

static struct blocked {
	enum way way;
	atomic_int tid;
} blocked[WAYS];

static const char *const name[WAYS] = { "nanosleep", "read of a pipe", "poll of a pipe", "futex",
					"runs" };
static int pipes[2];
static atomic_uint word;
static struct prof_thread_sample look;
static int looks = 2000;
static char report[8192]; /* the thread that measures has no stdout */
static size_t reported;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	reported +=
		(size_t)vsnprintf(report + reported, sizeof(report) - reported, format, arguments);
	va_end(arguments);
}

static void *block(void *arg)
{
	struct blocked *b = arg;
	struct pollfd p = { .fd = pipes[0], .events = POLLIN };
	char c;

	atomic_store(&b->tid, (int)syscall(SYS_gettid));
	switch (b->way) {
	case WAY_SLEEP:
		for (;;)
			pause();
	case WAY_PIPE:
		return (void *)(intptr_t)read(pipes[0], &c, 1);
	case WAY_POLL:
		return (void *)(intptr_t)poll(&p, 1, -1);
	case WAY_LOCK:
		for (;;)
			prof_word_wait(&word, 0, INT64_MAX);
	default:
		for (;;)
			atomic_load_explicit(&word, memory_order_relaxed);
	}
}

static int start_all(void)
{
	pthread_t t;
	int i;

	for (i = 0; i < WAYS; i++) {
		blocked[i].way = (enum way)i;
		if (pthread_create(&t, NULL, block, &blocked[i]))
			return -1;
		while (!atomic_load(&blocked[i].tid))
			usleep(1000);
	}
	usleep(20000);
	return 0;
}

static void time_looks(struct prof_target *t, enum way way, unsigned int what, const char *asked)
{
	int64_t cpu = prof_cpu_ns(), i;
	int tid = atomic_load(&blocked[way].tid);

	for (i = 0; i < looks; i++)
		if (prof_thread_sample_take(t, tid, what, &look))
			exit(1);
	cpu = prof_cpu_ns() - cpu;
	say("%-16s %-20s %8.2f us   wait %u%s%s\n", name[way], asked, (double)cpu / looks / 1e3,
	    look.s.wait, look.s.flags & WIRE_SAMPLE_FL_STEADY ? " steady" : "",
	    look.native[0] ? " native" : "");
}

static void time_empty_turns(void)
{
	struct prof_sample_rate pace;
	struct prof_sample_rate_turn turn;
	struct prof_sample_rate_input in = { .now_ns = prof_mono_ns() };
	int64_t cpu = prof_cpu_ns();
	atomic_uint mine = 0;
	int i;

	prof_sample_rate_init(&pace, in.now_ns, 1);
	for (i = 0; i < 200; i++) {
		in.now_ns = prof_mono_ns();
		in.cpu_ns = prof_cpu_ns();
		prof_sample_rate_turn(&pace, &in, &turn);
		prof_word_wait(&mine, 0, in.now_ns + 5000000);
	}
	say("%-37s %8.2f us\n", "a turn with nothing to do",
	    (double)(prof_cpu_ns() - cpu) / 200 / 1e3);
}

static void time_ways(const char *title)
{
	struct prof_target *t;
	int way;

	say("%s\n", title);
	if (prof_target_open(&t, 0))
		exit(1);
	prof_target_settle(t, true);
	for (way = 0; way < WAYS; way++) {
		time_looks(t, way, 0, "state alone (census)");
		time_looks(t, way, PROF_SAMPLE_WAIT, "what it waits for");
		time_looks(t, way, PROF_SAMPLE_WAIT | PROF_SAMPLE_NATIVE, "and the native stack");
	}
	prof_target_close(t);
}

static void *measure(void *unused)
{
	time_ways("files opened for each look");
	if (prof_ownfds_leave())
		say("no table of descriptors of its own can be had\n");
	else
		time_ways("files kept open");
	time_empty_turns();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc > 1)
		looks = atoi(argv[1]);
	if (pipe(pipes) || start_all() || pthread_create(&t, NULL, measure, NULL) ||
	    pthread_join(t, NULL))
		return 1;
	fputs(report, stdout);
	return 0;
}
