/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the threads of one process and of its loader's workers, in a window of time that
 * moves along with the walk: samples of each thread, and the rows of batches (who made which batch,
 * when the trainer called next()).
 *
 *	evidence.c  reads rows as far as asked and forgets what lies behind
 *	looked.c    who was looked at in an interval
 *	shares.c    a thread's time in an interval: on a CPU, waiting for one, blocked in what
 *	cause*.c    the rules that make classes of it
 *
 * Every question about [a, b) is answered from samples before @b and rows that begin before @b
 * alone, and from what the whole run tells of sockets (callers.h), so that the answer does not
 * depend on how far the walk has read. One thread.
 */
#ifndef ANALYSIS_EVIDENCE_H
#define ANALYSIS_EVIDENCE_H

#include "links.h"
#include "callers.h"
#include "handed.h"
#include "loaders.h"
#include "analysis/map.h"
#include "analysis/read/row_feed.h"
#include "pystack.h"
#include "looked.h"

#define ANA_LOOK_BACK_NS INT64_C(2000000000) /* how far samples before an interval are asked */
/* samples that are looked back for one that tells what is awaited there */
#define ANA_STANDS_MAX 64u
#define ANA_CELL_NS INT64_C(1000000000) /* two samples this close tell of the time between */

struct ana_observer; /* observer.h */

struct ana_thread_samples { /* one thread */
	uint32_t pid, tid;
	uint32_t number; /* in the order in which threads were first seen */
	bool alive; /* it is among those that are asked */
	uint8_t role; /* of its last sample */
	bool hands; /* some sample of it holds what others may await (links.h) */
	bool connected; /* some sample of it awaits a connection */
	bool reads; /* some sample of it tells how much it has read; not archived */
	int64_t first; /* its first sample; INT64_MAX: it has none, but batches */
	int64_t first_python; /* its first one with a stack of Python; INT64_MAX: none has */
	bool fetched; /* it has made a batch ... */
	int64_t first_fetch; /* ... since */
	struct wire_sample *sample;
	size_t head, tail, room;
};

struct ana_batches { /* rows of one kind, by start */
	struct wire_batch *row;
	size_t head, tail, room;
	int64_t longest; /* of all there ever were */
};

struct ana_evidence {
	uint32_t pid; /* of the process itself */
	struct ana_row_feed samples, batches;
	struct ana_thread_samples **known; /* all there ever were, by number */
	uint32_t knowns, known_room;
	struct ana_map thread_of; /* their numbers by pid and tid */
	/*
	 * Those of which samples are kept, by number: workers that begin anew in each epoch are
	 * thousands in the end, and who asks all threads asks those few that he can hear of.
	 */
	struct ana_thread_samples **thread;
	uint32_t threads, thread_room;
	uint32_t unchecked; /* samples since it was looked who is gone */
	struct ana_looked looked; /* samples of them, by time; not archived */
	struct ana_thread_samples **asked; /* by ana_evidence_among() */
	uint32_t asked_room;
	struct ana_batches fetch, take, close, pin;
	struct ana_pystacks stacks;
	struct ana_linktexts links;
	struct ana_handed handed; /* what samples are kept of, and before; not archived */
	struct ana_callers callers;
	struct ana_loaders loaders;
	int64_t upto; /* everything before is read */
	int64_t next; /* there is nothing to be read before */
	uint64_t kept; /* samples */
	/*
	 * Whether a thread of the process was inside a call of the GPU's driver or runtime at an
	 * instant, and the class (enum ana_class) of such a call; NULL: nobody knows.
	 */
	bool (*in_call)(void *arg, uint32_t tid, int64_t t, uint32_t *class);
	/* The same, of calls that took a while, as far back as samples are kept. */
	bool (*in_long_call)(void *arg, uint32_t tid, int64_t t);
	void *in_call_arg; /* of both */
	const struct ana_observer *observer; /* borrowed; NULL: nobody looks on */
	uint32_t process; /* in ana_result.process, for the observer */
	/* quality */
	uint64_t count, torn, without_python, forgotten;
};

/* Whether the stream has any evidence. */
bool ana_evidence_any(const struct view_stream *s);

/* 0 or -ENOMEM. @s, @t and @scratch are borrowed. */
int ana_evidence_init(struct ana_evidence *e, struct view_trace *t, const struct view_stream *s,
		      struct wire_scratch *scratch);
void ana_evidence_fini(struct ana_evidence *e);

struct ana_archive; /* archive.h */
/* What was read so far, and where. Read into one that has begun, of the same stream. */
void ana_evidence_archive(struct ana_evidence *e, struct ana_archive *a);

/* The same without a stream, for rows that come by ana_evidence_add_*. */
void ana_evidence_bare(struct ana_evidence *e, const struct wire_strtab *strings);

int ana_evidence_read(struct ana_evidence *e, int64_t t, int64_t floor);

/*
 * Reads everything up to and at @t. What no interval from @floor on can need is forgotten.
 * 0 or -ENOMEM.
 */
static inline int ana_evidence_upto(struct ana_evidence *e, int64_t t, int64_t floor)
{
	if (t <= e->upto)
		return 0;
	if (t >= e->next)
		return ana_evidence_read(e, t, floor);
	e->upto = t;
	return 0;
}

/* One row, in order of time. One that goes back in time is left out. 0 or -ENOMEM. */
int ana_evidence_add_sample(struct ana_evidence *e, const struct wire_sample *s, int64_t floor);
int ana_evidence_add_batch(struct ana_evidence *e, const struct wire_batch *b, int64_t floor);

/*
 * A row that will be added, before the first question: what the whole run tells of sockets. A
 * stream's own were all foreseen by ana_evidence_init. 0 or -ENOMEM.
 */
int ana_evidence_foresee(struct ana_evidence *e, const struct wire_sample *s);

/* The thread, NULL: never seen. */
struct ana_thread_samples *ana_evidence_thread(const struct ana_evidence *e, uint32_t pid,
					       uint32_t tid);

struct ana_among {
	struct ana_thread_samples **thread; /* by number; valid until the next question */
	uint32_t threads;
};

/* All threads that have a sample in [a, b), up to which all were read, and perhaps others. */
struct ana_among ana_evidence_among(struct ana_evidence *e, int64_t a, int64_t b);

/* Index of the first sample of the thread at or after @t, at most its tail. */
size_t ana_samples_from(const struct ana_thread_samples *s, int64_t t);

/* A sample of the thread lies in [@from, @to), up to which all were read. NULL: none ever did. */
static inline bool ana_samples_within(const struct ana_thread_samples *s, int64_t from, int64_t to)
{
	size_t i;

	if (!s || s->head == s->tail || s->sample[s->tail - 1].t_ns < from)
		return false;
	i = ana_samples_from(s, from);
	return i < s->tail && s->sample[i].t_ns < to;
}

/*
 * Rows that may overlap [a, b): from the returned index to *end; the caller looks at their ends.
 */
size_t ana_batches_near(const struct ana_batches *b, int64_t from, int64_t to, size_t *end);

#endif
