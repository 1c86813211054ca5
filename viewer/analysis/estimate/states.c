/* SPDX-License-Identifier: Apache-2.0 */
#include "states.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "analysis/evidence/pystack.h"
#include "analysis/map.h"
#include "analysis/read/event_feed.h"
#include "analysis/read/row_feed.h"
#include "base/hash.h"
#include "base/vec.h"

#define ROWS_MAX (UINT32_C(1) << 22) /* what is beyond them tells nothing */
#define LINES_MAX 65536u
#define LOOK_NS INT64_C(10000000) /* of a sample that tells no period */

struct row {
	int64_t start, end;
	uint64_t line; /* hash of a line and a kind; 0: no line */
	uint8_t state;
};

struct last { /* of a thread */
	uint64_t thread;
	uint32_t row;
};

struct line {
	uint64_t key, count;
	uint32_t turn;
	uint8_t kind;
	struct ana_text function, file; /* of the trace's strings */
	uint32_t number;
};

struct making {
	const struct ana_plan *plan;
	struct wire_scratch *scratch;
	struct row *row;
	size_t rows, room;
	struct ana_map threads; /* of the source that is read: to its last row */
	struct ana_map lines; /* to line */
	struct line *line;
	uint32_t line_count, line_room;
};

static int add(struct making *m, int64_t start, int64_t end, uint8_t state, uint64_t line)
{
	start = ana_clamp_time(start);
	end = ana_clamp_time(end);
	if (end <= start || m->rows >= ROWS_MAX)
		return 0;
	if (!base_vec_more(m->row, m->rows, m->room))
		return -ENOMEM;
	m->row[m->rows++] = (struct row){ start, end, line, state };
	return 0;
}

static uint8_t range_state(struct ana_names *names, const struct wire_event *e)
{
	uint16_t flags;

	switch (e->op) {
	case WIRE_RANGE_LOADER:
		return e->flags & WIRE_EV_FL_FIRST ? ANA_STATE_EPOCH : ANA_STATE_WAIT;
	case WIRE_RANGE_ITER:
		return ANA_STATE_EPOCH;
	case WIRE_RANGE_GC:
		return ANA_STATE_GC;
	case WIRE_RANGE_CHECKPOINT:
		return ANA_STATE_CHECKPOINT;
	case WIRE_RANGE_USER:
		flags = ana_names_flags(names, e->name);
		return flags & ANA_NAME_CHECKPOINT ? ANA_STATE_CHECKPOINT
		       : flags & ANA_NAME_PHASE	   ? ANA_STATE_PHASE
						   : ANA_STATE_NONE;
	default:
		return ANA_STATE_NONE;
	}
}

static uint8_t event_state(struct ana_names *names, const struct wire_event *e)
{
	if (e->kind == WIRE_KIND_RANGE)
		return range_state(names, e);
	return e->op == WIRE_SYNC_STREAM_WAIT ? ANA_STATE_NONE : ANA_STATE_SYNC;
}

static int read_events(struct making *m, const struct view_stream *s, uint8_t kind)
{
	const struct wire_event *e;
	struct ana_names names = { 0 };
	struct ana_feed f;
	int err = ana_feed_init(&f, m->plan->trace, s, kind, m->scratch);

	if (!err)
		err = ana_names_init(&names, s->strings);
	while (!err && (e = ana_feed_peek(&f))) {
		uint8_t state = event_state(&names, e);

		if (state != ANA_STATE_NONE)
			err = add(m, e->start_ns, e->end_ns, state, 0);
		ana_feed_pop(&f);
	}
	if (!err)
		err = f.err;
	ana_names_fini(&names);
	ana_feed_fini(&f);
	return err;
}

static uint8_t kind_of(uint8_t wait)
{
	switch (wait) {
	case WIRE_WAIT_NONE:
		return ANA_STATE_CPU;
	case WIRE_WAIT_READ:
	case WIRE_WAIT_WRITE:
	case WIRE_WAIT_FAULT:
		return ANA_STATE_FILE;
	case WIRE_WAIT_SOCKET:
		return ANA_STATE_NET;
	case WIRE_WAIT_SLEEP:
		return ANA_STATE_SLEEP;
	case WIRE_WAIT_GIL:
	case WIRE_WAIT_LOCK_SHARED:
	case WIRE_WAIT_LOCK:
		return ANA_STATE_LOCK;
	case WIRE_WAIT_GPU:
		return ANA_STATE_GPU;
	default:
		return ANA_STATE_OTHER;
	}
}

