/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs of marks, one ring per thread that emits ranges.
 *
 * Ownership: log.owner is generation << 32 | thread id, 0 for a free log. A thread claims a free
 * log by compare-and-swap; only the sender frees one, after the thread has ended. A new thread may
 * get a dead one's id before the sender looks: it then takes the old log over, and the generation
 * makes sure that only one of the two gets it.
 */
#include "marks.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/clockpoll.h"
#include "core/ring.h"
#include "facts/names.h"

#define LOADERS_MAX 32u /* nested loader waits of a thread that are known one by one */
#define DOMAINS_MAX 16u /* NVTX domains that a thread nests ranges in */
#define REAPING UINT32_MAX
#define DROP_LINES 16u /* a power of two */
#define DROP_SHIFT 28 /* leaves the bits of one of them from 32 */

struct range_key { /* what tells one open range of a thread from another */
	uint64_t key;
	uint32_t depth;
	uint8_t source;
	uint8_t range; /* this and the next are carried along, not compared */
	bool first;
};

struct label { /* what a beginning says besides */
	const char *name;
	size_t len;
	uint64_t comm; /* 0: none */
};

struct domain {
	uint64_t key;
	uint32_t depth; /* ranges open */
};

struct prof_range_log {
	struct prof_ring ring;
	_Atomic uint64_t owner;
	atomic_bool ending;
	/* The owner's own; the sender only while it reaps. */
	atomic_bool busy; /* a hook is at work: a signal handler that comes in is turned away */
	bool gap;
	uint32_t waits; /* loader waits open, outermost first */
	struct range_key wait[LOADERS_MAX];
	uint32_t domains;
	struct domain domain[DOMAINS_MAX];
};

atomic_bool prof_marks_switch;

static struct prof_range_log logs[PROF_RANGE_LOGS];
static void (*wake_sender)(void);
static void (*on_loader_wait)(void);
static atomic_bool woken;
static struct {
	_Alignas(64) _Atomic uint64_t count;
} dropped[DROP_LINES]; /* apart: threads without a log count often, and all at once */
static atomic_uint supply = 1; /* counts logs that were taken back */
static atomic_uint waiting; /* threads inside a loader wait */
static _Atomic int64_t waiting_since, waiting_mono; /* the latter holds while the former is set */

/* A word of static TLS: nothing is allocated at a thread's first mark. */
static _Thread_local struct prof_range_log *my_log __attribute__((tls_model("initial-exec")));
/* The supply when this thread found no log: it looks again when there is a new one. */
static _Thread_local unsigned int refused __attribute__((tls_model("initial-exec")));

/* Threads differ in where their variables lie. */
static void drop(void)
{
	uint32_t mix = (uint32_t)((uintptr_t)&refused >> 12) * UINT32_C(0x9e3779b1);

	atomic_fetch_add_explicit(&dropped[mix >> DROP_SHIFT].count, 1, memory_order_relaxed);
}

int prof_marks_init(void (*wake)(void), void (*waits)(void))
{
	size_t bytes = (size_t)PROF_RANGE_LOGS * PROF_RANGE_LOG_BYTES;
	unsigned int i;
	uint8_t *p;

	if (logs[0].ring.data)
		return -EALREADY;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		 -1, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	madvise(p, bytes, MADV_NOHUGEPAGE); /* or the first mark of a thread costs 2 MB */
	for (i = 0; i < PROF_RANGE_LOGS; i++)
		prof_ring_init(&logs[i].ring, p + (size_t)i * PROF_RANGE_LOG_BYTES,
			       PROF_RANGE_LOG_BYTES);
	wake_sender = wake;
	on_loader_wait = waits;
	atomic_store_explicit(&prof_marks_switch, true, memory_order_release);
	return 0;
}

void prof_marks_off(void)
{
	atomic_store_explicit(&prof_marks_switch, false, memory_order_relaxed);
	atomic_store_explicit(&waiting_since, 0, memory_order_relaxed);
	atomic_store_explicit(&waiting, 0, memory_order_relaxed);
}

/* ---- whose log ---- */

static uint64_t owner_word(uint64_t before, uint32_t tid)
{
	return ((before >> 32) + 1) << 32 | tid;
}

static bool take(struct prof_range_log *log, uint64_t expected, uint32_t tid)
{
	return atomic_compare_exchange_strong(&log->owner, &expected, owner_word(expected, tid));
}

