/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which call launched an operation: the table of one process's API records by correlation id.
 *
 * Records come in order of start, operations ask for theirs. A record that nobody asked for yet is
 * pending: an operation that starts later may still be its own, so a gap may not be decided while
 * a pending record begins before the gap's submit. Calls stay pending for a while after each of
 * their operations, those that own many (graphs by node, batches) for longer. Bounded: what is
 * over the cap is given up, oldest first, and counted.
 *
 * In an exact join nothing is ever given up. One thread at a time.
 */
#ifndef ANALYSIS_JOIN_H
#define ANALYSIS_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ana_call { /* an API record, as far as the rules ask */
	int64_t start, end;
	uint32_t process; /* in order of pid */
	uint32_t tid;
	uint32_t order; /* of arrival, decides between records of one start and thread */
	uint16_t flags; /* enum ana_name_flag */
};

/* The call that counts of two: earliest, then lowest (pid, tid), then first record. */
static inline bool ana_call_before(const struct ana_call *a, const struct ana_call *b)
{
	if (a->start != b->start)
		return a->start < b->start;
	if (a->process != b->process)
		return a->process < b->process;
	if (a->tid != b->tid)
		return a->tid < b->tid;
	return (int32_t)(a->order - b->order) < 0;
}

struct ana_join;

/* @lost_graphs: counts those that ana_join_lost_graph() tells. NULL: no memory. */
struct ana_join *ana_join_new(bool exact, uint64_t *lost_graphs);
void ana_join_free(struct ana_join *j);

/*
 * A record with a correlation id: where to write it. *fresh false: another record with this id is
 * there already, and stays unless the new one comes before it. NULL: no memory. Valid until the
 * next call.
 */
struct ana_call *ana_join_put(struct ana_join *j, uint64_t corr, bool *fresh);

/*
 * The call that launched the operation with this id, NULL if none is known; valid until the next
 * call. @now counts the operations asked for so far, from 1; @whole: no other operation has this
 * id.
 */
const struct ana_call *ana_join_ask(struct ana_join *j, uint64_t corr, uint32_t now, bool whole);

/* Start of the earliest pending record; INT64_MAX: there is none. */
int64_t ana_join_pending(struct ana_join *j, uint32_t now);

/* Waits no longer for the operations of records that begin at or before @t. 0 or -ENOMEM. */
int ana_join_give_up(struct ana_join *j, int64_t t);

/* Start of the last launch whose operation has not come; INT64_MIN: there is none. */
int64_t ana_join_unanswered(const struct ana_join *j);

uint64_t ana_join_expired(const struct ana_join *j); /* records given up */

/*
 * Launches of graphs of which no operation came: those that were given up, and after ana_join_end()
 * all that wait still. The earliest that begins within (@after, @before), NULL: there is none.
 * Valid until the next call. Of more than 65,536 the older half is forgotten.
 */
const struct ana_call *ana_join_lost_graph(const struct ana_join *j, int64_t after, int64_t before);
/* No operation will come any more; may be said again behind further records. 0 or -ENOMEM. */
int ana_join_end(struct ana_join *j);

struct ana_archive; /* archive.h */
void ana_call_archive(struct ana_call *c, uint32_t processes, struct ana_archive *a);
/* Of one that is not exact. Read into a new one. */
void ana_join_archive(struct ana_join *j, uint32_t processes, struct ana_archive *a);

#endif
