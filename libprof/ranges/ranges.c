/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From marks to ranges, on the sender thread: pairs each thread's beginnings and ends, names and
 * classifies them, cuts open loader waits into pieces. Everything here belongs to the sender; only
 * init, the fork calls and prof_ranges_loader_since run elsewhere.
 */
#include "ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/clockpoll.h"
#include "facts/names.h"
#include "marks.h"
#include "nvtx.h"
#include "torchhook.h"

#define OPEN_MAX 1024u /* ranges open on one thread */
#define IDS_OPEN_MAX 4096u /* ranges open that end by id */
#define PENDING_MAX 256u /* ends whose beginning is in a log not yet read */
#define MARKS_MAX 65536u /* read from one log at a time: a flood does not hold the sender up */
#define NAMES_MAX 65536u /* from here on digits in names no longer count */

#define TYPE_SKIP 0 /* a range that another source reports, too */

struct open_range {
	int64_t start_ns, cut_ns; /* on the trace's clock; cut: up to there it is written, 0: not */
	uint64_t key;
	uint64_t comm; /* 0: none */
	uint32_t depth, tid, name;
	uint8_t source;
	uint8_t type; /* enum wire_range or TYPE_SKIP */
	uint8_t flags; /* enum wire_event_flag */
};

struct open_set {
	struct open_range *at;
	uint32_t count, room, limit;
};

struct pending {
	int64_t stamp_ns;
	uint64_t key;
	uint8_t source;
	bool old; /* waited for one whole drain already */
};

struct drain { /* what one call works with */
	struct wire_strtab *names;
	int64_t (*axis)(int64_t realtime_ns);
	prof_ranges_sink *sink;
	void *ctx;
	size_t events;
};

static struct prof_ranges_opts opts;
static bool ready;
static struct prof_ranges_stats total;
static uint64_t names_made;
static uint64_t owners[PROF_RANGE_LOGS]; /* whose open ranges open[i] holds */
static struct open_set open[PROF_RANGE_LOGS];
static struct open_set ids; /* SOURCE_ID, of all threads */
static struct pending pending[PENDING_MAX];
static uint32_t pendings;
static struct {
	bool noted, known;
} told; /* what poll has reported: is there a note, is torch's version known */

int prof_ranges_init(const struct prof_ranges_opts *o)
{
	int rc = prof_marks_init(o->wake, o->waits);

	if (rc)
		return rc;
	opts = *o;
	if (opts.torch)
		prof_torch_init();
	if (opts.nvtx)
		prof_nvtx_arm();
	told.noted = *prof_torch_note();
	told.known = *prof_torch_version();
	ready = true;
	return 0;
}

bool prof_ranges_poll(void)
{
	bool noted = *prof_torch_note(), known = *prof_torch_version();

	if (!ready || !opts.torch)
		return false;
	prof_torch_poll();
	if (noted == told.noted && known == told.known)
		return false;
	told.noted = noted;
	told.known = known;
	return true;
}

const char *prof_ranges_note(void)
{
	return prof_torch_note();
}

const char *prof_ranges_torch_version(void)
{
	return prof_torch_version();
}

bool prof_ranges_torch_mapped(void)
{
	return !ready || !opts.torch || prof_torch_mapped();
}

int64_t prof_ranges_loader_mono(void)
{
	return prof_marks_loader_mono();
}

int64_t prof_ranges_loader_since(void)
{
	return prof_marks_loader_since();
}

void prof_ranges_fork_prepare(void)
{
	prof_torch_fork_prepare();
}

void prof_ranges_fork_parent(void)
{
	prof_torch_fork_parent();
}

void prof_ranges_dead(void)
{
	prof_marks_off();
	prof_torch_fork_child();
}

/* ---- names ---- */

static bool starts(const char *name, size_t len, const char *prefix)
{
	size_t n = strlen(prefix);

	return len >= n && !memcmp(name, prefix, n);
}

static bool finishes(const char *name, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len >= n && !memcmp(name + len - n, suffix, n);
}

