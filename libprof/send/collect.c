/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flush, drain, count, and buffers for what comes next.
 *
 * "Complete up to T" of the pulse. A flush that began at F has ended, and every buffer that CUPTI
 * gave back by then has been translated. A buffer that is still out was requested at R. CUPTI puts
 * a record into a buffer when the call is made that launches the work, so whatever that buffer
 * holds was launched, and ended, after R. Hence every operation that ended before min(F, all such
 * R) is in a frame or in a loss span. One hole is left: a thread that is preempted between handing
 * work to the device and making its record. F and R are set back by a time that covers it.
 */
#include "collect.h"

#include <stdatomic.h>

#include "core/clockpoll.h"
#include "core/notes.h"
#include "core/thread.h"
#include "cupti/bufpool.h"
#include "cupti/capture_policy.h"
#include "cupti/flusher.h"
#include "cupti/handover.h"
#include "cupti/intake.h"
#include "cupti/timebase.h"
#include "ranges/ranges.h"
#include "stream/loss.h"
#include "stream/stream.h"
#include "traceclock.h"

#define MS 1000000ll
#define HALF_SECOND_NS (500 * MS)
#define FLUSH_PATIENCE_NS (50 * MS) /* a flush takes 0.2 ms, or as long as a kernel runs */
#define FLUSH_WHOLE_NS (1000 * MS)
#define RECORD_BYTES 256u /* no record is larger */
/* Where torch.profiler may come unannounced (cupti/handover.h). */
#define TORCH_BUFFER ((size_t)16 << 10)

static struct {
	atomic_bool woken;
	struct prof_counters *count; /* the sender's */
	int64_t last_flush_ns; /* begin of the last flush that ended */
	/* records of what was launched before were dropped; 0: all that has ended */
	int64_t drops_ns;
	uint64_t lost_bytes; /* in discarded buffers, as counted so far */
	uint64_t sized_bytes; /* of records, when buffer sizes were last chosen */
	int64_t sized_ns;
} c;

void prof_collect_init(int64_t armed_ns, struct prof_counters *count)
{
	c.count = count;
	c.last_flush_ns = count->complete_ns = armed_ns;
	c.sized_ns = prof_mono_ns();
}

bool prof_collect_pending(void)
{
	return !atomic_exchange(&c.woken, true);
}

int64_t prof_collect_last_flush_ns(void)
{
	return c.last_flush_ns;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Counted are buffers and bytes; of records, so many at least. */
static void count_discards(int64_t end_ns)
{
	struct prof_pool_stats pool;
	uint64_t count;
	int64_t start = prof_pool_discards(&count);

	if (start == INT64_MAX)
		return;
	prof_pool_stats(&pool);
	count = (pool.lost_bytes - c.lost_bytes + RECORD_BYTES - 1) / RECORD_BYTES;
	c.lost_bytes = pool.lost_bytes;
	c.count->dropped += count;
	prof_loss_span(WIRE__LOSS_REASON__LOSS_DROPPED, start, end_ns, count);
}

/*
 * What was dropped may have been launched, not yet run: its time ends with a later flush, when all
 * that was launched by then has come back.
 */
static void count_drops(const struct prof_flush *f, int64_t oldest)
{
	if (!f->dropped && !c.drops_ns)
		return;
	c.count->dropped += f->dropped;
	prof_loss_span(WIRE__LOSS_REASON__LOSS_DROPPED, c.last_flush_ns - PROF_POOL_BEFORE_NS,
		       f->end_ns, f->dropped);
	if (f->dropped)
		c.drops_ns = f->end_ns;
	else if (oldest > c.drops_ns)
		c.drops_ns = 0;
}

/* A flush has ended and what it gave back has been translated. */
static void account_flush(const struct prof_flush *f, enum prof_timebase base)
{
	int64_t oldest = prof_pool_oldest_out();

	count_drops(f, oldest);
	count_discards(f->end_ns);
	prof_traceclock_record(&f->clock);
	prof_policy_flushed(f, c.last_flush_ns, base);
	prof_stream_losses(f->end_ns);
	if (!f->rc)
		c.count->complete_ns = earlier(f->begin_ns - PROF_POOL_BEFORE_NS, oldest);
	else
		prof_note("cuptiActivityFlushAll answers with error %d", f->rc);
	c.last_flush_ns = f->begin_ns;
}

static void drain(void)
{
	atomic_store(&c.woken, false);
	prof_intake_drain(c.last_flush_ns);
	if (prof_pool_low())
		prof_pool_refill();
}

bool prof_collect_drain(void)
{
	struct prof_flush f;
	enum prof_timebase base;

	if (!prof_flusher_take(&f)) {
		drain();
		return false;
	}
	base = prof_timebase_learn(&f.clock);
	drain();
	account_flush(&f, base);
	return true;
}

/* One that outlasted the last tick has its result taken first: it may tell of losses. */
void prof_collect_flush(void)
{
	prof_collect_drain();
	prof_flusher_ask(false, prof_policy_canaries());
	prof_flusher_wait(prof_mono_ns() + FLUSH_PATIENCE_NS);
	prof_collect_drain();
}

void prof_collect_no_flush(void)
{
	prof_collect_drain();
	c.count->complete_ns = prof_now_ns();
}

bool prof_collect_flush_whole(void)
{
	int64_t deadline = prof_mono_ns() + FLUSH_WHOLE_NS;
	bool asked;

	if (!prof_flusher_wait(deadline))
		return false;
	prof_collect_drain();
	asked = prof_flusher_ask(false, prof_policy_canaries());
	if (!asked || !prof_flusher_wait(deadline))
		return false;
	return prof_collect_drain();
}

void prof_collect_buffers(int64_t deadline_ns)
{
	static atomic_uint never;
	struct prof_pool_stats pool;

	for (;;) {
		if (!prof_collect_flush_whole())
			return;
		prof_pool_stats(&pool);
		if (!pool.out || prof_mono_ns() >= deadline_ns)
			return;
		prof_word_wait(&never, 0, prof_mono_ns() + MS);
	}
}

void prof_collect_last(int64_t deadline)
{
	bool asked = false;

	if (!prof_policy_may_flush()) {
		prof_collect_drain();
		return;
	}
	if (prof_flusher_wait(deadline)) {
		prof_collect_drain();
		asked = prof_flusher_ask(true, 0) && prof_flusher_wait(deadline);
	}
	if (!prof_collect_drain() || !asked) {
		prof_loss_span(WIRE__LOSS_REASON__LOSS_DROPPED, c.count->complete_ns, prof_now_ns(),
			       0);
		prof_note("the last flush did not end in time: what CUPTI held back is lost");
	}
}

/* A buffer should hold no more than half a second: one unfinished record withholds all of it. */
static void size_buffers(void)
{
	uint64_t bytes = prof_intake()->bytes - c.sized_bytes;
	int64_t now = prof_mono_ns();
	struct prof_pool_stats pool;

	if (now - c.sized_ns < HALF_SECOND_NS)
		return;
	prof_pool_stats(&pool);
	prof_pool_limit(prof_ranges_torch_mapped() && !prof_handover_knows_torch() ? TORCH_BUFFER
										   : 0);
	bytes = bytes * (HALF_SECOND_NS / MS) / (uint64_t)((now - c.sized_ns) / MS);
	prof_pool_want(bytes / (pool.out ? pool.out : 1));
	c.sized_bytes = prof_intake()->bytes;
	c.sized_ns = now;
}

void prof_collect_keep_buffers(void)
{
	size_buffers();
	prof_pool_refill();
	prof_pool_trim(prof_mono_ns());
}
