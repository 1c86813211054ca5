/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the Python shim (libprof/python/shim.py) tells: calls of torch's DataLoader, runs of
 * Python's garbage collector, torch.save. The entry points run on the program's threads, inside its
 * calls: no lock, no allocation, nothing raised, errno kept; what does not fit is counted. In a
 * process that neither records nor works for one that does they return at once.
 *
 * A thing has a beginning and an end on the same thread. Ranges go into the marks (marks.h); rows
 * of struct wire_batch into a queue that the sender drains. Names are zero-terminated and are
 * copied.
 */
#ifndef PROF_SHIM_H
#define PROF_SHIM_H

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>
#include "core/export.h"
#include "sample/thread_sample.h"
#include "wire/evidence.h"

#define PROF_SHIM_ABI 7 /* shim.py says the same */

/*
 * First call. 0: this library is of another version; 1: go on; 2: go on, and call
 * InitializeInjection (entry.h): the process is to be recorded though it may never touch a GPU
 * (GPUSTARVE_LOADER), and works for none that is recorded already.
 */
PROF_EXPORT int gpustarve_shim(int abi);

/* A sentence for Hello.notes. */
PROF_EXPORT void gpustarve_note(const char *text);

/*
 * One call of next() of an iterator: a WIRE_RANGE_LOADER range and a TAKE row. @key tells the
 * iterator; @batch is the index awaited at first, and the one that came in the end; @came what
 * came of it (enum wire_take).
 *
 * The end of a call returns 1 when the last 1,000 of the thread mostly took less than 0.2 ms and
 * were made within a second: then the shim stops recording calls for some seconds.
 */
PROF_EXPORT void gpustarve_take(uint64_t key, const char *name, uint32_t first, uint32_t loader,
				uint64_t batch);
PROF_EXPORT int gpustarve_took(uint64_t key, uint32_t loader, uint64_t batch, uint32_t came);

/*
 * FETCH, PIN and CLOSE rows (enum wire_batch_what). In a loader worker @loader is which of its
 * epochs this is, from 1, and the trainer knows what number that is. In the trainer a FETCH is of
 * the batch that the thread is taking. @in_worker: the thread runs torch's worker loop.
 */
PROF_EXPORT void gpustarve_begin(uint32_t what, uint32_t in_worker);
PROF_EXPORT int gpustarve_end(uint32_t what, uint32_t loader, uint64_t batch, uint32_t worker,
			      uint32_t samples);

/* What has begun on this thread is none. */
PROF_EXPORT void gpustarve_forget(uint32_t what);

/*
 * Making or rewinding an iterator: a WIRE_RANGE_ITER range and, if @loader, an OPEN row. @over:
 * number of what it goes over (wire/evidence.h), 0: not known.
 */
PROF_EXPORT void gpustarve_opening(uint64_t key, const char *name);
PROF_EXPORT void gpustarve_opened(uint64_t key, uint32_t loader, uint32_t over,
				  const char *settings);

/* Process @pid is worker @worker of that iterator; @again: it was one before, and begins afresh. */
PROF_EXPORT void gpustarve_worker(uint32_t pid, uint32_t loader, uint32_t worker, uint32_t again);

/*
 * That process was waited for: -@code is the signal that ended it, or @code its exit status.
 */
PROF_EXPORT void gpustarve_ended(uint32_t pid, int code);

/*
 * torch.save and its kin: a WIRE_RANGE_CHECKPOINT range, and checkpoints of Facts. @what: the
 * saver, a tab, the path, "" where it is not known. @before: inode of what lies there, 0: nothing.
 *
 * Returns the save's number, which the other calls take; 0: nothing of it is kept, as of one inside
 * another one of the thread. gpustarve_saved ends the call; gpustarve_save_is, from any thread,
 * tells what became of the file later. @state: enum prof_save_state, with PROF_SAVE_BITS. The
 * rest is as in struct prof_checkpoint.
 */
PROF_EXPORT uint32_t gpustarve_saving(uint64_t key, const char *what, uint64_t before);
PROF_EXPORT void gpustarve_saved(uint32_t number, const char *what, uint32_t state, uint64_t inode,
				 uint64_t size, uint64_t mtime_ns);