/* emit_nvtx writes `name, seq = 5` or `name, op_id = 7`: where the name proper ends. */
static size_t operator_name(const char *name, size_t len)
{
	const char *end = name + len, *p = name;

	while ((p = memchr(p, ',', (size_t)(end - p)))) {
		if (starts(p, (size_t)(end - p), ", seq = ") ||
		    starts(p, (size_t)(end - p), ", op_id = "))
			return (size_t)(p - name);
		p++;
	}
	return len;
}

/*
 * A row of emit_nvtx is torch's own RecordFunction range once more. Waits within waits are not
 * written anyway; a step that we already have from the callback is skipped.
 */
static uint8_t type_of_row(const char *name, size_t len)
{
	if (facts_name_is_loader(name, len))
		return WIRE_RANGE_LOADER;
	if (starts(name, len, "ProfilerStep#"))
		return prof_torch_hooked() ? TYPE_SKIP : WIRE_RANGE_STEP;
	return WIRE_RANGE_OPERATOR;
}

static uint8_t type_of(const char *name, size_t len)
{
	if (facts_name_is_loader(name, len))
		return WIRE_RANGE_LOADER;
	if (starts(name, len, "ProfilerStep#"))
		return WIRE_RANGE_STEP;
	if (starts(name, len, "Optimizer.step#") && finishes(name, len, ".step"))
		return WIRE_RANGE_OPTIMIZER;
	return WIRE_RANGE_USER;
}

static uint32_t intern_counted(struct wire_strtab *names, const char *name, size_t len)
{
	uint32_t before = wire_strtab_count(names);
	uint32_t id = wire_strtab_intern(names, name, len);

	names_made += wire_strtab_count(names) - before;
	return id;
}

/* Numbered names ("batch 17") would fill the table for ever: in the end they share one. */
static uint32_t intern_folded(struct wire_strtab *names, const char *name, size_t len)
{
	char folded[PROF_MARK_NAME_MAX + 1];
	size_t i, n = 0;

	for (i = 0; i < len && i < PROF_MARK_NAME_MAX; i++) {
		bool digit = name[i] >= '0' && name[i] <= '9';

		if (!digit || !n || folded[n - 1] != '#')
			folded[n++] = digit ? '#' : name[i];
	}
	if (names_made >= 2 * NAMES_MAX)
		return intern_counted(names, "(other)", 7);
	return intern_counted(names, folded, n);
}

static uint32_t intern(struct wire_strtab *names, const char *name, size_t len)
{
	if (names_made >= NAMES_MAX)
		return intern_folded(names, name, len);
	return intern_counted(names, name, len);
}

static void name_it(struct drain *d, struct open_range *r, const struct prof_mark *m)
{
	bool plain = m->source == PROF_SOURCE_TORCH || m->source == PROF_SOURCE_SHIM;
	size_t len = plain ? m->len : operator_name(m->name, m->len);

	if (m->source == PROF_SOURCE_SHIM) {
		r->type = m->range;
		r->flags = m->first ? WIRE_EV_FL_FIRST : 0;
	} else if (len < m->len) {
		r->type = type_of_row(m->name, len);
		r->flags = r->type == WIRE_RANGE_OPERATOR ? 0 : WIRE_EV_FL_OPERATOR;
	} else {
		r->type = type_of(m->name, len);
	}
	if (r->type != TYPE_SKIP)
		r->name = intern(d->names, m->name, len);
}

/* ---- ranges that are open ---- */

static void lose(uint64_t n)
{
	total.dropped += n;
}

static void remove_at(struct open_set *s, uint32_t i)
{
	s->count--;
	memmove(&s->at[i], &s->at[i + 1], (s->count - i) * sizeof(*s->at));
}

static void discard_all(struct open_set *s)
{
	lose(s->count);
	s->count = 0;
}

static bool grow(struct open_set *s)
{
	uint32_t room = s->room ? s->room * 2 : 32;
	struct open_range *at;

	if (room > s->limit)
		return false;
	at = realloc(s->at, room * sizeof(*at));
	if (!at)
		return false;
	s->at = at;
	s->room = room;
	return true;
}

static void add(struct open_set *s, const struct open_range *r)
{
	if (s->count == s->room && !grow(s)) {
		lose(1);
		return;
	}
	s->at[s->count++] = *r;
}

