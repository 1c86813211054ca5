/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The segment: made, found, its slots taken, read and taken back.
 *
 * slot.owner is the worker's pid, 0 for a free slot. A worker takes a free one by compare-and-swap;
 * only the trainer frees it, when the process is gone and the rings are read. Texts of samples are
 * sent once, then by number: writer and reader keep the same table of places, TEXTS for each kind,
 * and the writer says which place gets a new text before it names it.
 */
#include "shared.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/env.h"
#include "core/hash.h"
#include "shmring.h"

#define MAGIC UINT64_C(0x31646572616873) /* "shared1" */
#define VERSION 2u
#define ROW_BYTES (128u << 10) /* about 1,000 rows between two drains */
#define SAMPLE_BYTES (256u << 10)
#define TEXTS 128u /* of each kind; a power of two */
#define VARIABLE "GPUSTARVE_SHARED="
#define VARIABLE_BYTES 96u
#define NAME "gpustarve"
#define HIGH_FD 700 /* out of the way of programs that count on low numbers */
#define PULLS_MAX 4096u /* from one ring at a time */

#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 1u
#define MFD_ALLOW_SEALING 2u
#endif
#ifndef F_ADD_SEALS
#define F_ADD_SEALS 1033
#define F_SEAL_SEAL 1
#define F_SEAL_SHRINK 2
#define F_SEAL_GROW 4
#endif

enum record {
	RECORD_ROW = 1, /* struct wire_batch */
	RECORD_TEXT = 2, /* struct text_head and the text */
	RECORD_SAMPLE = 3, /* struct sample_record */
};

enum text_of {
	TEXT_STACK,
	TEXT_NATIVE,
	TEXT_TARGET,
	TEXT_FS,
	TEXT_LINKS,
	TEXT_KINDS
};

struct text_head {
	uint32_t place;
};

struct sample_record {
	struct wire_sample s;
	uint32_t text[TEXT_KINDS]; /* place plus 1, 0: none */
};

struct slot {
	_Alignas(64) atomic_uint owner;
	atomic_uint samples; /* it samples itself */
	_Atomic uint64_t missed; /* looks that it left out */
	struct prof_shmring row, sample;
	uint8_t row_data[ROW_BYTES];
	uint8_t sample_data[SAMPLE_BYTES];
};

struct segment {
	uint64_t magic;
	uint32_t version, bytes;
	uint8_t stream[16];
	_Alignas(64) atomic_uint change; /* futex: counts changes of rate */
	atomic_uint rate;
	atomic_uint parked; /* samplers asleep */
	_Atomic uint64_t lost; /* rows of workers without a slot */
	atomic_uint declined; /* workers that have no sampler */
	struct slot slot[PROF_SHARED_SLOTS];
};

static struct segment *seg; /* this process made it, or its parent */
static atomic_bool ours; /* any thread may ask */
static struct segment *_Atomic up; /* the trainer's, in a worker; never changes once it is there */
static char variable[VARIABLE_BYTES]; /* in environ; filled in at arm */
static char above[VARIABLE_BYTES]; /* what the environment said; "" for nothing */

/* ---- finding ---- */

void prof_shared_find(void)
{
	const char *found = prof_env_text("GPUSTARVE_SHARED");

	if (found && strlen(found) < sizeof(above))
		strcpy(above, found);
	snprintf(variable, sizeof(variable), "%s", VARIABLE);
	prof_env_put(variable);
}

static bool is_ours(const char *path)
{
	static const char want[] = "/memfd:" NAME;
	char target[64];
	ssize_t n = readlink(path, target, sizeof(target));

	return n >= (ssize_t)sizeof(want) - 1 && !memcmp(target, want, sizeof(want) - 1);
}

static int map(int fd, struct segment **out)
{
	struct stat st;
	void *p;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_size != sizeof(struct segment))
		return -EPROTO;
	p = mmap(NULL, sizeof(struct segment), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	*out = p;
	return 0;
}

static bool looks_right(const struct segment *s, const char *stream)
{
	char hex[33];
	int i;

	for (i = 0; i < 16; i++)
		snprintf(hex + 2 * i, 3, "%02x", s->stream[i]);
	return s->magic == MAGIC && s->version == VERSION && s->bytes == sizeof(*s) &&
	       !strcmp(hex, stream);
}