static void forget_waits(struct prof_range_log *log);

/*
 * What the log's last owner left behind is not this thread's. That the owner has ended, the kernel
 * told us; its last store was to busy, so reading that makes all it wrote before visible.
 */
static void start_afresh(struct prof_range_log *log)
{
	(void)atomic_load_explicit(&log->busy, memory_order_acquire);
	forget_waits(log);
	atomic_store(&log->ending, false);
	atomic_store_explicit(&log->busy, false, memory_order_relaxed);
	log->gap = true;
	log->domains = 0;
}

static struct prof_range_log *find_log(void)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid);
	struct prof_range_log *log;
	uint64_t owner;

	for (log = logs; log < logs + PROF_RANGE_LOGS; log++) {
		owner = atomic_load(&log->owner);
		if ((uint32_t)owner == tid && take(log, owner, tid)) {
			start_afresh(log);
			return log;
		}
	}
	for (log = logs; log < logs + PROF_RANGE_LOGS; log++) {
		owner = atomic_load(&log->owner);
		if (!(uint32_t)owner && take(log, owner, tid))
			return log;
	}
	return NULL;
}

/* The supply is read before the search: what is taken back meanwhile is found next time. */
static struct prof_range_log *claim_log(void)
{
	unsigned int now = atomic_load_explicit(&supply, memory_order_acquire);
	struct prof_range_log *log = refused == now ? NULL : find_log();

	if (!log)
		refused = now;
	return log;
}

/* The thread's log, marked busy; NULL: none left, or a signal handler interrupted a hook. */
static struct prof_range_log *enter(void)
{
	struct prof_range_log *log = my_log;

