/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host's threads were doing, exactly: loader waits, steps, optimizer steps, user ranges
 * and operator rows, from torch's RecordFunction callback and from NVTX.
 *
 * The hooks (torchhook.c, nvtx.c) only stamp beginnings and ends into the log of their thread;
 * pairing, naming and classifying happen here when the sender drains. Nothing in a hook allocates,
 * locks or blocks. What does not fit is dropped and counted.
 *
 * Threads: init on the arming thread, once; poll and drain on the sender thread only; dead in a
 * forked child; everything else on any thread.
 */
#ifndef PROF_RANGES_H
#define PROF_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/event.h"
#include "wire/strtab.h"

struct prof_ranges_opts {
	bool torch; /* register with torch's RecordFunction, now or when libtorch_cpu appears */
	bool nvtx; /* record NVTX ranges (the slots are taken when NVTX starts, see nvtx.h) */
	/*
	 * A log is half full: drain soon. Called on the host's threads from inside hooks, at most
	 * once between two drains: it may not block, allocate or lock. NULL: logs wait for the
	 * flush.
	 */
	void (*wake)(void);
	/* A loader wait begins now (CLOCK_REALTIME); in hooks, too. May be NULL. */
	void (*waits)(void);
};

struct prof_ranges_stats {
	uint64_t events; /* events handed to the sink */
	uint64_t dropped; /* ranges lost: log full, no log left, nested too deep, name limit */
	/*
	 * loader waits written so far, open ones up to the last drain; nested waits of a thread
	 * count once, waits of two threads twice
	 */
	uint64_t loader_wait_ns;
	uint64_t loader_waits; /* outermost waits that ended */
	uint64_t bytes; /* memory held */
	uint32_t threads; /* threads that emit ranges, now */
	uint32_t loader_open; /* threads inside a loader wait, now */
	int64_t loader_since_ns; /* realtime, since when one is; 0: none */
};

/*
 * Arms: maps the logs, registers with torch if it is there. 0, -ENOMEM (ranges stay off; the rest
 * of libprof is not concerned), or -EALREADY. Not being able to hook torch is no error but a note.
 */
int prof_ranges_init(const struct prof_ranges_opts *opts);

/*
 * Each flush: registers with torch once it has appeared, checks what came, gives torch's callback
 * up if it is not what we believe. True if the note or torch's version has changed since the
 * last call (or init): say Hello again.
 */
bool prof_ranges_poll(void);

/* What could not be done and why, one sentence for Hello.notes; "" when all is well. */
const char *prof_ranges_note(void);

/* torch's version as text, "" until known: for Hello.torch_version. */
const char *prof_ranges_torch_version(void);

/* libtorch_cpu is mapped, or it is not known whether it is. */
bool prof_ranges_torch_mapped(void);

/* One event of kind WIRE_KIND_RANGE, names interned; *ev is the caller's to copy. */
typedef void prof_ranges_sink(void *ctx, const struct wire_event *ev);

/*
 * Hands everything that ended since the last drain to @sink, and each loader wait that is still
 * open as a piece up to now (later pieces carry WIRE_EV_FL_CONT and begin where the last one
 * ended), so that a killed process loses at most one flush. Of a thread's nested loader waits only
 * the outermost is there. Other ranges come whole, when they end: an event may have begun long
 * before the last drain.
 * @axis carries a CLOCK_REALTIME stamp onto CUPTI's clock; NULL where they are the same.
 * @final: all that is open ends now (exit). Returns the number of events.
 */
size_t prof_ranges_drain(struct wire_strtab *names, int64_t (*axis)(int64_t realtime_ns),
			 prof_ranges_sink *sink, void *ctx, bool final);

/* Sender thread. */
void prof_ranges_stats(struct prof_ranges_stats *s);

/*
 * Since when (CLOCK_REALTIME) some thread of this process waits for its loader; 0: none does. One
 * relaxed load, for the sampler and the pulse.
 */
int64_t prof_ranges_loader_since(void);
int64_t prof_ranges_loader_mono(void); /* the same on the monotonic clock */

/*
 * atfork: prepare keeps the sender out of the loader's list of libraries, whose lock glibc does not
 * mend in a child (waits at most some microseconds); parent lets it go on. dead, in the child:
 * every hook returns at once from now on; async-signal-safe, frees nothing.
 * A child that arms itself calls prof_ranges_init like any other process.
 */
void prof_ranges_fork_prepare(void);
void prof_ranges_fork_parent(void);
void prof_ranges_dead(void);

#endif