/*
 * PID:FD:STREAM. The link is read before the file is opened: that number may by now be a pipe,
 * which would hold us up, or a device.
 */
static int open_above(struct segment **out)
{
	int pid, number, at = 0, fd, err;
	char path[64];

	if (sscanf(above, "%d:%d:%n", &pid, &number, &at) < 2 || !at)
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, number);
	if (!is_ours(path))
		return -ENOENT;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	err = map(fd, out);
	close(fd);
	if (!err && !looks_right(*out, above + at)) {
		munmap(*out, sizeof(**out));
		err = -EPROTO;
	}
	return err;
}

/* ---- making ---- */

struct maker { /* the trainer's side of each slot */
	uint64_t row_tail, sample_tail, dropped, missed;
	uint32_t pid; /* whose rings these places are in */
	char *text[TEXT_KINDS * TEXTS];
	bool held; /* row is the oldest one, not taken yet */
	struct wire_batch row;
};

static struct maker maker[PROF_SHARED_SLOTS];
static struct prof_shared_stats total;
static atomic_uint samplers; /* workers that sample themselves, at the last drain */
static int kept_fd = -1;
static ino_t kept_inode;

/*
 * A file that grows beyond the limit brings its thread SIGXFSZ, which ends programs. One that may
 * not grow so far by its owner's will is not made.
 */
static bool may_grow(void)
{
	struct rlimit most;

	return !getrlimit(RLIMIT_FSIZE, &most) && most.rlim_cur >= sizeof(struct segment);
}

