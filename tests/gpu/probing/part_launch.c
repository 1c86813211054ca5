/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_launch.c - step 1: what a launch of an empty kernel costs, in modes. Each mode is a process
 * of its own, with a context and a libcupti of its own; all stay beside each other and play blocks
 * in turn, each round in another order, one at a time. In a block launches come in bursts that fit
 * the driver's queue; what is timed is the calls alone, and the calls with the wait behind them.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cupti.h"
#include "drv.h"
#include "probe.h"
#include "row.h"

#define BURST 256
#define EVENT_EVERY 10
#define MAX_ROUNDS 25
#define MAX_BURSTS 4096

enum mode {
	OFF,
	AGAIN,
	LOADED,
	KERNEL,
	ALL,
	LIGHT,
	DISABLED,
	FLUSHED,
	CALLBACKS,
	STAYED,
	UNSUBSCRIBED,
	FINALIZED,
	EVENTS, /* events, nothing traced: what STAMPS is held against */
	STAMPS,
	MODES
};

static const char *const ids[MODES] = {
	[OFF] = "launch.off",
	[AGAIN] = "launch.noise",
	[LOADED] = "launch.loaded",
	[KERNEL] = "launch.kernel",
	[ALL] = "launch.all",
	[LIGHT] = "launch.light",
	[DISABLED] = "launch.disabled",
	[FLUSHED] = "launch.flushed",
	[CALLBACKS] = "launch.callbacks",
	[STAYED] = "launch.stayed",
	[UNSUBSCRIBED] = "launch.unsubscribed",
	[FINALIZED] = "launch.finalized",
	[STAMPS] = "launch.stamps",
};

/* What a mode's process says of itself once and of each block. */
struct said {
	int rc; /* of the first call that failed, or 0 */
	char what[100]; /* which; or what happened on the way */
	int64_t call_ns, whole_ns; /* a launch, median of the block's bursts */
	uint64_t launches, kernels, stamps; /* launched, recorded, event records since the start */
};

struct worker {
	pid_t pid;
	int fd;
	bool gone;
	struct said said;
	int64_t call[MAX_ROUNDS], whole[MAX_ROUNDS];
	size_t rounds;
};

/* ---- in a mode's process ---- */

static void *event;
static struct said me;

static int failed(int rc, const char *what)
{
	if (rc && !me.rc) {
		me.rc = rc;
		snprintf(me.what, sizeof me.what, "%s: %d", what, rc);
	}
	return rc;
}

/* One burst; the time of the calls, and until the device was done. */
static void burst(bool with_events, int64_t *call, int64_t *whole)
{
	int64_t begin = mono_ns();
	int i;

	for (i = 0; i < BURST; i++) {
		failed(drv_spin(0, 1), "cuLaunchKernel");
		if (with_events && i % EVENT_EVERY == 0)
			failed(drv.EventRecord(event, drv_stream), "cuEventRecord");
	}
	*call = mono_ns() - begin;
	failed(drv_wait(), "cuStreamSynchronize");
	*whole = mono_ns() - begin;
	me.launches += BURST;
}

static void block(enum mode m, int64_t ns)
{
	static int64_t call[MAX_BURSTS], whole[MAX_BURSTS];
	int64_t end = mono_ns() + ns, first;
	size_t n = 0;

	burst(m == EVENTS || m == STAMPS, &first, &first);
	while (n < MAX_BURSTS && (n < 3 || mono_ns() < end) && !me.rc) {
		burst(m == EVENTS || m == STAMPS, &call[n], &whole[n]);
		n++;
	}
	me.call_ns = fig_per(fig_quantile(call, n, 500), BURST);
	me.whole_ns = fig_per(fig_quantile(whole, n, 500), BURST);
}

/* Kernels on for a while, with work, as a window of tracing is. */
static int kernels_for(enum mode m, int64_t ns)
{
	int rc = failed(cupti_begin(true), "RegisterCallbacks");

	if (!rc)
		rc = failed(cupti_switch(cupti_kernel, true), "Enable");
	if (!rc)
		block(m, ns);
	return rc;
}

static int stamps_on(void)
{
	static const int kinds[] = { KIND_CUDA_EVENT, 0 };
	int rc = failed(cupti_begin(true), "RegisterCallbacks");

	if (rc)
		return rc;
	if (!cupti.EnableCudaEventDeviceTimestamps)
		return failed(27, "this libcupti has no EnableCudaEventDeviceTimestamps");
	rc = failed(cupti.EnableCudaEventDeviceTimestamps(1), "EnableCudaEventDeviceTimestamps");
	return rc ? rc : failed(cupti_switch(kinds, true), "Enable CUDA_EVENT");
}

