/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records with unusable stamps: what they may have covered. Rare, so this reads the launches and
 * operations of the streams concerned once more, before the walk.
 */
#include <errno.h>
#include <stdlib.h>
#include "analysis/map.h"
#include "plan.h"

struct bad {
	struct ana_device *device;
	uint32_t ordinal, stream;
	uint64_t corr;
	int64_t launch; /* INT64_MAX: not known */
	int64_t next; /* start of the stream's next operation */
	int64_t start, end; /* of the flush interval */
};

struct stamps {
	struct ana_plan *plan;
	const struct ana_source *source;
	struct bad *bad;
	size_t count;
	struct ana_map by_corr; /* first of bad[] with that id, while sorted by it */
	struct ana_map by_stream; /* first of bad[] of that stream, while sorted by it */
	struct wire_event *ev;
	size_t room;
};

static int by_corr(const void *a, const void *b)
{
	const struct bad *x = a, *y = b;

	return x->corr < y->corr ? -1 : x->corr > y->corr;
}

static uint64_t stream_key(uint32_t ordinal, uint32_t stream)
{
	return (uint64_t)ordinal << 32 | stream;
}

static int by_stream(const void *a, const void *b)
{
	const struct bad *x = a, *y = b;
	uint64_t k = stream_key(x->ordinal, x->stream), l = stream_key(y->ordinal, y->stream);

	if (k != l)
		return k < l ? -1 : 1;
	return x->launch < y->launch ? -1 : x->launch > y->launch;
}

/* In a file all processes number devices alike, and this one may have nothing good on it. */
static bool is_use(const struct ana_plan *p, const struct ana_use *u, uint32_t source)
{
	const struct ana_source *a = &p->source[u->source], *b = &p->source[source];

	return u->source == source || (a->imported && b->imported && a->file == b->file);
}

static struct ana_device *device_of(struct ana_plan *p, uint32_t source, uint32_t ordinal)
{
	size_t i, u;

	for (i = 0; i < p->devices; i++)
		for (u = 0; u < p->device[i].uses; u++)
			if (p->device[i].use[u].ordinal == ordinal &&
			    is_use(p, &p->device[i].use[u], source))
				return &p->device[i];
	return NULL;
}

static int collect(struct stamps *s)
{
	const struct view_stream *v = s->source->s;
	size_t i;

	s->bad = calloc(v->losses + 1, sizeof(*s->bad));
	if (!s->bad)
		return -ENOMEM;
	for (i = 0; i < v->losses; i++) {
		const Wire__LossSpan *l = v->loss[i];
		struct bad *b = &s->bad[s->count];

		if (l->reason != WIRE__LOSS_REASON__LOSS_BAD_STAMP)
			continue;
		*b = (struct bad){
			.device = device_of(s->plan, (uint32_t)(s->source - s->plan->source),
					    l->device),
			.ordinal = l->device,
			.stream = l->stream,
			.corr = l->correlation,
			.launch = INT64_MAX,
			.next = INT64_MAX,
			.start = ana_clamp_time(l->start_ns),
			.end = ana_clamp_time(l->end_ns),
		};
		s->count += b->device != NULL;
	}
	return 0;
}

static int index_corr(struct stamps *s)
{
	size_t i;
	int err = 0;

	qsort(s->bad, s->count, sizeof(*s->bad), by_corr);
	for (i = 0; i < s->count && !err; i++)
		if (s->bad[i].corr && (!i || s->bad[i].corr != s->bad[i - 1].corr))
			err = ana_map_put(&s->by_corr, s->bad[i].corr, (uint32_t)i);
	return err;
}

static int index_streams(struct stamps *s)
{
	size_t i;
	int err = 0;

	qsort(s->bad, s->count, sizeof(*s->bad), by_stream);
	for (i = 0; i < s->count && !err; i++) {
		uint64_t key = stream_key(s->bad[i].ordinal, s->bad[i].stream);

		if (!i || key != stream_key(s->bad[i - 1].ordinal, s->bad[i - 1].stream))
			err = ana_map_put(&s->by_stream, key, (uint32_t)i);
	}
	return err;
}