static int create(const uint8_t stream[16])
{
	int low, fd, err;

	if (!may_grow())
		return -EFBIG;
	low = (int)syscall(SYS_memfd_create, NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (low < 0)
		return -errno;
	fd = fcntl(low, F_DUPFD_CLOEXEC, HIGH_FD);
	if (fd < 0)
		fd = low;
	else
		close(low);
	err = ftruncate(fd, sizeof(struct segment)) ? -errno : map(fd, &seg);
	if (err) {
		close(fd);
		return err;
	}
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	madvise(seg, sizeof(*seg), MADV_NOHUGEPAGE);
	seg->version = VERSION;
	seg->bytes = sizeof(*seg);
	memcpy(seg->stream, stream, sizeof(seg->stream));
	seg->magic = MAGIC;
	return fd;
}

/*
 * The value grows from its end, so that whoever reads or inherits the environment meanwhile sees
 * an empty one or all of it.
 */
static void publish(void)
{
	char value[VARIABLE_BYTES];
	size_t room = sizeof(variable) - strlen(VARIABLE);
	char *to = variable + strlen(VARIABLE);
	int n = snprintf(value, sizeof(value), "%d:%d:", getpid(), kept_fd), i;

	for (i = 0; i < 16; i++)
		n += snprintf(value + n, sizeof(value) - (size_t)n, "%02x", seg->stream[i]);
	if ((size_t)n >= room || strncmp(variable, VARIABLE, strlen(VARIABLE)) != 0)
		return;
	memcpy(to + 1, value + 1, (size_t)n);
	__atomic_store_n(to, value[0], __ATOMIC_RELEASE); /* until now the value is empty */
}

int prof_shared_create(const uint8_t stream[16])
{
	struct stat st;
	int fd;

	fd = create(stream);
	if (fd < 0)
		return fd;
	kept_fd = fd;
	if (!fstat(fd, &st))
		kept_inode = st.st_ino;
	ours = true;
	publish();
	return 0;
}

static uint32_t fair_rate(uint32_t hz)
{
	uint32_t n = atomic_load_explicit(&samplers, memory_order_relaxed);
	uint32_t most =
		n > PROF_SHARED_LOOKS / PROF_SHARED_RATE ? PROF_SHARED_LOOKS / n : PROF_SHARED_RATE;

	return hz < most ? hz : most;
}

void prof_shared_idle(bool idle, uint32_t rate_hz)
{
	uint32_t rate = idle && rate_hz ? fair_rate(rate_hz) : 0;

	if (!ours || atomic_exchange(&seg->rate, rate) == rate)
		return;
	atomic_fetch_add(&seg->change, 1);
	if (atomic_load(&seg->parked))
		syscall(SYS_futex, &seg->change, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

bool prof_shared_samples_itself(pid_t pid)
{
	unsigned int i;

	for (i = 0; ours && i < PROF_SHARED_SLOTS; i++)
		if (atomic_load_explicit(&seg->slot[i].owner, memory_order_acquire) ==
		    (unsigned int)pid)
			return atomic_load(&seg->slot[i].samples);
	return false;
}

/* ---- reading ---- */

static bool plausible(const struct wire_batch *b)
{
	return b->what == WIRE_BATCH_FETCH && b->start_ns > 0 && b->end_ns >= b->start_ns &&
	       b->text <= PROF_SHARED_ASIDE;
}

static void read_rows(struct slot *s, struct maker *m, const struct prof_shared_sink *sink)
{
	uint32_t kind, n;
	ssize_t len;

	for (n = 0; n < PULLS_MAX; n++) {
		if (!m->held) {
			len = prof_shmring_pull(&s->row, s->row_data, ROW_BYTES, &m->row_tail,
						&kind, &m->row, sizeof(m->row));
			if (len == -EAGAIN)
				return;
			if (len != sizeof(m->row) || kind != RECORD_ROW || !plausible(&m->row)) {
				total.damaged++;
				continue;
			}
			m->row.pid = m->pid;
		}
		m->held = !sink->batch(sink->ctx, &m->row);
		if (m->held)
			return;
		total.rows++;
	}
}

static void set_text(struct maker *m, const uint8_t *record, size_t len)
{
	struct text_head h;

	if (len <= sizeof(h)) {
		total.damaged++;
		return;
	}
	memcpy(&h, record, sizeof(h));
	if (h.place >= TEXT_KINDS * TEXTS) {
		total.damaged++;
		return;
	}
	free(m->text[h.place]);
	m->text[h.place] = strndup((const char *)record + sizeof(h), len - sizeof(h));
}

static void get_text(const struct maker *m, uint32_t place, char *to, size_t room)
{
	const char *from = place && place <= TEXT_KINDS * TEXTS ? m->text[place - 1] : NULL;

	*to = 0;
	if (from && strlen(from) < room)
		strcpy(to, from);
}

static bool sample_plausible(const struct wire_sample *s)
{
	return s->t_ns > 0 && s->role <= WIRE_ROLE_FEEDER && s->state <= WIRE_STATE_GONE &&
	       s->wait <= WIRE_WAIT_UNKNOWN;
}

static void give_sample(const struct maker *m, const uint8_t *record, size_t len,
			const struct prof_shared_sink *sink)
{
	static struct prof_thread_sample sample; /* the sender's */
	struct sample_record r;

	if (len == sizeof(r))
		memcpy(&r, record, sizeof(r));
	if (len != sizeof(r) || !sample_plausible(&r.s)) {
		total.damaged++;
		return;
	}
	sample.s = r.s;
	sample.s.pid = m->pid;
	sample.s.stack = sample.s.native = sample.s.target = sample.s.fs = sample.s.links = 0;
	get_text(m, r.text[TEXT_STACK], sample.stack, sizeof(sample.stack));
	get_text(m, r.text[TEXT_NATIVE], sample.native, sizeof(sample.native));
	get_text(m, r.text[TEXT_TARGET], sample.target, sizeof(sample.target));
	get_text(m, r.text[TEXT_FS], sample.fs, sizeof(sample.fs));
	get_text(m, r.text[TEXT_LINKS], sample.links, sizeof(sample.links));
	total.looks++;
	sink->sample(sink->ctx, &sample);
}

static void read_samples(struct slot *s, struct maker *m, const struct prof_shared_sink *sink)
{
	static uint8_t record[sizeof(struct text_head) + PROF_PY_TEXT + PROF_NATIVE_TEXT];
	uint32_t kind, n;
	ssize_t len;

	for (n = 0; n < PULLS_MAX; n++) {
		len = prof_shmring_pull(&s->sample, s->sample_data, SAMPLE_BYTES, &m->sample_tail,
					&kind, record, sizeof(record));
		if (len == -EAGAIN)
			return;
		if (len > 0 && kind == RECORD_TEXT)
			set_text(m, record, (size_t)len);
		else if (len > 0 && kind == RECORD_SAMPLE)
			give_sample(m, record, (size_t)len, sink);
		else
			total.damaged++;
	}
}

static void count_drops(struct slot *s, struct maker *m)
{
	uint64_t now = atomic_load(&s->row.dropped) + atomic_load(&s->sample.dropped);
	uint64_t missed = atomic_load(&s->missed);

	if (now > m->dropped)
		total.dropped += now - m->dropped;
	m->dropped = now;
	if (missed > m->missed)
		total.missed += missed - m->missed;
	m->missed = missed;
}

static void forget(struct maker *m)
{
	unsigned int i;

	for (i = 0; i < TEXT_KINDS * TEXTS; i++)
		free(m->text[i]);
	memset(m, 0, sizeof(*m));
}

/* Its process is gone and all is read. */
static void free_slot(struct slot *s, struct maker *m)
{
	forget(m);
	atomic_store(&s->samples, 0);
	atomic_store(&s->row.head, 0);
	atomic_store(&s->row.tail, 0);
	atomic_store(&s->row.dropped, 0);
	atomic_store(&s->sample.head, 0);
	atomic_store(&s->sample.tail, 0);
	atomic_store(&s->sample.dropped, 0);
	atomic_store(&s->missed, 0);
	atomic_store_explicit(&s->owner, 0, memory_order_release);
}

static bool is_read(struct slot *s, const struct maker *m)
{
	return !m->held && atomic_load(&s->row.head) == m->row_tail &&
	       atomic_load(&s->sample.head) == m->sample_tail;
}

static bool is_gone(uint32_t pid)
{
	return pid > INT_MAX || (kill((pid_t)pid, 0) && errno == ESRCH);
}

static void drain_slot(unsigned int i, const struct prof_shared_sink *sink)
{
	struct slot *s = &seg->slot[i];
	struct maker *m = &maker[i];
	uint32_t pid = atomic_load_explicit(&s->owner, memory_order_acquire);
	bool gone;

	if (!pid)
		return;
	if (pid != m->pid) {
		forget(m);
		m->pid = pid;
		total.workers++;
	}
	gone = is_gone(pid); /* before the last look into its rings */
	read_rows(s, m, sink);
	read_samples(s, m, sink);
	count_drops(s, m);
	if (gone && is_read(s, m))
		free_slot(s, m);
}

static void check_descriptor(void)
{
	struct stat st;

	if (kept_fd < 0 || total.closed)
		return;
	if (fstat(kept_fd, &st) || st.st_ino != kept_inode || st.st_size != sizeof(struct segment))
		total.closed = true;
}

void prof_shared_drain(const struct prof_shared_sink *sink)
{
	unsigned int i, n = 0;

	if (!ours)
		return;
	for (i = 0; i < PROF_SHARED_SLOTS; i++) {
		drain_slot(i, sink);
		n += atomic_load(&seg->slot[i].samples) != 0;
	}
	atomic_store_explicit(&samplers, n, memory_order_relaxed);
	check_descriptor();
}

void prof_shared_stats(struct prof_shared_stats *s)
{
	*s = total;
	if (ours)
		s->dropped += atomic_load(&seg->lost);
	if (ours)
		s->declined = atomic_load(&seg->declined);
}

/* ---- workers ---- */

static struct slot *_Atomic mine; /* this process's slot */
static atomic_bool tried; /* there is none to be had */
static atomic_flag busy = ATOMIC_FLAG_INIT; /* somebody takes one */
static uint64_t sent[TEXT_KINDS * TEXTS]; /* hashes of the texts that the reader has */

void prof_shared_forked(void)
{
	if (ours)
		up = seg;
	ours = false;
	mine = NULL;
	tried = false;
	atomic_flag_clear(&busy);
	memset(sent, 0, sizeof(sent));
}

bool prof_shared_has_trainer(void)
{
	return !ours && (up || above[0]);
}

static struct slot *take_slot(struct segment *s)
{
	unsigned int i, nobody, pid = (unsigned int)getpid();

	for (i = 0; i < PROF_SHARED_SLOTS; i++) {
		nobody = 0;
		if (atomic_compare_exchange_strong(&s->slot[i].owner, &nobody, pid))
			return &s->slot[i];
	}
	return NULL;
}

/* The slot of this process; NULL: none is to be had, or another thread is at it right now. */
static struct slot *my_slot(void)
{
	struct segment *s = NULL;
	int kept = errno;

	if (mine || tried || ours || atomic_flag_test_and_set(&busy))
		return mine;
	if (!up && !open_above(&s))
		up = s;
	if (up)
		mine = take_slot(up);
	else
		tried = true;
	atomic_flag_clear(&busy);
	errno = kept; /* of the program, whose thread this may be */
	return mine;
}

void prof_shared_row(const struct wire_batch *row)
{
	struct slot *s = my_slot();

	if (s)
		prof_shmring_push(&s->row, s->row_data, ROW_BYTES, RECORD_ROW, row, sizeof(*row));
	else if (up && !ours)
		atomic_fetch_add_explicit(&up->lost, 1, memory_order_relaxed);
}

/* Place plus 1 of the text in the reader's table; 0: there is none, or no room to send it. */
static uint32_t send_text(struct slot *s, enum text_of kind, const char *text)
{
	static uint8_t record[sizeof(struct text_head) + PROF_PY_TEXT + PROF_NATIVE_TEXT];
	struct text_head h;
	size_t len = strlen(text);
	uint64_t sum;

	if (!len || len > sizeof(record) - sizeof(h))
		return 0;
	sum = prof_hash_text(text) | 1;
	h.place = kind * TEXTS + (sum >> 8 & (TEXTS - 1));
	if (sent[h.place] == sum)
		return h.place + 1;
	memcpy(record, &h, sizeof(h));
	memcpy(record + sizeof(h), text, len);
	if (!prof_shmring_push(&s->sample, s->sample_data, SAMPLE_BYTES, RECORD_TEXT, record,
			       (uint32_t)(sizeof(h) + len)))
		return 0;
	sent[h.place] = sum;
	return h.place + 1;
}

bool prof_shared_sample(const struct prof_thread_sample *sample)
{
	struct slot *s = my_slot();
	struct sample_record r;

	if (!s)
		return false;
	memset(&r, 0, sizeof(r));
	r.s = sample->s;
	r.text[TEXT_STACK] = send_text(s, TEXT_STACK, sample->stack);
	r.text[TEXT_NATIVE] = send_text(s, TEXT_NATIVE, sample->native);
	r.text[TEXT_TARGET] = send_text(s, TEXT_TARGET, sample->target);
	r.text[TEXT_FS] = send_text(s, TEXT_FS, sample->fs);
	r.text[TEXT_LINKS] = send_text(s, TEXT_LINKS, sample->links);
	return prof_shmring_push(&s->sample, s->sample_data, SAMPLE_BYTES, RECORD_SAMPLE, &r,
				 sizeof(r));
}

void prof_shared_decline(void)
{
	if (my_slot())
		atomic_fetch_add_explicit(&up->declined, 1, memory_order_relaxed);
}

void prof_shared_missed(uint64_t looks)
{
	struct slot *s = my_slot();

	if (s)
		atomic_fetch_add_explicit(&s->missed, looks, memory_order_relaxed);
}

int prof_shared_join(void)
{
	struct slot *s = my_slot();

	if (!s)
		return up ? -EAGAIN : -ENOENT;
	atomic_store(&s->samples, 1);
	return 0;
}

void prof_shared_leave(void)
{
	if (mine)
		atomic_store(&mine->samples, 0);
}

uint32_t prof_shared_rate(void)
{
	return up ? atomic_load_explicit(&up->rate, memory_order_acquire) : 0;
}

/* Not private: the trainer wakes from another process. */
static void wait_change(unsigned int seen, const struct timespec *deadline)
{
	syscall(SYS_futex, &up->change, FUTEX_WAIT_BITSET, seen, deadline, NULL,
		FUTEX_BITSET_MATCH_ANY);
}

void prof_shared_sleep(int64_t deadline_ns)
{
	struct timespec t = { .tv_sec = deadline_ns / 1000000000,
			      .tv_nsec = deadline_ns % 1000000000 };
	unsigned int seen = atomic_load(&up->change);

	if (atomic_load(&up->rate)) {
		wait_change(seen, &t);
		return;
	}
	atomic_fetch_add(&up->parked, 1);
	if (!atomic_load(&up->rate))
		wait_change(seen, NULL);
	atomic_fetch_sub(&up->parked, 1);
}