/* Traced for `on`, then what the mode says. */
static int switch_off(enum mode m, int64_t on)
{
	void *subscriber = NULL;
	int rc = 0;

	if (m == STAYED || m == UNSUBSCRIBED)
		rc = failed(cupti_subscribe(&subscriber), "Subscribe");
	if (!rc)
		rc = kernels_for(m, on);
	if (!rc)
		rc = failed(cupti_switch(cupti_kernel, false), "Disable");
	cupti_stop_flushing();
	if (rc)
		return rc;
	if (m == FLUSHED || m == FINALIZED)
		rc = failed(cupti.FlushAll(1), "FlushAll");
	if (m == UNSUBSCRIBED)
		rc = failed(cupti.Unsubscribe(subscriber), "Unsubscribe");
	if (m == FINALIZED)
		rc = failed(cupti.Finalize ? cupti.Finalize() : 27, "Finalize");
	return rc;
}

static int prepare(enum mode m, int64_t on)
{
	void *subscriber;
	int rc = 0;

	/* CUPTI before the context, as an injected library has it. */
	if (m != OFF && m != AGAIN && m != EVENTS && failed(cupti_load(), "no libcupti"))
		return me.rc;
	if (m == KERNEL || m == ALL || m == LIGHT) {
		rc = failed(cupti_begin(true), "RegisterCallbacks");
		if (!rc)
			rc = failed(cupti_switch(m == KERNEL ? cupti_kernel
						 : m == ALL  ? cupti_all
							     : cupti_light,
						 true),
				    "Enable");
	}
	if (m == LOADED)
		rc = failed(cupti_begin(false), "RegisterCallbacks");
	if (m == STAMPS)
		rc = stamps_on();
	if (m == CALLBACKS)
		rc = failed(cupti_subscribe(&subscriber), "Subscribe");
	if (!rc)
		rc = failed(drv_begin(), "the driver");
	if (!rc && (m == EVENTS || m == STAMPS))
		rc = failed(drv.EventCreate(&event, 0), "cuEventCreate");
	if (!rc && m >= DISABLED && m <= FINALIZED && m != CALLBACKS)
		rc = switch_off(m, on);
	return rc;
}

static void count_records(enum mode m)
{
	struct seen seen;

	if (m == KERNEL || m == ALL || m == STAMPS)
		cupti_fetch();
	seen = cupti_seen();
	me.kernels = seen.records[KIND_KERNEL];
	me.stamps = seen.records[KIND_CUDA_EVENT];
}

/* Obeys bytes: 'p' prepare, 'b' play a block, 'c' count what was recorded. */
static void serve(enum mode m, int fd, int64_t on, int64_t block_ns)
{
	char what;

	while (read(fd, &what, 1) == 1) {
		if (what == 'p')
			prepare(m, on);
		else if (what == 'b' && !me.rc)
			block(m, block_ns);
		else if (what == 'c' && !me.rc)
			count_records(m);
		if (write(fd, &me, sizeof me) != (ssize_t)sizeof me)
			break;
	}
	_exit(0);
}

/* ---- in the part's process ---- */

static int begin_worker(struct worker *w, enum mode m, int64_t on, int64_t block_ns)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return -errno;
	w->pid = child_begin();
	if (!w->pid) {
		close(fds[0]);
		serve(m, fds[1], on, block_ns);
	}
	close(fds[1]);
	w->fd = fds[0];
	return w->pid < 0 ? -errno : 0;
}

static void tell_worker(struct worker *w, char what)
{
	if (!w->gone && write(w->fd, &what, 1) != 1)
		w->gone = true;
}

/* A worker that does not answer in time is ended; the others go on. */
static void hear_worker(struct worker *w, int64_t within)
{
	struct pollfd p = { w->fd, POLLIN, 0 };
	size_t n = 0;

	if (w->gone)
		return;
	if (within > left_ns() - SECOND)
		within = left_ns() - SECOND;
	if (poll(&p, 1, (int)(within > 0 ? within / MS : 0)) <= 0) {
		w->gone = true;
		snprintf(w->said.what, sizeof w->said.what, "its process did not answer");
		kill(w->pid, SIGKILL);
		return;
	}
	while (n < sizeof w->said) {
		ssize_t k = read(w->fd, (char *)&w->said + n, sizeof w->said - n);

		if (k <= 0) {
			w->gone = true;
			memset(&w->said, 0, sizeof w->said);
			snprintf(w->said.what, sizeof w->said.what, "its process died");
			return;
		}
		n += (size_t)k;
	}
	if (w->said.rc)
		w->gone = true;
}

static void order(struct worker *w, char what, int64_t within)
{
	tell_worker(w, what);
	hear_worker(w, within);
}

static void play_round(struct worker *w, size_t round)
{
	size_t i;

	for (i = 0; i < MODES; i++) {
		struct worker *one = &w[(i * 5 + round * 3) % MODES]; /* another order each round */

		order(one, 'b', 10 * SECOND);
		if (one->gone)
			continue;
		one->call[one->rounds] = one->said.call_ns;
		one->whole[one->rounds] = one->said.whole_ns;
		one->rounds++;
	}
}

/* ---- rows ---- */

static const struct worker *base_of(const struct worker *w, enum mode m)
{
	return &w[m == STAMPS ? EVENTS : OFF];
}

