/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers the last operations that followed a gap; the API record of their launch, which comes a
 * little later in the same buffer, tells whether the host was late.
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
#define GAP_NS 2000 /* shorter ones are the device's own turn-around */

struct slot {
	uint64_t corr;
	int64_t start_ns;
};

static struct {
	struct slot slot[SLOTS];
	int64_t last_end_ns[PROF_STREAM_DEVICES];
	struct prof_exposure sum;
	uint64_t long_gaps_ns;
	unsigned int silent; /* operations since the last API record */
	/* operations behind a gap whose API record came, and of them exposed */
	uint64_t gaps, exposed;
	uint64_t share; /* of a gap without API record: up to `gaps` it adds up to one exposed */
} ex;

static void see_gap_alone(void)
{
	if (ex.gaps < KNOWN_LEAST) {
		ex.sum.exposed++;
		return;
	}
	ex.share += ex.exposed;
	if (ex.share < ex.gaps)
		return;
	ex.share -= ex.gaps;
	ex.sum.exposed++;
}

static void see_operation(const struct wire_event *ev)
{
	int64_t *last = &ex.last_end_ns[ev->device % PROF_STREAM_DEVICES];
	int64_t gap = ev->start_ns - *last;

	ex.sum.launches++;
	if (*last && gap >= PROF_EXPOSURE_LONG_NS)
		ex.long_gaps_ns += (uint64_t)gap;
	if (gap > GAP_NS) {
		ex.slot[ev->corr % SLOTS] = (struct slot){ ev->corr, ev->start_ns };
		if (ex.silent >= SILENT)
			see_gap_alone();
	}
	ex.silent++;
	if (ev->end_ns > *last)
		*last = ev->end_ns;
}

static void see_call(const struct wire_event *ev)
{
	struct slot *s = &ex.slot[ev->corr % SLOTS];
	bool exposed;

	ex.silent = 0;
	if (!ev->corr || s->corr != ev->corr)
		return;
	exposed = s->start_ns - ev->start_ns <= SOON_NS;
	ex.sum.exposed += exposed;
	ex.exposed += exposed;
	if (++ex.gaps == KNOWN_MANY) {
		ex.gaps /= 2;
		ex.exposed /= 2;
		ex.share /= 2;
	}
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
