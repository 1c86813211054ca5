/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources, devices, and which belong together.
 */
#include "plan_priv.h"
#include "allocations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"

static void fill_source(const struct view_trace *t, struct ana_source *s,
			const struct view_stream *v)
{
	const Wire__Import *im = v->hello ? v->hello->import : NULL;
	size_t i;

	*s = (struct ana_source){ .s = v, .hello = v->hello, .first_step_ns = INT64_MAX };
	s->pid = v->hello ? v->hello->pid : 0;
	s->imported = im != NULL;
	s->unknown = im && im->process_unknown;
	s->file = im ? im->file_index : 0;
	for (i = 0; i < v->blocks; i++) {
		const struct wire_block_head *h = v->block[i].head;

		s->ops += h->kind == WIRE_KIND_OP ? h->count : 0;
		s->calls += h->kind == WIRE_KIND_API ? h->count : 0;
		s->events += h->count;
	}
	if (!s->imported)
		ana_plan_life(t, s);
	else
		s->ended = "exit";
}

static const Wire__Device *device_facts(const struct ana_source *s, uint32_t ordinal)
{
	size_t i;

	for (i = 0; s->hello && i < s->hello->n_devices; i++)
		if (s->hello->devices[i]->ordinal == ordinal)
			return s->hello->devices[i];
	return NULL;
}

static bool has_uuid(const Wire__Device *d)
{
	return d && d->uuid.len == 16;
}

/* Two processes see one device: by UUID, else by number on the same host or in the same file. */
static bool same_device(const struct ana_plan *p, const struct ana_device *d,
			const struct ana_source *s, uint32_t ordinal, const Wire__Device *facts)
{
	const struct ana_source *o = &p->source[d->source];

	if (d->imported || s->imported)
		return d->imported == s->imported && o->file == s->file && d->ordinal == ordinal;
	if (has_uuid(facts) && has_uuid(d->facts))
		return !memcmp(facts->uuid.data, d->facts->uuid.data, 16);
	return d->ordinal == ordinal && o->hello && s->hello &&
	       !strcmp(o->hello->host, s->hello->host);
}

static struct ana_device *get_device(struct ana_plan *p, uint32_t source, uint32_t ordinal)
{
	const struct ana_source *s = &p->source[source];
	const Wire__Device *facts = device_facts(s, ordinal);
	size_t i;

	for (i = p->devices; i-- > 0;)
		if (same_device(p, &p->device[i], s, ordinal, facts))
			break;
	if (i == SIZE_MAX) {
		if (p->devices == ANA_DEVICES_MAX)
			return NULL;
		i = p->devices++;
		p->device[i] = (struct ana_device){ .source = source,
						    .ordinal = ordinal,
						    .imported = s->imported };
	}
	if (!p->device[i].facts)
		p->device[i].facts = facts;
	return &p->device[i];
}

static int use_device(struct ana_plan *p, uint32_t source, uint32_t ordinal, uint64_t ops)
{
	struct ana_device *d = get_device(p, source, ordinal);
	size_t i;

	if (!d) {
		p->devices_left_out++;
		return 0;
	}
	d->ops += ops;
	for (i = 0; i < d->uses; i++)
		if (d->use[i].source == source && d->use[i].ordinal == ordinal)
			break;
	if (i < d->uses) {
		d->use[i].ops += ops;
		return 0;
	}
	if (!base_vec_more(d->use, d->uses, d->use_room))
		return -ENOMEM;
	d->use[d->uses++] = (struct ana_use){ source, ordinal, ops };
	return 0;
}

/*
 * An import lists a device whose only records here are bad if another process ran something on it.
 */
static bool lists_device(const struct ana_source *s, uint32_t ordinal)
{
	size_t i;

	for (i = 0; s->hello && i < s->hello->n_devices; i++)
		if (s->hello->devices[i]->ordinal == ordinal)
			return true;
	return false;
}

/* Devices on which the process ran something, or made a context. */
static int find_devices(struct ana_plan *p, uint32_t source)
{
	const struct ana_source *s = &p->source[source];
	size_t i;
	uint32_t k;
	int err = 0;

	for (i = 0; i < s->s->blocks && !err; i++) {
		const struct wire_block_head *h = s->s->block[i].head;

		for (k = 0; h->kind == WIRE_KIND_OP && k < h->devices && !err; k++)
			if (h->device[k].ops)
				err = use_device(p, source, h->device[k].device, h->device[k].ops);
	}
	for (i = 0; s->hello && !s->imported && i < s->hello->n_devices && !err; i++)
		if (s->hello->devices[i]->context_ns)
			err = use_device(p, source, s->hello->devices[i]->ordinal, 0);
	for (i = 0; i < s->s->losses && !err; i++)
		if (s->s->loss[i]->reason == WIRE__LOSS_REASON__LOSS_BAD_STAMP &&
		    (!s->imported || lists_device(s, s->s->loss[i]->device)))
			err = use_device(p, source, s->s->loss[i]->device, 0);
	return err;
}

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