static size_t common(const struct worker *a, const struct worker *b)
{
	return a->rounds < b->rounds ? a->rounds : b->rounds;
}

static void tell(const struct worker *w, enum mode m)
{
	const struct worker *one = &w[m], *base = base_of(w, m);
	size_t n = common(one, base);
	struct spread call = fig_spread(one->call, one->rounds);
	struct spread whole = fig_spread(one->whole, one->rounds);
	struct spread more = fig_over(one->call, base->call, n);
	struct spread percent = fig_ratio(one->call, base->call, n);
	struct row r;

	if (!one->rounds) {
		row_skip(ids[m], "%s", *one->said.what ? one->said.what : "no round was played");
		return;
	}
	row_begin(&r, ids[m], "ns per launch");
	row_answer(&r, "%lld", (long long)call.median);
	row_figures(&r, "call", &call);
	row_figure(&r, "whole", whole.median);
	if (m != OFF && n) {
		row_answer(&r, ", %+lld to %s", (long long)more.median,
			   m == STAMPS ? "events that nobody traces" : "off");
		row_figure(&r, "over", more.median);
		row_figure(&r, "over_p25", more.p25);
		row_figure(&r, "over_p75", more.p75);
		row_figure(&r, "over_millipercent", percent.median);
		row_spread(&r, "%+lld .. %+lld over (quartiles of %zu)", (long long)more.p25,
			   (long long)more.p75, more.n);
	}
	row_answer(&r, "; %lld with the wait", (long long)whole.median);
	row_figure(&r, "over_loaded",
		   fig_over(one->call, w[LOADED].call, common(one, &w[LOADED])).median);
	row_figure(&r, "launches", (int64_t)one->said.launches);
	row_figure(&r, "records", (int64_t)one->said.kernels);
	if (m == STAMPS) {
		row_figure(&r, "event_records", (int64_t)one->said.stamps);
		row_figure(&r, "over_per_event",
			   fig_per(more.median * BURST, (BURST + EVENT_EVERY - 1) / EVENT_EVERY));
	}
	row_send(&r);
}

static void tell_verdict(const struct worker *w)
{
	static const struct {
		enum mode m;
		const char *name, *words;
	} ways[] = {
		{ DISABLED, "disabled", "off again" },
		{ FLUSHED, "flushed", "flushed" },
		{ STAYED, "stayed", "subscriber stays" },
		{ UNSUBSCRIBED, "unsubscribed", "unsubscribed" },
		{ FINALIZED, "finalized", "finalized" },
	};
	/* Of what the kind costs over a libcupti that is there and idle, for that one stays. */
	const struct worker *base = &w[w[LOADED].rounds ? LOADED : OFF], *on = &w[KERNEL];
	const struct worker *off = &w[OFF], *again = &w[AGAIN];
	struct row r;
	size_t i, known = 0;

	row_begin(&r, "launch.verdict", "permille of the cost of the kernel kind");
	for (i = 0; i < LENGTH(ways); i++) {
		const struct worker *one = &w[ways[i].m];
		size_t n = common(one, on), m = common(off, again);
		int64_t left;

		n = n < m ? n : m;
		n = n < base->rounds ? n : base->rounds;
		left = fig_left(one->call, on->call, base->call, off->call, again->call, n);
		if (left == FIG_UNKNOWN)
			continue;
		row_answer(&r, "%s%s %lld", known++ ? ", " : "stays: ", ways[i].words,
			   (long long)left);
		row_figure(&r, ways[i].name, left);
	}
	if (!known)
		row_skip("launch.verdict", "the kernel kind's cost is not above the noise");
	else
		row_send(&r);
}

void part_launch(void)
{
	struct worker *w = calloc(MODES, sizeof *w);
	int64_t block_ns = scaled(250 * MS), on = scaled(SECOND), begin;
	size_t i, round, rounds = probe.quick ? 3 : 15;

	for (i = 0; w && i < MODES; i++)
		if (begin_worker(&w[i], (enum mode)i, on, block_ns))
			w[i].gone = true;
	/*
	 * Beside each other, for contexts take their time; one that hangs must not take the
	 * others'.
	 */
	for (i = 0; w && i < MODES; i++)
		tell_worker(&w[i], 'p');
	begin = mono_ns() + left_ns() / 4;
	for (i = 0; w && i < MODES; i++)
		hear_worker(&w[i], begin - mono_ns());
	/* Rounds as long as another one fits, and some seconds to count records. */
	for (round = 0; w && round < rounds; round++) {
		begin = mono_ns();
		play_round(w, round);
		if (left_ns() < 2 * (mono_ns() - begin) + 3 * SECOND)
			break;
	}
	for (i = 0; w && i < MODES; i++)
		order(&w[i], 'c', 2 * SECOND);
	for (i = 0; w && i < MODES; i++)
		if (ids[i])
			tell(w, (enum mode)i);
	if (w)
		tell_verdict(w);
}