PROF_EXPORT void gpustarve_save_is(uint32_t number, const char *what, uint32_t state,
				   uint64_t inode, uint64_t size, uint64_t mtime_ns);

/*
 * What was saved is being read: evidence of what a restart began with. Before libprof is armed the
 * first 8 are kept.
 */
PROF_EXPORT void gpustarve_loaded(const char *what, uint64_t inode, uint64_t size,
				  uint64_t mtime_ns);

/*
 * A file that a thread wrote, synced and moved to its place: a save of the saver "file", of which
 * nobody knows what is in it. @what: as above. From libprof's own hooks (files.h).
 */
void prof_shim_moved(const char *what, int64_t born_ns, uint64_t inode, uint64_t size,
		     uint64_t mtime_ns);

/*
 * Whether that is one of the last files or folders that were saved, where it was moved to, and out
 * of how many of the folders around it.
 */
bool prof_shim_saved(uint64_t inode);
void prof_shim_renamed(const char *what, uint64_t inode, unsigned int folders);

/* Whether anything was saved; and a folder that was renamed, with what lies in it: its old path. */
bool prof_shim_saves(void);
void prof_shim_renamed_folder(const char *what);

/*
 * The garbage collector begins or ends ("start", "stop") on this thread; a member of gc.callbacks.
 * Runs below PROF_SHIM_GC_NS are left out.
 */
#define PROF_SHIM_GC_NS 20000
PROF_EXPORT void gpustarve_collect(const wchar_t *phase, const void *info);

/* ---- libprof's side ---- */

enum prof_save_state { /* SaveState of wire/session.proto */
	PROF_SAVE_BEGUN = 1,
	PROF_SAVE_WHOLE = 2,
	PROF_SAVE_FAILED = 3,
	PROF_SAVE_HANDED = 4,
	PROF_SAVE_OPENED = 5,
	PROF_SAVE_WRITTEN = 6, /* the sender's own: report.h, ... */
	PROF_SAVE_CHANGED = 7, /* ... and savewatch.h */
	PROF_SAVE_DELETED = 8,
	PROF_SAVE_MOVED = 9, /* without a number: savewatch.h knows whose it is */
	PROF_SAVE_FOLDER = 10 /* never told: that one was renamed, for savewatch.h */
};
/* With a state: */
#define PROF_SAVE_SYNCED 16u /* the saver synced the file */
#define PROF_SAVE_STATE 32u /* a training's state was seen in what was saved */
#define PROF_SAVE_NONE 64u /* it was looked for, and was not */
#define PROF_SAVE_BITS (PROF_SAVE_SYNCED | PROF_SAVE_STATE | PROF_SAVE_NONE)

struct prof_checkpoint {
	int64_t start_ns, end_ns; /* of one that has begun: 0 */
	uint64_t bytes; /* that the thread wrote meanwhile */
	uint32_t state, number; /* state: with PROF_SAVE_BITS */
	uint64_t before_inode; /* at the beginning */
	uint64_t inode, size; /* of what lies there at the end; 0: not known */
	int64_t mtime_ns;
};

struct prof_shim_sink {
	int64_t (*axis)(int64_t realtime_ns); /* NULL: the trace's clock is CLOCK_REALTIME */
	void (*batch)(const struct wire_batch *row, const char *text); /* text: "" or settings */
	void (*checkpoint)(const struct prof_checkpoint *c, const char *saver, const char *path);
	void (*sample)(const struct prof_thread_sample *sample);
};

/*
 * Rows, checkpoints and samples since the last call, also those of workers (shared.h). @final: what
 * waited for its worker's number goes without. Sender thread.
 */
void prof_shim_drain(const struct prof_shim_sink *sink, bool final);

/* atfork's child handler. Async-signal-safe. */
void prof_shim_forked(void);

/* Wakes the sender when the queue is half full; at arm. */
void prof_shim_init(void (*wake)(void));

/*
 * Leaves a note when torch's loader was waited for (@waits: so often) and Python has not called.
 * True when that is news. Sender thread.
 */
bool prof_shim_missing(uint64_t waits);
uint64_t prof_shim_dropped(void); /* rows that found no room */

#endif