static void see_call(struct stamps *s, const struct wire_event *e)
{
	size_t i = ana_map_get(&s->by_corr, e->corr);

	if (i == ANA_MAP_NONE)
		return;
	for (; i < s->count && s->bad[i].corr == e->corr; i++)
		if (e->start_ns < s->bad[i].launch)
			s->bad[i].launch = e->start_ns;
}

/*
 * The operation comes after all launches up to its start; the last of these is told, the others
 * learn it from there.
 */
static void see_operation(struct stamps *s, const struct wire_event *e)
{
	uint64_t key = stream_key(e->device, e->stream);
	size_t first = ana_map_get(&s->by_stream, key), low, high;

	if (first == ANA_MAP_NONE || e->end_ns < e->start_ns)
		return;
	for (low = first, high = s->count; low < high;) {
		size_t mid = low + (high - low) / 2;

		if (stream_key(s->bad[mid].ordinal, s->bad[mid].stream) == key &&
		    s->bad[mid].launch <= e->start_ns)
			low = mid + 1;
		else
			high = mid;
	}
	if (low > first && e->start_ns < s->bad[low - 1].next)
		s->bad[low - 1].next = e->start_ns;
}

static void spread(struct stamps *s)
{
	size_t i;

	for (i = s->count; i-- > 1;) {
		struct bad *b = &s->bad[i - 1];

		if (stream_key(b->ordinal, b->stream) ==
			    stream_key(s->bad[i].ordinal, s->bad[i].stream) &&
		    s->bad[i].next < b->next)
			b->next = s->bad[i].next;
	}
}

static int read_all(struct stamps *s, uint8_t kind, struct wire_scratch *scratch,
		    void (*see)(struct stamps *, const struct wire_event *))
{
	const struct view_stream *v = s->source->s;
	size_t i, k, n;
	int err = 0;

	for (i = 0; i < v->blocks && err != -ENOMEM; i++) {
		if (v->block[i].head->kind != kind)
			continue;
		err = view_trace_block(s->plan->trace, &v->block[i], scratch, &s->ev, &s->room, &n);
		for (k = 0; !err && k < n; k++)
			see(s, &s->ev[k]);
	}
	return err == -ENOMEM ? err : 0;
}

/* What a bad record may have covered. */
static int add_lost(struct stamps *s, const struct bad *b)
{
	int64_t next = b->next, start = b->launch;

	if (s->source->imported) {
		if (b->launch == INT64_MAX)
			return 0;
		if (next == INT64_MAX) /* to the end of the span; nothing idle lies behind it */
			next = b->device->last_ns;
	} else if (b->launch == INT64_MAX || next > b->end) {
		next = b->end;
	}
	if (b->launch == INT64_MAX)
		start = b->start;
	return ana_spans_add(&b->device->lost, ana_clamp_time(start), ana_clamp_time(next));
}

static int resolve(struct stamps *s, struct wire_scratch *scratch)
{
	size_t i;
	int err = collect(s);

	if (err || !s->count)
		return err;
	err = index_corr(s);
	if (!err)
		err = read_all(s, WIRE_KIND_API, scratch, see_call);
	if (!err)
		err = index_streams(s);
	if (!err)
		err = read_all(s, WIRE_KIND_OP, scratch, see_operation);
	spread(s);
	for (i = 0; i < s->count && !err; i++)
		err = add_lost(s, &s->bad[i]);
	for (i = 0; i < s->count; i++) /* by stream, those of one device beside each other */
		if (!i || s->bad[i].device != s->bad[i - 1].device)
			ana_spans_merge(&s->bad[i].device->lost);
	return err;
}

int ana_plan_stamps(struct ana_plan *p, const struct ana_component *c, struct wire_scratch *scratch)
{
	size_t i;
	int err = 0;

	for (i = 0; i < c->sources && !err; i++) {
		struct stamps s = { .plan = p, .source = &p->source[c->source[i]] };

		err = resolve(&s, scratch);
		free(s.bad);
		free(s.ev);
		ana_map_fini(&s.by_corr);
		ana_map_fini(&s.by_stream);
	}
	return err;
}
