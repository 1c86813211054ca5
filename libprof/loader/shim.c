/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From calls of the shim to marks and rows. The queue is a bounded one of many producers and one
 * consumer: each cell has a turn that says whose it is, so nobody ever waits for anybody.
 */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/clockpoll.h"
#include "core/config.h"
#include "core/env.h"
#include "core/fork.h"
#include "core/notes.h"
#include "ranges/marks.h"
#include "sample/heard.h"
#include "sample/evidence.h"
#include "sample/shared.h"
#include "wire/event.h"
#include "fates.h"
#include "worker.h"

#define CELLS 4096u /* a power of two */
#define TEXTS 32u
#define TEXT_BYTES 512u
#define TRIES 64u /* so many other producers at once */
#define WHAT_CHECKPOINT 255u /* cells that are no rows */
#define WHAT_WORKER 254u
#define WHAT_ENDED 253u
#define SAVER_BYTES 48
#define SAVED 16u /* files that were saved, of which a move is told */
#define EARLY_LOADS 8u /* that are kept until the arm; each holds a text */
#define WORKERS 512u /* that are known at a time */
#define EPOCHS 16u /* of a worker whose numbers are known */
#define SILENT_TAKES 200u /* so many batches, and no worker has written of one */
#define PATIENCE 20u /* drains that a row waits for its worker's number */
#define GC_KEY 1u
#define BURST_CALLS 1000u
#define BURST_BRIEF_NS 200000 /* most of them took less, ... */
#define BURST_ALL_NS INT64_C(1000000000) /* ... and all were made in so long: see gpustarve_took */
#define BRIEF_NS 1000000 /* after a fetch that took less, only the CPU time of the next is read */

/* How much is read: the two files of /proc cost some microseconds each. */
enum depth {
	DEPTH_CPU,
	DEPTH_DELAY,
	DEPTH_IO
};

struct counters { /* of a thread, since it began */
	uint64_t cpu_ns, delay_ns;
	uint64_t rchar, wchar, read_bytes, major_faults;
};

/*
 * A dataset may read through a loader of its own, so that a call lies inside another one of its
 * kind: calls are counted, also those of which nothing is kept, and only the outermost one gives a
 * row.
 */
struct span {
	unsigned int calls;
	enum depth depth; /* beside calls: each thread of the program has six of these */
	int64_t start_ns; /* of the outermost; 0: nothing is kept of it */
	struct counters at;
};

struct burst {
	unsigned int calls, brief;
	int64_t since_ns;
};

struct cell {
	atomic_uint turn; /* see turn_of */
	uint32_t text; /* index plus 1 */
	struct wire_batch row;
};

/* What has begun on this thread. Static, so that nothing is allocated. */
static _Thread_local struct {
	struct span take, fetch, pin, close, open, save;
	struct burst takes, fetches;
	int64_t collect_ns;
	uint32_t loader; /* whose next() it is in, and which batch it awaits */
	uint64_t key, batch;
	uint64_t save_key;
	uint32_t saving; /* number of the save that it is in; 0: none */
	uint32_t tid;
	unsigned int forks; /* when tid was asked for */
	bool brief; /* the last fetch was */
	bool working; /* the thread runs the loop of a worker: all it does lies in a fetch */
} me __attribute__((tls_model("initial-exec")));

static struct cell cell[CELLS];
static atomic_uint head; /* the next to be filled */
static unsigned int tail; /* the next to be read; the sender's */
static char text[TEXTS][TEXT_BYTES];
static atomic_uint texts; /* a bit for each that is in use */
static _Atomic uint64_t dropped, dropped_by_workers;
static atomic_uint saves; /* that were begun */
static _Atomic uint64_t saved_inode; /* of the last one that ended */
static _Atomic uint64_t saved_inodes[SAVED]; /* of the last ones, by number */
static atomic_uint early; /* loads before the arm */
static atomic_uint asides; /* times that the shim stepped aside */
static void (*_Atomic wake_sender)(void); /* NULL before the arm, while threads tell already */
static atomic_bool woken;
static _Atomic uint32_t own_pid; /* of this process, 0: not asked yet */
static atomic_uint forks; /* that this process is away from the first one */
static _Atomic pid_t loaded; /* process in which Python came here */

