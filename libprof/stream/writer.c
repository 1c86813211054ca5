/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call at a time, handed over by a futex word.
 */
#include "writer.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/clockpoll.h"
#include "core/ownfds.h"
#include "core/thread.h"

static struct {
	void (*fn)(void *arg); /* these two: the writer's while a call is under way */
	void *arg;
	atomic_uint asked, answered;
	_Atomic int64_t cpu_ns;
	bool started;
} wr;

static void *run(void *unused)
{
	unsigned int seen = 0;

	prof_thread_begin("gpustarve-write");
	prof_ownfds_leave(); /* where that is not allowed it works in the program's table */
	for (;;) {
		prof_word_reach(&wr.asked, seen + 1, INT64_MAX);
		seen++;
		wr.fn(wr.arg);
		atomic_store_explicit(&wr.cpu_ns, prof_cpu_ns(), memory_order_relaxed);
		prof_word_bump(&wr.answered);
	}
	return unused;
}

void prof_writer_start(void)
{
	if (!wr.started)
		wr.started = !prof_thread_start(run);
}

void prof_writer_call(void (*fn)(void *arg), void *arg)
{
	if (!wr.started) {
		fn(arg);
		return;
	}
	wr.fn = fn;
	wr.arg = arg;
	prof_word_bump(&wr.asked);
	prof_word_reach(&wr.answered, atomic_load_explicit(&wr.asked, memory_order_relaxed),
			INT64_MAX);
}

int64_t prof_writer_cpu_ns(void)
{
	return atomic_load_explicit(&wr.cpu_ns, memory_order_relaxed);
}