/* A range of the same place that never ended: its end was lost. */
static void discard_stale(struct open_set *s, const struct prof_mark *m)
{
	uint32_t i = s->count;

	while (i--) {
		const struct open_range *r = &s->at[i];

		if (r->source == m->source && r->key == m->key && r->depth >= m->depth) {
			remove_at(s, i);
			lose(1);
		}
	}
}

static struct open_range *find(struct open_set *s, uint8_t source, uint64_t key, uint32_t depth)
{
	uint32_t i = s->count;

	while (i--)
		if (s->at[i].source == source && s->at[i].key == key && s->at[i].depth == depth)
			return &s->at[i];
	return NULL;
}

/* The loader wait that counts: waits inside it are part of it. */
static struct open_range *outermost_wait(const struct open_set *s)
{
	uint32_t i;

	for (i = 0; i < s->count; i++)
		if (s->at[i].type == WIRE_RANGE_LOADER)
			return &s->at[i];
	return NULL;
}

/* ---- out ---- */

static int64_t on_axis(const struct drain *d, int64_t realtime_ns)
{
	return d->axis ? d->axis(realtime_ns) : realtime_ns;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Writes what of @r is not written yet, up to @end: the whole of it or a last or middle piece. */
static int64_t put(struct drain *d, const struct open_range *r, int64_t end_ns)
{
	struct wire_event ev = {
		.start_ns = r->cut_ns ? r->cut_ns : r->start_ns,
		.bytes = r->comm,
		.name = r->name,
		.tid = r->tid,
		.kind = WIRE_KIND_RANGE,
		.op = r->type,
		.flags = (uint8_t)(r->flags | (r->cut_ns ? WIRE_EV_FL_CONT : 0)),
	};

	if (r->type == TYPE_SKIP)
		return 0;
	ev.end_ns = later(end_ns, ev.start_ns); /* the clock may have stepped */
	d->sink(d->ctx, &ev);
	d->events++;
	return ev.end_ns - ev.start_ns;
}

static void close_range(struct drain *d, struct open_set *s, struct open_range *r, int64_t end_ns)
{
	bool counts = r->type == WIRE_RANGE_LOADER && r == outermost_wait(s);
	int64_t ns = put(d, r, end_ns);

	if (counts) {
		total.loader_wait_ns += (uint64_t)ns;
		total.loader_waits++;
	}
	remove_at(s, (uint32_t)(r - s->at));
}

static void put_piece(struct drain *d, struct open_set *s, int64_t now_ns)
{
	struct open_range *r = outermost_wait(s);

	if (!r || now_ns <= (r->cut_ns ? r->cut_ns : r->start_ns))
		return;
	total.loader_wait_ns += (uint64_t)put(d, r, now_ns);
	r->cut_ns = now_ns;
}

static void close_all(struct drain *d, struct open_set *s, int64_t now_ns)
{
	while (s->count)
		close_range(d, s, &s->at[s->count - 1], now_ns);
}

/* ---- marks in ---- */

static void begin_range(struct drain *d, struct open_set *s, uint32_t tid,
			const struct prof_mark *m)
{
	struct open_range r = {
		.start_ns = on_axis(d, m->stamp_ns),
		.key = m->key,
		.comm = prof_mark_comm(m),
		.depth = m->depth,
		.tid = tid,
		.source = m->source,
	};

	if (m->source == PROF_SOURCE_ID)
		s = &ids;
	else
		discard_stale(s, m);
	name_it(d, &r, m);
	if (r.name || r.type == TYPE_SKIP)
		add(s, &r);
	else
		lose(1); /* no memory for the name */
}

/* The beginning may be in the log of another thread that has yet to be read. */
static void keep_end(const struct prof_mark *m)
{
	if (m->source == PROF_SOURCE_NVTX || m->source == PROF_SOURCE_SHIM ||
	    pendings == PENDING_MAX)
		return;
	pending[pendings++] =
		(struct pending){ .stamp_ns = m->stamp_ns, .key = m->key, .source = m->source };
}

static void end_range(struct drain *d, struct open_set *s, const struct prof_mark *m)
{
	struct open_range *r;

	if (m->source == PROF_SOURCE_ID)
		s = &ids;
	r = find(s, m->source, m->key, m->depth);
	if (!r) {
		keep_end(m);
		return;
	}
	close_range(d, s, r, on_axis(d, m->stamp_ns));
}

static void read_mark(struct drain *d, struct open_set *s, uint32_t tid, const struct prof_mark *m)
{
	if (m->gap) {
		discard_all(s);
		discard_all(&ids);
	}
	if (m->begins)
		begin_range(d, s, tid, m);
	else
		end_range(d, s, m);
}

/* True if the log was read to its end. */
static bool read_log(struct drain *d, struct open_set *s, struct prof_range_log *log, uint32_t tid)
{
	const struct prof_mark *m;
	uint32_t n;

	for (n = 0; n < MARKS_MAX; n++) {
		m = prof_range_log_peek(log);
		if (!m)
			return true;
		read_mark(d, s, tid, m);
		prof_range_log_release(log);
	}
	return false;
}

static void drain_log(struct drain *d, unsigned int i, bool final)
{
	struct open_set *s = &open[i];
	bool orphaned, ending, emptied;
	struct prof_range_log *log;
	uint64_t owner;
	int64_t now;

	log = prof_range_log_at(i, &owner);
	if (!log)
		return;
	s->limit = OPEN_MAX;
	if (owner != owners[i])
		discard_all(s);
	owners[i] = owner;
	orphaned = prof_range_log_orphaned(owner);
	now = on_axis(d, prof_realtime_ns()); /* before `ending`, see prof_range_log_ending */
	ending = prof_range_log_ending(log);
	emptied = read_log(d, s, log, (uint32_t)owner);
	total.threads++;
	if (orphaned && emptied && prof_range_log_reap(log, owner))
		discard_all(s);
	else if (final)
		close_all(d, s, now);
	else if (emptied && !ending)
		put_piece(d, s, now);
}

static bool end_elsewhere(struct drain *d, const struct pending *p)
{
	struct open_range *r = find(&ids, p->source, p->key, 0);
	struct open_set *s = &ids;
	int64_t end_ns;
	unsigned int i;

	for (i = 0; !r && p->source == PROF_SOURCE_TORCH && i < PROF_RANGE_LOGS; i++) {
		s = &open[i];
		r = find(s, p->source, p->key, 0);
	}
	end_ns = on_axis(d, p->stamp_ns);
	if (!r || end_ns < r->start_ns) /* another range that began at the same address since */
		return false;
	close_range(d, s, r, end_ns);
	return true;
}

/* Ends that found no beginning: now all logs have been read once, and next time twice. */
static void settle_pending(struct drain *d)
{
	uint32_t i, kept = 0;

	for (i = 0; i < pendings; i++) {
		if (end_elsewhere(d, &pending[i]) || pending[i].old)
			continue;
		pending[kept] = pending[i];
		pending[kept++].old = true;
	}
	pendings = kept;
}

size_t prof_ranges_drain(struct wire_strtab *names, int64_t (*axis)(int64_t realtime_ns),
			 prof_ranges_sink *sink, void *ctx, bool final)
{
	struct drain d = { .names = names, .axis = axis, .sink = sink, .ctx = ctx };
	unsigned int i;

	if (!ready || !prof_marks_on())
		return 0;
	prof_marks_drained();
	ids.limit = IDS_OPEN_MAX;
	total.threads = 0;
	for (i = 0; i < PROF_RANGE_LOGS; i++)
		drain_log(&d, i, final);
	settle_pending(&d);
	if (final)
		close_all(&d, &ids, on_axis(&d, prof_realtime_ns()));
	total.events += d.events;
	return d.events;
}

void prof_ranges_stats(struct prof_ranges_stats *s)
{
	unsigned int i;

	*s = total;
	s->dropped += prof_marks_dropped();
	s->loader_open = prof_marks_loader_open();
	s->loader_since_ns = prof_marks_loader_since();
	s->bytes = prof_marks_bytes() + ids.room * sizeof(*ids.at);
	for (i = 0; i < PROF_RANGE_LOGS; i++)
		s->bytes += open[i].room * sizeof(*open[i].at);
}