	if (!log)
		log = my_log = claim_log();
	if (!log || atomic_load_explicit(&log->busy, memory_order_relaxed))
		return NULL;
	atomic_store_explicit(&log->busy, true, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	return log;
}

static void leave(struct prof_range_log *log)
{
	atomic_store_explicit(&log->busy, false, memory_order_release);
}

/* ---- loader waits: who waits now ---- */

static void wait_begins(int64_t stamp)
{
	if (atomic_fetch_add(&waiting, 1))
		return;
	atomic_store(&waiting_mono, prof_mono_ns());
	atomic_store(&waiting_since, stamp);
	if (on_loader_wait)
		on_loader_wait();
}

/* The stamp is cleared only if it is still the one seen before: another wait may have begun. */
static void wait_ends(void)
{
	int64_t seen = atomic_load(&waiting_since);

	if (atomic_fetch_sub(&waiting, 1) == 1)
		atomic_compare_exchange_strong(&waiting_since, &seen, 0);
}

static void forget_waits(struct prof_range_log *log)
{
	if (log->waits)
		wait_ends();
	log->waits = 0;
}

/* Waits at the place where one begins now have ended, though no end was seen. */
static void forget_stale(struct prof_range_log *log, const struct range_key *k)
{
	uint32_t i;

	for (i = 0; i < log->waits; i++)
		if (log->wait[i].source == k->source && log->wait[i].key == k->key &&
		    log->wait[i].depth >= k->depth)
			break;
	if (!i)
		forget_waits(log);
	else
		log->waits = i;
}

/*
 * True if the wait is the thread's outermost. Those inside it are part of it and are not written:
 * a chain of data pipes waits in each of its stages, for each sample.
 */
static bool wait_opens(struct prof_range_log *log, const struct range_key *k, int64_t stamp)
{
	forget_stale(log, k);
	if (log->waits == LOADERS_MAX)
		return true; /* it would not be recognised when it ends; harmless */
	log->wait[log->waits++] = *k;
	if (log->waits > 1)
		return false;
	wait_begins(stamp);
	return true;
}

/* Which of the thread's waits ends here; log->waits: none does. */
static uint32_t find_wait(const struct prof_range_log *log, const struct range_key *k)
{
	uint32_t i = log->waits;

	while (i--)
		if (log->wait[i].key == k->key && log->wait[i].depth == k->depth &&
		    log->wait[i].source == k->source)
			return i;
	return log->waits;
}

/* ---- writing ---- */

static void wake_once(struct prof_range_log *log)
{
	if (wake_sender && prof_ring_half_full(&log->ring) &&
	    !atomic_load_explicit(&woken, memory_order_relaxed) && !atomic_exchange(&woken, true))
		wake_sender();
}

/* The record of a mark, all but its name and the @more bytes behind it; NULL: no room. */
static struct prof_mark *new_mark(struct prof_range_log *log, const struct range_key *k,
				  int64_t stamp, size_t len, size_t more)
{
	struct prof_mark *m = prof_ring_reserve(&log->ring, (uint32_t)(sizeof(*m) + len + more));

	if (!m)
		return NULL;
	m->stamp_ns = stamp;
	m->key = k->key;
	m->depth = k->depth;
	m->len = (uint16_t)len;
	m->source = k->source & 15;
	m->range = k->range & 15;
	m->first = k->first;
	m->in_comm = more != 0;
	m->gap = log->gap;
	log->gap = false;
	return m;
}

static void publish(struct prof_range_log *log)
{
	prof_ring_commit(&log->ring);
	wake_once(log);
}

static void write_begin(struct prof_range_log *log, const struct range_key *k,
			const struct label *l, int64_t stamp)
{
	size_t len = l->len > PROF_MARK_NAME_MAX ? PROF_MARK_NAME_MAX : l->len;
	struct prof_mark *m;

	if (facts_name_is_loader(l->name, l->len) && !wait_opens(log, k, stamp))
		return;
	m = new_mark(log, k, stamp, len, l->comm ? sizeof(l->comm) : 0);
	if (!m) {
		drop();
		return;
	}
	m->begins = true;
	memcpy(m->name, l->name, len);
	if (m->in_comm)
		memcpy(m->name + len, &l->comm, sizeof(l->comm));
	publish(log);
}

/* A lost end makes what is open here worthless, which the next mark says. */
static int64_t put_end(struct prof_range_log *log, const struct range_key *k, int64_t stamp)
{
	struct prof_mark *m = new_mark(log, k, stamp, 0, 0);

	if (!m) {
		log->gap = true;
		return stamp;
	}
	m->begins = false;
	publish(log);
	return stamp;
}

/*
 * The end of a thread's outermost loader wait raises `ending` before it reads the clock, so that
 * the sender, which reads its clock before the flag, never writes a piece beyond the true end. By
 * an exchange: a store, however it is ordered, may be seen by others when the clock was read long
 * ago, on aarch64 at least.
 */
static int64_t write_end(struct prof_range_log *log, const struct range_key *k)
{
	uint32_t i = find_wait(log, k);
	int64_t stamp;

	if (i == log->waits)
		return put_end(log, k, prof_realtime_ns()); /* no wait */
	if (i) {
		log->waits = i; /* its beginning was not written either */
		return prof_realtime_ns();
	}
	atomic_exchange(&log->ending, true);
	stamp = put_end(log, k, prof_realtime_ns());
	forget_waits(log);
	atomic_store_explicit(&log->ending, false, memory_order_release);
	return stamp;
}

void prof_mark_begin(enum prof_source source, uint64_t key, const char *name, size_t len)
{
	struct range_key k = { .key = key, .source = (uint8_t)source };
	struct label l = { .name = name, .len = len };
	struct prof_range_log *log = enter();

	if (!log) {
		drop();
		return;
	}
	write_begin(log, &k, &l, prof_realtime_ns());
	leave(log);
}

void prof_mark_end(enum prof_source source, uint64_t key)
{
	struct range_key k = { .key = key, .source = (uint8_t)source };
	struct prof_range_log *log = enter();

	if (!log)
		return;
	write_end(log, &k);
	leave(log);
}

static struct domain *find_domain(struct prof_range_log *log, uint64_t key)
{
	uint32_t i;