static void join(uint32_t *parent, uint32_t i, uint32_t k)
{
	parent[root_of(parent, i)] = root_of(parent, k);
}

static int by_file(const void *a, const void *b, void *plan)
{
	const struct ana_plan *p = plan;
	const struct ana_source *x = &p->source[*(const uint32_t *)a];
	const struct ana_source *y = &p->source[*(const uint32_t *)b];

	if (x->imported != y->imported)
		return x->imported ? -1 : 1;
	return x->file < y->file ? -1 : x->file > y->file;
}

/* All sources of a file that leaves a process open belong together. */
static int unite_files(struct ana_plan *p, uint32_t *parent)
{
	uint32_t *order = malloc((p->sources + 1) * sizeof(*order));
	size_t i, k, end;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < p->sources; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, p->sources, sizeof(*order), by_file, p);
	for (i = 0; i < p->sources && p->source[order[i]].imported; i = end) {
		bool unknown = false;

		for (end = i; end < p->sources && !by_file(&order[i], &order[end], p); end++)
			unknown |= p->source[order[end]].unknown;
		for (k = i + 1; unknown && k < end; k++)
			join(parent, order[k], order[i]);
	}
	free(order);
	return 0;
}

/*
 * Whether the device's time needs the process: it ran something there, or nobody did. One that
 * merely has a context on a GPU of others, as each rank often has on the first, tells nothing of
 * it.
 */
static bool takes_part(const struct ana_device *d, const struct ana_use *u)
{
	return !d->ops || u->ops;
}

/* The first of them; there is one. */
static uint32_t first_part(const struct ana_device *d)
{
	size_t i = 0;

	while (i + 1 < d->uses && !takes_part(d, &d->use[i]))
		i++;
	return d->use[i].source;
}

/* @placed: they have a component. */
static void join_users(const struct ana_device *d, uint32_t *parent, bool *placed, bool mere)
{
	size_t i;

	for (i = 0; i < d->uses; i++) {
		uint32_t source = d->use[i].source;

		if (mere ? placed[source] : !takes_part(d, &d->use[i]))
			continue;
		join(parent, source, first_part(d));
		placed[source] = true;
	}
}

/*
 * Sources that take part in a device belong together; one that takes part in none goes with the
 * first that it knows.
 */
static int unite(struct ana_plan *p, uint32_t *parent)
{
	bool *placed = calloc(p->sources + 1, sizeof(*placed));
	uint32_t i;

	if (!placed)
		return -ENOMEM;
	for (i = 0; i < p->sources; i++)
		parent[i] = i;
	for (i = 0; i < p->devices; i++)
		join_users(&p->device[i], parent, placed, false);
	for (i = 0; i < p->devices; i++)
		join_users(&p->device[i], parent, placed, true);
	free(placed);
	return unite_files(p, parent);
}

static int by_pid(const void *a, const void *b, void *plan)
{
	const struct ana_plan *p = plan;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

	if (p->source[i].pid != p->source[k].pid)
		return p->source[i].pid < p->source[k].pid ? -1 : 1;
	return i < k ? -1 : 1;
}

static int count_members(struct ana_plan *p)
{
	uint32_t i;

	for (i = 0; i < p->sources; i++)
		p->component[p->source[i].component].sources++;
	for (i = 0; i < p->devices; i++) {
		p->device[i].component = p->source[first_part(&p->device[i])].component;
		p->component[p->device[i].component].devices++;
	}
	for (i = 0; i < p->components; i++) {
		struct ana_component *c = &p->component[i];

		c->source = calloc(c->sources + 1, sizeof(*c->source));
		c->device = calloc(c->devices + 1, sizeof(*c->device));
		if (!c->source || !c->device)
			return -ENOMEM;
		c->sources = c->devices = 0;
	}
	return 0;
}

static int fill_components(struct ana_plan *p)
{
	uint32_t i;
	int err = count_members(p);

	for (i = 0; i < p->sources && !err; i++) {
		struct ana_component *c = &p->component[p->source[i].component];

		c->source[c->sources++] = i;
		c->events += p->source[i].events;
	}
	for (i = 0; i < p->devices && !err; i++) {
		struct ana_component *c = &p->component[p->device[i].component];

		c->device[c->devices++] = i;
	}
	for (i = 0; i < p->components && !err; i++)
		qsort_r(p->component[i].source, p->component[i].sources, sizeof(uint32_t), by_pid,
			p);
	return err;
}