/* 0: the sample tells no line. */
static uint64_t line_of(struct ana_pystacks *stacks, uint32_t id, uint8_t kind)
{
	const struct ana_pystack *s = ana_pystacks_get(stacks, id);
	uint64_t h = base_hash(UINT64_C(0xcbf29ce484222325), &kind, 1);

	if (!s->function.len)
		return 0;
	h = base_hash(h, s->function.at, s->function.len);
	h = base_hash(h, "\t", 1);
	h = base_hash(h, s->file.at, s->file.len);
	h = base_hash(h, &s->line, sizeof(s->line));
	return h ? h : 1;
}

static int count_line(struct making *m, uint64_t key, uint8_t kind, const struct ana_pystack *p)
{
	uint32_t i = ana_map_get(&m->lines, key);

	if (i == ANA_MAP_NONE) {
		if (m->line_count == LINES_MAX)
			return 0;
		if (!base_vec_more(m->line, m->line_count, m->line_room) ||
		    ana_map_put(&m->lines, key, m->line_count))
			return -ENOMEM;
		i = m->line_count++;
		m->line[i] = (struct line){ .key = key,
					    .turn = i,
					    .kind = kind,
					    .function = p->function,
					    .file = p->file,
					    .number = p->line };
	}
	m->line[i].count++;
	return 0;
}

/* A sample stands until the thread's next one, for five fourths of its period at most. */
static int take_sample(struct making *m, struct ana_pystacks *stacks, struct last *last,
		       uint32_t *lasts, const struct wire_sample *s)
{
	int64_t t = ana_clamp_time(s->t_ns);
	int64_t ns = s->period_ns ? (int64_t)s->period_ns + s->period_ns / 4 : LOOK_NS;
	uint64_t thread = (uint64_t)s->pid << 32 | s->tid;
	uint8_t kind = kind_of(s->wait);
	uint64_t line = line_of(stacks, s->stack, kind);
	uint32_t i = ana_map_get(&m->threads, thread);
	size_t rows = m->rows;
	int err = 0;

	if (i != ANA_MAP_NONE && last[i].row != UINT32_MAX)
		m->row[last[i].row].end = base_min(m->row[last[i].row].end, t);
	if (i == ANA_MAP_NONE) {
		if (*lasts == LINES_MAX)
			return 0;
		i = (*lasts)++;
		err = ana_map_put(&m->threads, thread, i);
	}
	if (!err)
		err = add(m, t, t + ns, kind, line);
	last[i] = (struct last){ thread, m->rows > rows ? (uint32_t)rows : UINT32_MAX };
	return err || !line ? err : count_line(m, line, kind, ana_pystacks_get(stacks, s->stack));
}

static int read_samples(struct making *m, const struct view_stream *s)
{
	struct last *last = malloc(LINES_MAX * sizeof(*last));
	const struct wire_sample *row;
	struct ana_pystacks stacks;
	struct ana_row_feed f;
	uint32_t lasts = 0;
	int err;

	if (!last)
		return -ENOMEM;
	err = ana_row_feed_init(&f, m->plan->trace, s, WIRE_KIND_SAMPLE, m->scratch);
	ana_pystacks_init(&stacks, s->strings);
	while (!err && (row = ana_row_feed_sample(&f, INT64_MAX)))
		if (row->role == WIRE_ROLE_SUBMITTER)
			err = take_sample(m, &stacks, last, &lasts, row);
	if (!err)
		err = f.err;
	ana_row_feed_fini(&f);
	ana_pystacks_fini(&stacks);
	ana_map_fini(&m->threads);
	m->threads = (struct ana_map){ 0 };
	free(last);
	return err;
}

static int by_count(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return (x->turn > y->turn) - (x->turn < y->turn);
}

static int name_line(char **to, const struct line *l)
{
	int n = asprintf(to, "%.*s:%" PRIu32 " %.*s", (int)l->file.len, l->file.at, l->number,
			 (int)l->function.len, l->function.at);

	if (n < 0)
		*to = NULL;
	return n < 0 ? -ENOMEM : 0;
}

/* The lines that most samples show have states of their own. 0 or -ENOMEM. */
static int choose_lines(struct making *m, struct ana_states *s)
{
	int err = 0;
	uint32_t i;
	size_t r, k;

	for (i = 0; i < ANA_STATE_LINES; i++)
		s->kind[i] = ANA_STATE_CPU;
	if (!m->line_count)
		return 0;
	qsort(m->line, m->line_count, sizeof(*m->line), by_count);
	m->line_count = base_min(m->line_count, ANA_STATE_LINES);
	for (i = 0; i < m->line_count && !err; i++) {
		s->kind[i] = m->line[i].kind;
		err = name_line(&s->line[i], &m->line[i]);
	}
	for (r = 0; r < m->rows; r++)
		for (k = 0; m->row[r].line && k < m->line_count; k++)
			if (m->line[k].key == m->row[r].line) {
				m->row[r].state = (uint8_t)(ANA_STATE_LINE + k);
				break;
			}
	return err;
}

