/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hooks' side of ranges: beginnings and ends, stamped and put into a log of the thread's own.
 * begin, end, push and pop run on the host's threads, inside torch and NVTX calls: they take no
 * lock, allocate nothing, keep errno, and drop what does not fit (counted). The first one of a
 * thread claims one of PROF_RANGE_LOGS logs; the sender takes a log back when its thread is gone. A
 * thread that finds none looks again when one was taken back, and until then a mark costs it a few
 * loads.
 *
 * The reading half (prof_range_log_*) belongs to the sender thread.
 */
#ifndef PROF_MARKS_H
#define PROF_MARKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_RANGE_LOGS 64u
/* address space each; only what is touched becomes memory */
#define PROF_RANGE_LOG_BYTES (256u << 10)
#define PROF_MARK_NAME_MAX 511u /* longer names are cut */

enum prof_source {
	PROF_SOURCE_TORCH = 1, /* key: the RecordFunction's address; mostly nested, not always */
	PROF_SOURCE_NVTX = 2, /* push and pop. key: the domain, with the depth in it */
	PROF_SOURCE_ID = 3, /* NVTX start and end. key: the id; may end on another thread */
	PROF_SOURCE_SHIM = 4, /* the Python shim. key: an object's address */
};

struct prof_mark { /* one record of a log */
	int64_t stamp_ns; /* CLOCK_REALTIME */
	uint64_t key;
	uint32_t depth; /* SOURCE_NVTX: ranges of the domain around this one */
	uint16_t len; /* bytes of name that follow, beginnings only */
	uint8_t source : 4; /* enum prof_source */
	uint8_t range : 4; /* SOURCE_SHIM: enum wire_range; else the name tells */
	bool begins : 1;
	bool gap : 1; /* an end before this one was lost: what is open is not to be trusted */
	bool first : 1; /* SOURCE_SHIM: WIRE_EV_FL_FIRST */
	bool in_comm : 1; /* behind the name are 8 bytes more: see prof_mark_push_comm */
	char name[]; /* not terminated */
};

extern atomic_bool prof_marks_switch; /* read it through prof_marks_on */

/* Threads that find them on while libprof arms find the logs made, too. */
static inline bool prof_marks_on(void)
{
	return atomic_load_explicit(&prof_marks_switch, memory_order_acquire);
}

/* Maps the logs and turns marks on. @wake, @waits: see ranges.h. 0, -ENOMEM or -EALREADY. */
int prof_marks_init(void (*wake)(void), void (*waits)(void));

/* Turns marks off for good, in a forked child too. Async-signal-safe. */
void prof_marks_off(void);

/* Only while prof_marks_on(). */
void prof_mark_begin(enum prof_source source, uint64_t key, const char *name, size_t len);
void prof_mark_end(enum prof_source source, uint64_t key);

/* NVTX's nesting by domain. Both return the range's depth, from 0; negative: it is not tracked. */
int prof_mark_push(uint64_t domain, const char *name, size_t len);
int prof_mark_pop(uint64_t domain);

/* prof_mark_push of a call within a communicator, whose id is @comm; 0: none is known. */
int prof_mark_push_comm(uint64_t domain, const char *name, size_t len, uint64_t comm);

/*
 * The shim's ranges, by enum wire_range. @stamp_ns: when it began, 0 for now; an earlier one is for
 * ranges that nothing else of the thread lies in. Both return the stamp, 0 if there is no log.
 */
int64_t prof_mark_open(uint8_t range, uint64_t key, bool first, const char *name, size_t len,
		       int64_t stamp_ns);
int64_t prof_mark_close(uint8_t range, uint64_t key);

/* Since when some thread waits for its loader, CLOCK_REALTIME; 0: none does. Any thread. */
int64_t prof_marks_loader_since(void);
int64_t prof_marks_loader_mono(
	void); /* the same, monotonic: how long it lasts, whatever clocks do */
unsigned int prof_marks_loader_open(void);
uint64_t prof_marks_dropped(void); /* beginnings and ends that found no room */

/* ---- the sender's half ---- */

struct prof_range_log;

/*
 * Log @i (below PROF_RANGE_LOGS) if a thread has it, else NULL. @owner: which one; its low half is
 * the thread's id.
 */
struct prof_range_log *prof_range_log_at(unsigned int i, uint64_t *owner);

/*
 * True if the thread ends a loader wait right now: its end is stamped but not in the log. Read it
 * after the clock: when it is false, no end stamped before that clock is missing from the log.
 */
bool prof_range_log_ending(const struct prof_range_log *log);

/* The oldest mark, NULL if there is none; valid until released. */
const struct prof_mark *prof_range_log_peek(struct prof_range_log *log);
uint64_t prof_mark_comm(const struct prof_mark *m); /* 0: none */
void prof_range_log_release(struct prof_range_log *log);

/*
 * Is that owner's thread gone? Ask before reading the log to its end, then reap it. False: a new
 * thread with the same id has taken the log over in the meantime, and goes on with it.
 */
bool prof_range_log_orphaned(uint64_t owner);
bool prof_range_log_reap(struct prof_range_log *log, uint64_t owner);

void prof_marks_drained(void); /* the next log that fills up may wake the sender again */
size_t prof_marks_bytes(void); /* memory that the logs can hold at most now */

#endif