static int find_components(struct ana_plan *p)
{
	uint32_t *parent = calloc(p->sources + 1, sizeof(*parent));
	uint32_t i;
	int err;

	if (!parent)
		return -ENOMEM;
	err = unite(p, parent);
	for (i = 0; i < p->sources; i++)
		if (root_of(parent, i) == i)
			p->source[i].component = (uint32_t)p->components++;
	for (i = 0; i < p->sources; i++)
		p->source[i].component = p->source[root_of(parent, i)].component;
	free(parent);
	p->component = calloc(p->components + 1, sizeof(*p->component));
	if (!p->component)
		return -ENOMEM;
	return err ? err : fill_components(p);
}

uint32_t ana_device_index(const struct ana_device *d)
{
	const Wire__Device *f = d->facts;

	if (f && !d->imported && (f->nvml_index > 0 || (!f->nvml_index && *f->pci_bus_id)))
		return (uint32_t)f->nvml_index;
	return d->ordinal;
}

/* The order of display: by file or host, then number. */
static int by_place(const void *a, const void *b, void *plan)
{
	const struct ana_plan *p = plan;
	const struct ana_device *x = a, *y = b;
	const struct ana_source *s = &p->source[x->source], *t = &p->source[y->source];
	uint32_t i = ana_device_index(x), k = ana_device_index(y);
	int d = 0;

	if (s->imported && t->imported && s->file != t->file)
		return s->file < t->file ? -1 : 1;
	if (s->hello && t->hello)
		d = strcmp(s->hello->host, t->hello->host);
	if (d)
		return d;
	if (i != k)
		return i < k ? -1 : 1;
	return x->source < y->source ? -1 : x->source > y->source;
}

int ana_plan_make(struct ana_plan *p, struct view_trace *t, const struct ana_options *o)
{
	uint32_t i;
	int err = 0;

	*p = (struct ana_plan){ .trace = t };
	p->source = calloc(t->streams + 1, sizeof(*p->source));
	p->device = calloc(ANA_DEVICES_MAX, sizeof(*p->device));
	if (!p->source || !p->device)
		return -ENOMEM;
	p->sources = t->streams;
	for (i = 0; i < p->sources; i++)
		fill_source(t, &p->source[i], &t->stream[i]);
	for (i = 0; i < p->sources && !err; i++)
		err = find_devices(p, i);
	qsort_r(p->device, p->devices, sizeof(*p->device), by_place, p);
	if (!err)
		err = find_components(p);
	for (i = 0; i < p->devices && !err; i++)
		err = ana_plan_times(p, &p->device[i], o);
	if (!err)
		err = ana_run_phases_make(p);
	if (!err && o->window == ANA_WINDOW_JOB)
		err = ana_allocations_make(p);
	return err;
}

void ana_plan_fini(struct ana_plan *p)
{
	size_t i;

	for (i = 0; i < p->devices; i++) {
		free(p->device[i].use);
		ana_spans_fini(&p->device[i].held);
		ana_spans_fini(&p->device[i].given);
		ana_spans_fini(&p->device[i].unended);
		ana_spans_fini(&p->device[i].run_phases);
		ana_spans_fini(&p->device[i].lost);
		ana_spans_fini(&p->device[i].unobserved);
		ana_spans_fini(&p->device[i].stepped_down);
		ana_spans_fini(&p->device[i].unrecorded);
		ana_spans_fini(&p->device[i].contended);
	}
	for (i = 0; i < p->sources; i++)
		ana_spans_fini(&p->source[i].unrecorded);
	for (i = 0; i < p->components; i++) {
		free(p->component[i].source);
		free(p->component[i].device);
	}
	ana_allocations_fini(p);
	free(p->component);
	free(p->device);
	free(p->source);
	*p = (struct ana_plan){ 0 };
}

bool ana_plan_waits(const struct ana_plan *p, const struct ana_device *d, uint32_t source)
{
	bool any = false;
	size_t i;

	for (i = 0; i < d->uses; i++) {
		const struct ana_use *u = &d->use[i];

		if (p->source[u->source].unknown || (d->ops && !u->ops))
			continue;
		if (u->source == source)
			return true;
		any = true;
	}
	return !any && d->imported && p->source[source].file == p->source[d->source].file;
}

int64_t ana_plan_first_step(const struct ana_plan *p, const struct ana_device *d)
{
	int64_t first = INT64_MAX;
	size_t i;

	for (i = 0; d->imported && i < p->sources; i++)
		if (p->source[i].imported && p->source[i].file == p->source[d->source].file)
			first = base_min(first, p->source[i].first_step_ns);
	return first;
}
