/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers the last operations that followed a gap; the API record of their launch, which comes a
 * little later in the same buffer, tells whether the host was late.
 *
 * A gap may be the device's own pause, too, which it makes between operations that are both there
 * already. Where it is no longer than such a pause can be, the launch tells them apart: one to
 * which nothing was in the way begins as soon after it as any ever does, which launches on an idle
 * device show; one that was queued begins later. What devices pause between queued ones is learnt
 * as well, so that the first few launches after a wait, which outrun the device by little, are not
 * taken for late.
 */
#include "exposure.h"

#include <stdbool.h>
#include <string.h>

#include "stream/stream.h"

#define SLOTS 1024u
#define SOON_NS 60000 /* from the launch to the operation's start, when nothing is in its way */
#define SILENT 256u /* operations in a row without an API record: a gap alone must do */
#define KNOWN_LEAST 64u /* gaps with API records: with fewer nothing is known of the others */
#define KNOWN_MANY 16384u /* then older ones count half */
#define LONG_GAP_NS 2000 /* shorter ones can be the device's own pauses */
#define LEAST_GAP_NS 500 /* and these are */
#define TAUGHT_LEAST 8u /* launches on an idle device that show how soon one begins */
#define TAUGHT_MANY 4096u /* then older ones are forgotten */
#define LATENCY_LEAST_NS 1000 /* none is less: clocks are off */
#define LATENCY_MOST_NS 20000 /* of the least: else something was always in the way */

enum gap_kind {
	SHORT_GAP,
	LONG_GAP,
	GAP_KINDS
};

struct slot {
	uint64_t corr;
	int64_t start_ns;
	int64_t idle_ns; /* since then the device was */
};

/* Gaps of one kind. */
struct known {
	/* operations whose API record came, and of them exposed */
	uint64_t gaps, exposed;
	uint64_t share; /* of those without: up to `gaps` it adds up to one exposed */
};

static struct {
	struct slot slot[SLOTS];
	int64_t last_end_ns[PROF_STREAM_DEVICES];
	struct prof_exposure sum;
	uint64_t long_gaps_ns;
	unsigned int silent; /* operations since the last API record */
	struct known known[GAP_KINDS];
	/* from a launch to its start on an idle device: the least of these, and of those before */
	int64_t latency_ns, latency_before_ns;
	unsigned int taught;
	int64_t pause_ns; /* of a device between queued operations, a running mean; 0: none */
} ex;

static enum gap_kind kind_of(int64_t gap)
{
	return gap > LONG_GAP_NS ? LONG_GAP : SHORT_GAP;
}

/*
 * As many as where calls were seen. Short gaps that there were none of then are long ones that got
 * shorter, for launches are cheaper without API records. Nothing is known at all: long ones are
 * exposed, short ones the device's.
 */
static void see_gap_alone(enum gap_kind kind)
{
	struct known *k = &ex.known[kind];

	if (k->gaps < KNOWN_LEAST)
		k = &ex.known[LONG_GAP];
	if (k->gaps < KNOWN_LEAST) {
		ex.sum.exposed += kind == LONG_GAP;
		return;
	}
	k->share += k->exposed;
	if (k->share < k->gaps)
		return;
	k->share -= k->gaps;
	ex.sum.exposed++;
}

static void see_operation(const struct wire_event *ev)
{
	int64_t *last = &ex.last_end_ns[ev->device % PROF_STREAM_DEVICES];
	int64_t gap = ev->start_ns - *last;

	ex.sum.launches++;
	if (*last && gap >= PROF_EXPOSURE_LONG_NS)
		ex.long_gaps_ns += (uint64_t)gap;
	if (gap > LEAST_GAP_NS) {
		ex.slot[ev->corr % SLOTS] = (struct slot){ ev->corr, ev->start_ns, *last };
		if (ex.silent >= SILENT)
			see_gap_alone(kind_of(gap));
	}
	ex.silent++;
	if (ev->end_ns > *last)
		*last = ev->end_ns;
}

/* It was launched on an idle device. */
static void learn_latency(int64_t ns)
{
	if (ns < LATENCY_LEAST_NS)
		return;
	if (!ex.latency_ns || ns < ex.latency_ns)
		ex.latency_ns = ns;
	if (++ex.taught < TAUGHT_MANY)
		return;
	ex.latency_before_ns = ex.latency_ns;
	ex.latency_ns = 0;
	ex.taught = TAUGHT_LEAST; /* what was before goes on counting */
}

/* How soon an operation begins to which nothing is in the way; 0: nobody knows. */
static int64_t least_latency(void)
{
	int64_t now = ex.latency_ns, before = ex.latency_before_ns;
	int64_t least = before && (!now || before < now) ? before : now;

	return ex.taught >= TAUGHT_LEAST && least <= LATENCY_MOST_NS ? least : 0;
}

/* Behind a short gap: did it begin as soon as it can, and was that no pause of the device's? */
static bool host_was_late(int64_t gap, int64_t latency)
{
	int64_t least = least_latency();

	if (!least)
		return false;
	if (latency <= least + least / 4)
		return !ex.pause_ns || gap > ex.pause_ns + ex.pause_ns / 8;
	if (latency > 2 * least)
		ex.pause_ns += ex.pause_ns ? (gap - ex.pause_ns) / 16 : gap;
	return false;
}

static void count_gap(struct known *k, bool exposed)
{
	ex.sum.exposed += exposed;
	k->exposed += exposed;
	if (++k->gaps < KNOWN_MANY)
		return;
	k->gaps /= 2;
	k->exposed /= 2;
	k->share /= 2;
}

static void see_call(const struct wire_event *ev)
{
	struct slot *s = &ex.slot[ev->corr % SLOTS];
	int64_t gap = s->start_ns - s->idle_ns, latency = s->start_ns - ev->start_ns;

	ex.silent = 0;
	if (!ev->corr || s->corr != ev->corr)
		return;
	if (ev->start_ns >= s->idle_ns)
		learn_latency(latency);
	if (kind_of(gap) == LONG_GAP)
		count_gap(&ex.known[LONG_GAP], latency <= SOON_NS);
	else
		count_gap(&ex.known[SHORT_GAP], host_was_late(gap, latency));
	s->corr = 0;
}

void prof_exposure_add(const struct wire_event *ev)
{
	if (ev->kind == WIRE_KIND_OP)
		see_operation(ev);
	else if (ev->kind == WIRE_KIND_API)
		see_call(ev);
}

void prof_exposure_stepped(int64_t step_ns, int64_t now_ns)
{
	unsigned int i;

	for (i = 0; i < PROF_STREAM_DEVICES; i++) {
		int64_t *last = &ex.last_end_ns[i];

		if (*last)
			*last += step_ns;
		if (*last > now_ns)
			*last = now_ns;
	}
}

void prof_exposure_forget(void)
{
	memset(&ex, 0, sizeof(ex));
}

const struct prof_exposure *prof_exposure(void)
{
	return &ex.sum;
}

uint64_t prof_exposure_long_gaps_ns(void)
{
	return ex.long_gaps_ns;
}

int64_t prof_exposure_last_end(void)
{
	int64_t end = 0;
	unsigned int i;

	for (i = 0; i < PROF_STREAM_DEVICES; i++)
		if (ex.last_end_ns[i] > end)
			end = ex.last_end_ns[i];
	return end;
}