/* ---- counters of the kernel ---- */

/* A file of /proc, opened anew each time: kept descriptors get closed by programs that tidy up. */
static size_t read_proc(const char *path, char *out, size_t room)
{
	int kept = errno, fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, room - 1);

	if (fd >= 0)
		close(fd);
	n = n > 0 ? n : 0;
	out[n] = 0;
	errno = kept;
	return (size_t)n;
}

static uint64_t field(const char *in, const char *name)
{
	const char *at = strstr(in, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/*
 * Returns the bytes that were read for it: the kernel counts them, too, but not in what it gives.
 */
static size_t read_io(struct counters *c)
{
	char in[512];
	size_t n = read_proc("/proc/thread-self/io", in, sizeof(in));

	c->rchar = field(in, "rchar: ");
	c->wchar = field(in, "wchar: ");
	c->read_bytes = field(in, "\nread_bytes: ");
	return n;
}

static void read_delay(struct counters *c)
{
	char in[128], *rest;

	if (!read_proc("/proc/thread-self/schedstat", in, sizeof(in)))
		return;
	strtoull(in, &rest, 10);
	c->delay_ns = strtoull(rest, NULL, 10);
}

static uint64_t cpu_ns(void)
{
	return (uint64_t)prof_cpu_ns();
}

static void read_faults(struct counters *c)
{
	struct rusage usage;

	if (!getrusage(RUSAGE_THREAD, &usage))
		c->major_faults = (uint64_t)usage.ru_majflt;
}

/* What we read for ourselves lies outside. */
static void read_before(struct counters *c, enum depth depth)
{
	size_t own;

	if (depth >= DEPTH_DELAY)
		read_delay(c);
	if (depth >= DEPTH_IO) {
		read_faults(c);
		own = read_io(c);
		c->rchar += own;
	}
	c->cpu_ns = cpu_ns();
}

static void read_after(struct counters *c, enum depth depth)
{
	c->cpu_ns = cpu_ns();
	if (depth >= DEPTH_IO) {
		read_io(c);
		read_faults(c);
	}
	if (depth >= DEPTH_DELAY)
		read_delay(c);
}

static uint64_t more(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void set_counters(struct wire_batch *row, const struct counters *from,
			 const struct counters *to)
{
	row->cpu_ns = more(to->cpu_ns, from->cpu_ns);
	row->delay_ns = more(to->delay_ns, from->delay_ns);
	if (row->what != WIRE_BATCH_FETCH)
		return;
	row->rchar_bytes = more(to->rchar, from->rchar);
	row->read_bytes = more(to->read_bytes, from->read_bytes);
	row->major_faults = more(to->major_faults, from->major_faults);
}

/* ---- the queue ---- */

static void drop(void)
{
	atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed);
}

/* Index plus 1 of a free text that now holds @from; 0: none, or nothing to hold. */
static uint32_t keep_text(const char *from)
{
	unsigned int used = atomic_load(&texts), i;

	if (!from || !*from)
		return 0;
	do {
		if (used == UINT32_MAX)
			return 0;
		for (i = 0; used >> i & 1; i++)
			;
	} while (!atomic_compare_exchange_weak(&texts, &used, used | 1u << i));
	strncpy(text[i], from, TEXT_BYTES - 1);
	return i + 1;
}

/*
 * Cell n % CELLS may be filled by the producer of place n at turn_of(n), and read at one more; its
 * next producer is that of place n + CELLS. All cells begin with 0, and places may wrap around.
 */
static unsigned int turn_of(unsigned int n)
{
	return n - n % CELLS;
}

static struct cell *claim(unsigned int *at)
{
	unsigned int n = atomic_load_explicit(&head, memory_order_relaxed), tries;
	struct cell *c;
	int ahead;

	for (tries = 0; tries < TRIES; tries++) {
		c = &cell[n % CELLS];
		ahead = (int)(atomic_load_explicit(&c->turn, memory_order_acquire) - turn_of(n));
		if (ahead < 0)
			return NULL; /* the consumer has yet to read what was written a round ago */
		if (ahead)
			n = atomic_load_explicit(&head, memory_order_relaxed);
		else if (atomic_compare_exchange_weak(&head, &n, n + 1)) {
			*at = n;
			return c;
		}
	}
	return NULL;
}

static void put(const struct wire_batch *row, const char *words)
{
	void (*wake)(void) = atomic_load_explicit(&wake_sender, memory_order_acquire);
	unsigned int n;
	struct cell *c = claim(&n);

	if (!c) {
		drop();
		return;
	}
	c->row = *row;
	c->text = keep_text(words);
	atomic_store_explicit(&c->turn, turn_of(n) + 1, memory_order_release);
	if (wake && n % (CELLS / 2) == CELLS / 2 - 1 &&
	    !atomic_load_explicit(&woken, memory_order_relaxed) && !atomic_exchange(&woken, true))
		wake();
}

/*
 * Both are asked once for each fork: where system calls are dear, they would cost more than all
 * else.
 */
static uint32_t my_pid(void)
{
	uint32_t pid = atomic_load_explicit(&own_pid, memory_order_relaxed);

	if (!pid) {
		pid = (uint32_t)getpid();
		atomic_store_explicit(&own_pid, pid, memory_order_relaxed);
	}
	return pid;
}

static uint32_t my_tid(void)
{
	unsigned int now = atomic_load_explicit(&forks, memory_order_relaxed);

	if (!me.tid || me.forks != now) {
		me.tid = (uint32_t)syscall(SYS_gettid);
		me.forks = now;
	}
	return me.tid;
}

void prof_shim_forked(void)
{
	atomic_store_explicit(&own_pid, 0, memory_order_relaxed);
	atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed);
}

/* In the trainer; what was before the arm only as far as it is still needed then. */
static void put_row(struct wire_batch *row, const char *words)
{
	row->pid = my_pid();
	row->tid = my_tid();
	put(row, words);
}

/* ---- waits ---- */

static bool records_alone(void)
{
	const char *value = prof_env_text("GPUSTARVE_LOADER");

	return value && !prof_env_off(value) && !prof_marks_on() && !prof_shared_has_trainer();
}

int gpustarve_shim(int abi)
{
	if (abi != PROF_SHIM_ABI)
		return 0;
	atomic_store(&loaded, getpid());
	return records_alone() ? 2 : 1;
}

void gpustarve_note(const char *words)
{
	prof_note("%s", words);
}

/* True after BURST_CALLS calls that are so brief and so many that telling of each is too dear. */
static bool is_dear(struct burst *p, int64_t start_ns, int64_t end_ns)
{
	bool dear;

	if (!p->calls++)
		p->since_ns = start_ns;
	p->brief += end_ns - start_ns < BURST_BRIEF_NS;
	if (p->calls < BURST_CALLS)
		return false;
	dear = p->brief > BURST_CALLS / 2 && end_ns - p->since_ns < BURST_ALL_NS;
	*p = (struct burst){ 0 };
	return dear;
}

static void count_aside(void)
{
	if (!atomic_fetch_add_explicit(&asides, 1, memory_order_relaxed))
		prof_note("batches come and go within microseconds: the Python shim steps aside "
			  "for some seconds at a time, and has no rows of batches meanwhile");
}

/* True for the outermost one. */
static bool enter(struct span *s)
{
	if (s->calls++)
		return false;
	s->start_ns = 0;
	return true;
}

/* An end without a beginning is none: an exception of the program may have come before it. */
static bool leave(struct span *s)
{
	return s->calls && !--s->calls;
}

/* No iterator waits inside itself: its last wait was torn off before its end could be told. */
static void mend(uint64_t key)
{
	if (me.take.calls && me.key == key)
		me.take.calls = 0;
	if (!me.take.calls && !me.working)
		me.fetch.calls = 0;
}

void gpustarve_take(uint64_t key, const char *name, uint32_t first, uint32_t loader, uint64_t batch)
{
	int64_t start_ns;
	bool outermost;

	mend(key);
	outermost = enter(&me.take);
	if (!prof_marks_on())
		return;
	if (outermost) {
		me.key = key;
		me.loader = loader;
		me.batch = batch;
		me.take.at.cpu_ns = cpu_ns();
	}
	start_ns = prof_mark_open(WIRE_RANGE_LOADER, key, first, name, strlen(name), 0);
	if (outermost)
		me.take.start_ns = start_ns;
}

int gpustarve_took(uint64_t key, uint32_t loader, uint64_t batch, uint32_t came)
{
	struct wire_batch row = {
		.what = WIRE_BATCH_TAKE, .loader = loader, .batch = batch, .samples = came
	};
	bool outermost = leave(&me.take), dear;

	if (!prof_marks_on())
		return 0;
	row.end_ns = prof_mark_close(WIRE_RANGE_LOADER, key);
	row.cpu_ns = more(cpu_ns(), me.take.at.cpu_ns);
	row.start_ns = me.take.start_ns;
	if (!outermost)
		return 0;
	me.take.start_ns = 0;
	if (!row.start_ns || !row.end_ns)
		return 0;
	dear = is_dear(&me.takes, row.start_ns, row.end_ns);
	if (dear)
		row.samples |= WIRE_TAKE_LAST;
	put_row(&row, NULL);
	if (dear)
		count_aside();
	return dear;
}

/* ---- fetches, pins, ends of iterators ---- */

static void put_shared(struct wire_batch *row)
{
	row->tid = my_tid();
	prof_shared_row(row);
}

static struct span *span_of(uint32_t what)
{
	if (what == WIRE_BATCH_FETCH)
		return &me.fetch;
	return what == WIRE_BATCH_PIN ? &me.pin : &me.close;
}

void gpustarve_begin(uint32_t what, uint32_t in_worker)
{
	struct span *s = span_of(what);

	if (in_worker) { /* nothing lies around that loop but what a fork has left */
		s->calls = 0;
		me.working = true;
	}
	if (!enter(s))
		return;
	if (!prof_marks_on()) {
		if (!in_worker || !prof_shared_has_trainer())
			return;
		prof_worker_fetches();
	}
	s->depth = what != WIRE_BATCH_FETCH ? DEPTH_DELAY : me.brief ? DEPTH_CPU : DEPTH_IO;
	read_before(&s->at, s->depth);
	s->start_ns = prof_realtime_ns();
}

void gpustarve_forget(uint32_t what)
{
	span_of(what)->calls = 0;
}

/* Into the row: what was counted since the call began. */
static void end_row(struct wire_batch *row, struct span *s)
{
	struct counters now = { 0 };

	row->start_ns = s->start_ns;
	row->end_ns = prof_realtime_ns();
	read_after(&now, s->depth);
	set_counters(row, &s->at, &now);
	s->start_ns = 0;
}

/* In the trainer a call within a wait is of the batch that is awaited. */
static void name_awaited(struct wire_batch *row)
{
	if (row->loader || !me.take.start_ns)
		return;
	row->loader = me.loader;
	row->batch = me.batch;
}

/*
 * How much is read of the next one; true when telling of each is too dear. Within a wait the wait
 * tells.
 */
static bool judge_fetch(const struct wire_batch *row)
{
	me.brief = row->end_ns - row->start_ns < BRIEF_NS;
	return !me.take.calls && is_dear(&me.fetches, row->start_ns, row->end_ns);
}

/* To our sender, or to the trainer's where this is a worker. */
static void tell_row(struct wire_batch *row, bool dear)
{
	if (prof_marks_on()) {
		put_row(row, NULL);
		if (dear)
			count_aside();
	} else if (prof_shared_has_trainer()) {
		row->text = dear ? PROF_SHARED_ASIDE : 0;
		put_shared(row);
	}
}

int gpustarve_end(uint32_t what, uint32_t loader, uint64_t batch, uint32_t worker, uint32_t samples)
{
	struct wire_batch row = { .what = (uint8_t)what,
				  .loader = loader,
				  .batch = batch,
				  .worker = worker,
				  .samples = samples };
	struct span *s = span_of(what);
	bool dear;

	if (!leave(s) || !s->start_ns)
		return 0;
	end_row(&row, s);
	name_awaited(&row);
	dear = what == WIRE_BATCH_FETCH && judge_fetch(&row);
	tell_row(&row, dear);
	return dear;
}

/* ---- iterators ---- */

void gpustarve_opening(uint64_t key, const char *name)
{
	int64_t stamp = 0;
	bool outermost = enter(&me.open);

	if (prof_marks_on())
		stamp = prof_mark_open(WIRE_RANGE_ITER, key, false, name, strlen(name), 0);
	if (!outermost)
		return;
	me.open.start_ns = stamp ? stamp : prof_realtime_ns();
	me.open.at.cpu_ns = cpu_ns();
}

/* Told of before the arm, too: the iterator may live on, and its settings are wanted then. */
void gpustarve_opened(uint64_t key, uint32_t loader, uint32_t over, const char *settings)
{
	struct wire_batch row = { .what = WIRE_BATCH_OPEN,
				  .loader = loader,
				  .samples = over,
				  .start_ns = me.open.start_ns };
	uint64_t cpu = cpu_ns();
	int64_t stamp = 0;

	if (prof_marks_on())
		stamp = prof_mark_close(WIRE_RANGE_ITER, key);
	row.end_ns = stamp ? stamp : prof_realtime_ns();
	row.cpu_ns = more(cpu, me.open.at.cpu_ns);
	if (!leave(&me.open))
		return;
	me.open.start_ns = 0;
	if (loader && row.start_ns && !prof_fork_dead())
		put_row(&row, settings);
}

void gpustarve_worker(uint32_t pid, uint32_t loader, uint32_t worker, uint32_t again)
{
	struct wire_batch row = { .what = WHAT_WORKER,
				  .loader = loader,
				  .worker = worker,
				  .rchar_bytes = pid,
				  .samples = again };

	if (!prof_fork_dead())
		put_row(&row, NULL);
}

void gpustarve_ended(uint32_t pid, int code)
{
	struct wire_batch row = { .what = WHAT_ENDED,
				  .rchar_bytes = pid,
				  .samples = code < 0 ? (uint32_t)-code : 0,
				  .worker = code > 0 ? (uint32_t)code : 0 };

	if (!prof_fork_dead())
		put_row(&row, NULL);
}

/* ---- checkpoints, the collector ---- */

static const char *path_in(const char *what)
{
	const char *tab = strchr(what, '\t');

	return tab && tab[1] ? tab + 1 : "";
}

/*
 * Cells of saves are rows whose fields mean something else: batch is the inode (before or after),
 * delay_ns the size, faults the time of change, worker the number, samples the state.
 */
static void put_save(struct wire_batch *row, const char *what)
{
	void (*wake)(void) = atomic_load_explicit(&wake_sender, memory_order_acquire);

	row->what = WHAT_CHECKPOINT;
	put_row(row, what);
	if (wake && *path_in(what)) /* who is killed next has told it */
		wake();
}

static size_t saver_length(const char *what)
{
	const char *tab = strchr(what, '\t');

	return tab ? (size_t)(tab - what) : strlen(what);
}

uint32_t gpustarve_saving(uint64_t key, const char *what, uint64_t before)
{
	const char *path = path_in(what);
	struct wire_batch row = { .batch = before, .samples = PROF_SAVE_BEGUN };

	if (!prof_marks_on() || me.saving)
		return 0;
	me.saving = atomic_fetch_add_explicit(&saves, 1, memory_order_relaxed) + 1;
	me.save_key = key;
	read_io(&me.save.at);
	me.save.start_ns = prof_mark_open(WIRE_RANGE_CHECKPOINT, key, false, *path ? path : what,
					  *path ? strlen(path) : saver_length(what), 0);
	if (!me.save.start_ns)
		me.save.start_ns = prof_realtime_ns();
	row.start_ns = me.save.start_ns;
	row.worker = me.saving;
	put_save(&row, what);
	return me.saving;
}

static void put_saved(struct wire_batch *row, const char *what, uint32_t state, uint64_t inode,
		      uint64_t size, uint64_t mtime_ns)
{
	row->samples = state;
	row->batch = inode;
	row->delay_ns = size;
	row->major_faults = mtime_ns;
	put_save(row, what);
}

void gpustarve_saved(uint32_t number, const char *what, uint32_t state, uint64_t inode,
		     uint64_t size, uint64_t mtime_ns)
{
	struct wire_batch row = { .worker = number };
	struct counters now = { 0 };

	if (!number || me.saving != number)
		return;
	me.saving = 0;
	atomic_store_explicit(&saved_inode, inode, memory_order_relaxed);
	atomic_store_explicit(&saved_inodes[number % SAVED], inode, memory_order_relaxed);
	if (!prof_marks_on())
		return;
	row.end_ns = prof_mark_close(WIRE_RANGE_CHECKPOINT, me.save_key);
	row.start_ns = me.save.start_ns;
	if (!row.end_ns)
		row.end_ns = prof_realtime_ns();
	read_io(&now);
	row.rchar_bytes = more(now.wchar, me.save.at.wchar);
	put_saved(&row, what, state, inode, size, mtime_ns);
}

void gpustarve_save_is(uint32_t number, const char *what, uint32_t state, uint64_t inode,
		       uint64_t size, uint64_t mtime_ns)
{
	struct wire_batch row = { .worker = number };

	if (!number || !prof_marks_on())
		return;
	atomic_store_explicit(&saved_inodes[number % SAVED], inode, memory_order_relaxed);
	row.start_ns = row.end_ns = prof_realtime_ns();
	put_saved(&row, what, state, inode, size, mtime_ns);
}

bool prof_shim_saved(uint64_t inode)
{
	bool saved = false;

	for (unsigned int i = 0; i < SAVED && inode; i++)
		saved |= atomic_load_explicit(&saved_inodes[i], memory_order_relaxed) == inode;
	return saved;
}

void prof_shim_renamed(const char *what, uint64_t inode, unsigned int folders)
{
	struct wire_batch row = { .samples = PROF_SAVE_MOVED, .batch = inode, .delay_ns = folders };

	row.start_ns = row.end_ns = prof_realtime_ns();
	put_save(&row, what);
}

bool prof_shim_saves(void)
{
	return atomic_load_explicit(&saves, memory_order_relaxed) != 0;
}

void prof_shim_renamed_folder(const char *what)
{
	struct wire_batch row = { .samples = PROF_SAVE_FOLDER };

	row.start_ns = row.end_ns = prof_realtime_ns();
	put_save(&row, what);
}

void prof_shim_moved(const char *what, int64_t born_ns, uint64_t inode, uint64_t size,
		     uint64_t mtime_ns)
{
	struct wire_batch begun = { .samples = PROF_SAVE_BEGUN, .start_ns = born_ns }, whole;

	/* Not one of a saver that is known. */
	if (me.saving || inode == atomic_load_explicit(&saved_inode, memory_order_relaxed))
		return;
	begun.worker = atomic_fetch_add_explicit(&saves, 1, memory_order_relaxed) + 1;
	whole = begun;
	put_save(&begun, what);
	whole.end_ns = prof_realtime_ns();
	put_saved(&whole, what, PROF_SAVE_WHOLE | PROF_SAVE_SYNCED | PROF_SAVE_NONE, inode, size,
		  mtime_ns);
}

static bool keeps_early(void)
{
	return !prof_fork_dead() &&
	       atomic_load_explicit(&early, memory_order_relaxed) < EARLY_LOADS &&
	       atomic_fetch_add_explicit(&early, 1, memory_order_relaxed) < EARLY_LOADS;
}

/* Told of before the arm, too: most load what they go on from before they come to the GPU. */
void gpustarve_loaded(const char *what, uint64_t inode, uint64_t size, uint64_t mtime_ns)
{
	struct wire_batch row = { .worker = 0 };

	if (!prof_marks_on() && !keeps_early())
		return;
	row.start_ns = row.end_ns = prof_realtime_ns();
	put_saved(&row, what, PROF_SAVE_OPENED, inode, size, mtime_ns);
}

/* Nothing of ours lies inside a run, so that both marks can be made at its end. */
void gpustarve_collect(const wchar_t *phase, const void *info)
{
	int64_t start_ns = me.collect_ns;
	bool begins = phase && !wcscmp(phase, L"start");

	(void)info;

	if (!prof_marks_on())
		return;
	me.collect_ns = begins ? prof_realtime_ns() : 0;
	if (begins || !start_ns || prof_realtime_ns() - start_ns < PROF_SHIM_GC_NS)
		return;
	prof_mark_open(WIRE_RANGE_GC, GC_KEY, false, "gc", 2, start_ns);
	prof_mark_close(WIRE_RANGE_GC, GC_KEY);
}

/* ---- the sender's side ---- */

void prof_shim_init(void (*wake)(void))
{
	atomic_store_explicit(&wake_sender, wake, memory_order_release);
}

bool prof_shim_missing(uint64_t waits)
{
	static bool told;

	if (told || !waits || !prof_config()->shim ||
	    atomic_load_explicit(&loaded, memory_order_relaxed) == getpid())
		return false;
	told = true;
	prof_note(
		"the Python shim is not in this process (python -I, -E and -S leave it out): batches, "
		"gc and checkpoints are not seen");
	return true;
}

uint64_t prof_shim_dropped(void)
{
	return atomic_load_explicit(&dropped, memory_order_relaxed) +
	       atomic_load_explicit(&dropped_by_workers, memory_order_relaxed);
}

/* Which numbers the iterators have that a worker works for, in the order of its epochs. */
struct worker {
	uint32_t pid, number, epochs;
	uint32_t loader[EPOCHS];
};

static struct worker worker_list[WORKERS];
static unsigned int workers_seen;
static uint64_t takes;
static unsigned int waited; /* drains in which the same rows waited */

static struct worker *find_worker(uint32_t pid)
{
	unsigned int i;

	for (i = 0; i < WORKERS; i++)
		if (worker_list[i].pid == pid)
			return &worker_list[i];
	return NULL;
}

static void add_worker(const struct wire_batch *row)
{
	uint32_t pid = (uint32_t)row->rchar_bytes;
	struct worker *w = find_worker(pid);

	if (!w)
		w = &worker_list[workers_seen++ % WORKERS];
	if (w->pid != pid || !row->samples)
		*w = (struct worker){ .pid = pid };
	w->number = row->worker;
	prof_fates_watch(pid, row->worker);
	w->loader[w->epochs++ % EPOCHS] = row->loader;
}

struct draining {
	const struct prof_shim_sink *sink;
	bool final, waits;
};

static void put_on_axis(const struct prof_shim_sink *sink, struct wire_batch *row)
{
	if (sink->axis) {
		row->start_ns = sink->axis(row->start_ns);
		row->end_ns = sink->axis(row->end_ns);
	}
	if (row->end_ns < row->start_ns) /* the clock may have stepped */
		row->end_ns = row->start_ns;
}

/*
 * A row of a worker names its epoch. The trainer learns that a process is its worker only when all
 * workers of the iterator have been started, so that the first rows may have to wait.
 */
static bool take_shared_row(void *ctx, const struct wire_batch *from)
{
	struct draining *d = ctx;
	struct worker *w = find_worker(from->pid);
	struct wire_batch row = *from;

	row.text = 0;
	if ((!w || row.loader > w->epochs) && !d->final && waited < PATIENCE) {
		d->waits = true;
		return false;
	}
	if (!w || !row.loader || row.loader > w->epochs || w->epochs - row.loader >= EPOCHS)
		row.loader = 0;
	else
		row.loader = w->loader[(row.loader - 1) % EPOCHS];
	if (w)
		row.worker = w->number + 1;
	if (from->text == PROF_SHARED_ASIDE)
		count_aside();
	put_on_axis(d->sink, &row);
	d->sink->batch(&row, "");
	return true;
}

static void take_sample(void *ctx, struct prof_thread_sample *sample)
{
	struct draining *d = ctx;

	if (d->sink->axis)
		sample->s.t_ns = d->sink->axis(sample->s.t_ns);
	prof_heard_sample(sample);
	d->sink->sample(sample);
}

/* Batches come from workers of which none has written a row. */
static void tell_silence(const struct prof_shared_stats *s)
{
	if (workers_seen && !s->rows && takes >= SILENT_TAKES)
		prof_note("loader workers do not reach the main process's memory (python -I, "
			  "another container or user, GPUSTARVE_SHIM=0): their batches are not "
			  "seen");
}

static void drain_shared(const struct prof_shim_sink *sink, bool final)
{
	struct draining d = { .sink = sink, .final = final };
	struct prof_shared_sink shared = { .batch = take_shared_row,
					   .sample = take_sample,
					   .ctx = &d };
	static uint64_t missed;
	struct prof_shared_stats stats;

	prof_shared_drain(&shared);
	prof_fates_look(take_sample, &d, final);
	waited = d.waits ? waited + 1 : 0;
	prof_shared_stats(&stats);
	atomic_store_explicit(&dropped_by_workers, stats.dropped, memory_order_relaxed);
	if (stats.missed > missed)
		prof_evidence_missed(stats.missed - missed);
	missed = stats.missed;
	tell_silence(&stats);
	if (stats.declined)
		prof_note(
			"loader workers have no sampler of their own where memory or pids of "
			"their cgroup are almost used up: the main process samples them, as far as "
			"it may");
	if (stats.closed)
		prof_note("the program closed a descriptor of ours: workers that were started by "
			  "spawn or forkserver after that are not seen");
}

static void hand_save(const struct prof_shim_sink *sink, const struct wire_batch *row,
		      const char *words)
{
	bool begun = row->samples == PROF_SAVE_BEGUN;
	struct prof_checkpoint point = { .start_ns = row->start_ns,
					 .end_ns = begun ? 0 : row->end_ns,
					 .bytes = row->rchar_bytes,
					 .state = row->samples,
					 .number = row->worker,
					 .before_inode = begun ? row->batch : 0,
					 .inode = begun ? 0 : row->batch,
					 .size = row->delay_ns,
					 .mtime_ns = (int64_t)row->major_faults };
	char saver[SAVER_BYTES];
	size_t n = saver_length(words);

	n = n < sizeof(saver) ? n : sizeof(saver) - 1;
	memcpy(saver, words, n);
	saver[n] = 0;
	sink->checkpoint(&point, saver, path_in(words));
}

static void hand_over(const struct prof_shim_sink *sink, struct wire_batch *row, const char *words)
{
	if (row->pid != (uint32_t)getpid())
		return; /* of the process that this one was forked off */
	if (row->what == WHAT_WORKER) {
		add_worker(row);
		return;
	}
	if (row->what == WHAT_ENDED) {
		prof_fates_ended((uint32_t)row->rchar_bytes, row->samples, row->worker);
		return;
	}
	takes += row->what == WIRE_BATCH_TAKE;
	put_on_axis(sink, row);
	if (row->what != WHAT_CHECKPOINT) {
		sink->batch(row, words);
		return;
	}
	hand_save(sink, row, words);
}

static void drain_queue(const struct prof_shim_sink *sink)
{
	struct wire_batch row;
	struct cell *c;
	uint32_t i;

	atomic_store_explicit(&woken, false, memory_order_relaxed);
	for (;; tail++) {
		c = &cell[tail % CELLS];
		if (atomic_load_explicit(&c->turn, memory_order_acquire) != turn_of(tail) + 1)
			return;
		row = c->row;
		i = c->text;
		hand_over(sink, &row, i ? text[i - 1] : "");
		if (i)
			atomic_fetch_and(&texts, ~(1u << (i - 1)));
		atomic_store_explicit(&c->turn, turn_of(tail) + CELLS, memory_order_release);
	}
}

void prof_shim_drain(const struct prof_shim_sink *sink, bool final)
{
	unsigned int n;

	drain_queue(sink);
	drain_shared(sink, final);
	n = atomic_load_explicit(&asides, memory_order_relaxed);
	if (final && n)
		prof_note("the Python shim stepped aside %u times", n);
}