struct edge {
	int64_t t;
	int8_t by;
	uint8_t state;
};

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return (x->t > y->t) - (x->t < y->t);
}

static int put(struct ana_states *s, int64_t start, int64_t end, uint8_t state)
{
	struct ana_state_span *last = s->count ? &s->span[s->count - 1] : NULL;

	if (state == ANA_STATE_NONE || start == end)
		return 0;
	if (last && last->end == start && last->state == state) {
		last->end = end;
		return 0;
	}
	if (!base_vec_more(s->span, s->count, s->room))
		return -ENOMEM;
	s->span[s->count++] = (struct ana_state_span){ start, end, state };
	return 0;
}

static uint8_t first_of(const uint32_t *running)
{
	uint8_t i = 0;

	while (i < ANA_STATE_NONE && !running[i])
		i++;
	return i;
}

/* Rows to the first of their states at each instant. */
static int sweep(struct making *m, struct ana_states *s)
{
	struct edge *e = malloc((2 * m->rows + 1) * sizeof(*e));
	uint32_t running[ANA_STATES] = { 0 };
	size_t i, n = 0;
	int err = 0;

	if (!e)
		return -ENOMEM;
	for (i = 0; i < m->rows; i++)
		if (m->row[i].end > m->row[i].start) {
			e[n++] = (struct edge){ m->row[i].start, 1, m->row[i].state };
			e[n++] = (struct edge){ m->row[i].end, -1, m->row[i].state };
		}
	if (n)
		qsort(e, n, sizeof(*e), by_time);
	for (i = 0; i < n && !err; i++) {
		if (i)
			err = put(s, e[i - 1].t, e[i].t, first_of(running));
		running[e[i].state] += (uint32_t)e[i].by;
	}
	free(e);
	return err;
}

int ana_states_make(struct ana_states *s, const struct ana_plan *p, const struct ana_device *d,
		    struct wire_scratch *scratch)
{
	struct making m = { .plan = p, .scratch = scratch };
	size_t u;
	int err = 0;

	for (u = 0; u < d->uses && !err; u++) {
		const struct view_stream *v = p->source[d->use[u].source].s;

		err = read_events(&m, v, WIRE_KIND_RANGE);
		if (!err)
			err = read_events(&m, v, WIRE_KIND_SYNC);
		if (!err)
			err = read_samples(&m, v);
	}
	if (!err)
		err = choose_lines(&m, s);
	if (!err)
		err = sweep(&m, s);
	ana_map_fini(&m.lines);
	free(m.line);
	free(m.row);
	return err;
}

void ana_states_fini(struct ana_states *s)
{
	for (int i = 0; i < ANA_STATE_LINES; i++)
		free(s->line[i]);
	free(s->span);
	*s = (struct ana_states){ 0 };
}

const char *ana_state_name(const struct ana_states *s, int state)
{
	static const char *const name[ANA_STATES] = {
		[ANA_STATE_GC] = "gc",	     [ANA_STATE_EPOCH] = "epoch",
		[ANA_STATE_WAIT] = "loader", [ANA_STATE_CHECKPOINT] = "checkpoint",
		[ANA_STATE_SYNC] = "sync",   [ANA_STATE_PHASE] = "phase",
		[ANA_STATE_CPU] = "cpu",     [ANA_STATE_GPU] = "driver",
		[ANA_STATE_LOCK] = "lock",   [ANA_STATE_FILE] = "file",
		[ANA_STATE_NET] = "net",     [ANA_STATE_SLEEP] = "sleep",
		[ANA_STATE_OTHER] = "other", [ANA_STATE_NONE] = "none",
	};

	if (state >= ANA_STATE_LINE && state < ANA_STATE_CPU)
		state = s->kind[state - ANA_STATE_LINE];
	return name[state];
}

/* The first that ends behind @t; looks mostly move forward. */
static size_t find(const struct ana_states *s, size_t at, int64_t t)
{
	size_t low = 0, high = s->count;

	if (at < s->count && (!at || s->span[at - 1].end <= t)) {
		if (s->span[at].end > t)
			return at;
		if (at + 1 < s->count && s->span[at + 1].end > t)
			return at + 1;
		low = at;
	}
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->span[mid].end > t)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

uint8_t ana_states_at(const struct ana_states *s, size_t *at, int64_t t, int64_t *until)
{
	*at = find(s, *at, t);
	if (*at == s->count) {
		*until = INT64_MAX;
		return ANA_STATE_NONE;
	}
	if (s->span[*at].start > t) {
		*until = s->span[*at].start;
		return ANA_STATE_NONE;
	}
	*until = s->span[*at].end;
	return s->span[*at].state;
}
