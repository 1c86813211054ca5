/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One order at a time, handed over by a futex word.
 */
#include "flusher.h"

#include <stdatomic.h>

#include "core/thread.h"

enum order {
	ORDER_NONE,
	ORDER_FLUSH,
	ORDER_FORCED,
	ORDER_CALL
};

static struct {
	const struct prof_cupti *cupti;
	void (*done)(void);
	void (*fn)(void);
	void (*canary)(void);
	uint32_t canaries;
	atomic_uint asked, answered; /* orders given, orders carried out */
	_Atomic enum order order;
	_Atomic int64_t cpu_ns;
	struct prof_flush last; /* written by the flusher while an order is under way */
	bool taken;
	bool started;
} fl;

static void flush(bool forced)
{
	struct prof_flush f = { .number = fl.last.number + 1 };

	f.begin_ns = prof_now_ns();
	f.cpu_ns = prof_process_cpu_ns();
	f.refused = prof_cupti_refuses(fl.cupti, &f.dropped);
	if (f.refused) { /* a flush would be of what another client has */
		prof_cupti_holder(fl.cupti, f.holder, sizeof(f.holder));
		prof_clock_sample(NULL, &f.clock);
		f.end_ns = prof_now_ns();
		fl.last = f;
		return;
	}
	for (; fl.canary && f.canaries < fl.canaries; f.canaries++)
		fl.canary();
	f.rc = fl.cupti->FlushAll(forced ? 1 : 0);
	f.dropped += prof_cupti_dropped(fl.cupti);
	prof_clock_sample(fl.cupti->GetTimestamp, &f.clock);
	f.end_ns = prof_now_ns();
	fl.last = f;
}

static void carry_out(enum order order)
{
	if (order == ORDER_CALL)
		fl.fn();
	else
		flush(order == ORDER_FORCED);
	atomic_store(&fl.cpu_ns, prof_cpu_ns());
}

static void *run(void *unused)
{
	unsigned int seen = 0;

	(void)unused;
	prof_thread_begin("gpustarve-flush");
	for (;;) {
		prof_word_reach(&fl.asked, seen + 1, INT64_MAX);
		seen++;
		carry_out(atomic_load(&fl.order));
		prof_word_bump(&fl.answered);
		fl.done();
	}
	return NULL;
}

int prof_flusher_start(const struct prof_cupti *cupti, void (*done)(void), void (*canary)(void))
{
	int err;

	fl.cupti = cupti;
	fl.done = done;
	fl.canary = canary;
	fl.taken = true;
	err = prof_thread_start(run);
	fl.started = !err;
	return err;
}

static bool idle(void)
{
	return atomic_load(&fl.asked) == atomic_load_explicit(&fl.answered, memory_order_acquire);
}

static bool ask(enum order order)
{
	if (!fl.started || !idle())
		return false;
	if (order != ORDER_CALL)
		fl.taken = false;
	atomic_store(&fl.order, order);
	prof_word_bump(&fl.asked);
	return true;
}

bool prof_flusher_ask(bool forced, uint32_t canaries)
{
	if (!fl.started || !idle() || !fl.taken)
		return false;
	fl.canaries = canaries;
	return ask(forced ? ORDER_FORCED : ORDER_FLUSH);
}

bool prof_flusher_call(void (*fn)(void))
{
	if (!fl.started || !idle())
		return false;
	fl.fn = fn;
	return ask(ORDER_CALL);
}

bool prof_flusher_take(struct prof_flush *f)
{
	if (!idle() || fl.taken)
		return false;
	fl.taken = true;
	*f = fl.last;
	return true;
}

bool prof_flusher_wait(int64_t deadline_ns)
{
	if (!fl.started)
		return true;
	return prof_word_reach(&fl.answered, atomic_load(&fl.asked), deadline_ns);
}

int64_t prof_flusher_cpu_ns(void)
{
	return atomic_load(&fl.cpu_ns);
}