	for (i = 0; i < log->domains; i++)
		if (log->domain[i].key == key)
			return &log->domain[i];
	if (i == DOMAINS_MAX)
		return NULL;
	log->domain[i] = (struct domain){ .key = key };
	log->domains++;
	return &log->domain[i];
}

int prof_mark_push_comm(uint64_t domain, const char *name, size_t len, uint64_t comm)
{
	struct range_key k = { .key = domain, .source = PROF_SOURCE_NVTX };
	struct label l = { .name = name, .len = len, .comm = comm };
	struct prof_range_log *log = enter();
	struct domain *d = log ? find_domain(log, domain) : NULL;

	if (d) {
		k.depth = d->depth++;
		write_begin(log, &k, &l, prof_realtime_ns());
	} else {
		drop();
	}
	if (log)
		leave(log);
	return d ? (int)k.depth : -1;
}

int prof_mark_push(uint64_t domain, const char *name, size_t len)
{
	return prof_mark_push_comm(domain, name, len, 0);
}

/* A pop without a push is of a range that began before we did: no range of ours, no loss. */
int prof_mark_pop(uint64_t domain)
{
	struct range_key k = { .key = domain, .source = PROF_SOURCE_NVTX };
	struct prof_range_log *log = enter();
	struct domain *d = log ? find_domain(log, domain) : NULL;
	bool open = d && d->depth;

	if (open) {
		k.depth = --d->depth;
		write_end(log, &k);
	}
	if (log)
		leave(log);
	return open ? (int)k.depth : -1;
}

int64_t prof_mark_open(uint8_t range, uint64_t key, bool first, const char *name, size_t len,
		       int64_t stamp_ns)
{
	struct range_key k = {
		.key = key, .source = PROF_SOURCE_SHIM, .range = range, .first = first
	};
	struct label l = { .name = name, .len = len };
	struct prof_range_log *log = enter();

	if (!log) {
		drop();
		return 0;
	}
	stamp_ns = stamp_ns ? stamp_ns : prof_realtime_ns();
	write_begin(log, &k, &l, stamp_ns);
	leave(log);
	return stamp_ns;
}

int64_t prof_mark_close(uint8_t range, uint64_t key)
{
	struct range_key k = { .key = key, .source = PROF_SOURCE_SHIM, .range = range };
	struct prof_range_log *log = enter();
	int64_t stamp_ns;

	if (!log)
		return 0;
	stamp_ns = write_end(log, &k);
	leave(log);
	return stamp_ns;
}

int64_t prof_marks_loader_mono(void)
{
	return atomic_load(&waiting_since) ? atomic_load(&waiting_mono) : 0;
}

int64_t prof_marks_loader_since(void)
{
	return atomic_load_explicit(&waiting_since, memory_order_relaxed);
}

unsigned int prof_marks_loader_open(void)
{
	return atomic_load_explicit(&waiting, memory_order_relaxed);
}

uint64_t prof_marks_dropped(void)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < DROP_LINES; i++)
		sum += atomic_load_explicit(&dropped[i].count, memory_order_relaxed);
	return sum;
}

/* ---- the sender's half ---- */

struct prof_range_log *prof_range_log_at(unsigned int i, uint64_t *owner)
{
	*owner = atomic_load(&logs[i].owner);
	return (uint32_t)*owner ? &logs[i] : NULL;
}

bool prof_range_log_ending(const struct prof_range_log *log)
{
	return atomic_load(&log->ending);
}

const struct prof_mark *prof_range_log_peek(struct prof_range_log *log)
{
	uint32_t bytes;

	return prof_ring_peek(&log->ring, &bytes);
}

uint64_t prof_mark_comm(const struct prof_mark *m)
{
	uint64_t comm = 0;

	if (m->in_comm)
		memcpy(&comm, m->name + m->len, sizeof(comm));
	return comm;
}

void prof_range_log_release(struct prof_range_log *log)
{
	prof_ring_release(&log->ring);
}

bool prof_range_log_orphaned(uint64_t owner)
{
	int kept = errno;
	bool gone = syscall(SYS_tgkill, getpid(), (uint32_t)owner, 0) && errno == ESRCH;

	errno = kept;
	return gone;
}

bool prof_range_log_reap(struct prof_range_log *log, uint64_t owner)
{
	if (!take(log, owner, REAPING))
		return false;
	start_afresh(log);
	log->gap = false;
	atomic_store(&log->owner, owner_word(owner, 0));
	atomic_fetch_add_explicit(&supply, 1, memory_order_release);
	return true;
}

void prof_marks_drained(void)
{
	atomic_store_explicit(&woken, false, memory_order_relaxed);
}

size_t prof_marks_bytes(void)
{
	size_t bytes = sizeof(logs);
	unsigned int i;

	for (i = 0; i < PROF_RANGE_LOGS; i++)
		if (atomic_load_explicit(&logs[i].ring.head, memory_order_relaxed))
			bytes += PROF_RANGE_LOG_BYTES;
	return bytes;
}
