/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations onto GPUs. A GPU is known by its UUID; only where one side has none, by its number on
 * its host.
 */
#include "allocations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/vec.h"
#include "plan_priv.h"

/* "n1" and "n1.cluster" are one. */
static bool same_host(const char *a, const char *b)
{
	size_t n = strcspn(a, "."), m = strcspn(b, ".");

	return !strcmp(a, b) || (n == m && !strncmp(a, b, n) && (!a[n] || !b[m]));
}

static const char *host_of(const struct ana_plan *p, const struct ana_device *d)
{
	const Wire__Hello *h = p->source[d->source].hello;

	return h ? h->host : "";
}

static unsigned int digit(char c)
{
	return (unsigned int)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
}

/* The 16 bytes of a text that is known to be a UUID behind GPU- or MIG-. */
static void parse_uuid(const char *text, uint8_t uuid[16])
{
	text += 4;
	for (size_t n = 0; n < 16; text++) {
		if (*text == '-')
			continue;
		uuid[n++] = (uint8_t)(digit(text[0]) << 4 | digit(text[1]));
		text++;
	}
}

struct wanted { /* a GPU of an allocation */
	const struct view_alloc_gpu *gpu;
	const char *host;
	uint8_t uuid[16]; /* if gpu->uuid */
};

static bool is_device(const struct ana_plan *p, const struct ana_device *d, const struct wanted *w)
{
	if (d->imported)
		return false;
	if (w->gpu->uuid && d->facts && d->facts->uuid.len == 16)
		return !memcmp(d->facts->uuid.data, w->uuid, 16);
	return w->gpu->index >= 0 && w->gpu->index == ana_device_index(d) &&
	       same_host(host_of(p, d), w->host);
}

static bool same_unused(const struct ana_unused *u, const struct wanted *w)
{
	if (u->gpu->uuid && w->gpu->uuid)
		return !strcasecmp(u->gpu->uuid, w->gpu->uuid);
	return u->gpu->index == w->gpu->index && same_host(u->host, w->host);
}

/* Its slices were used, so it was, too. */
static bool is_sliced(const struct ana_plan *p, const struct wanted *w)
{
	for (size_t i = 0; w->gpu->uuid && i < p->devices; i++) {
		const Wire__Device *f = p->device[i].facts;

		if (f && f->mig_parent_uuid.len == 16 &&
		    !memcmp(f->mig_parent_uuid.data, w->uuid, 16))
			return true;
	}
	return false;
}

static struct ana_unused *unused_of(struct ana_plan *p, const struct wanted *w)
{
	struct ana_unused *u;

	for (size_t i = 0; i < p->unuseds; i++)
		if (same_unused(&p->unused[i], w))
			return &p->unused[i];
	if (!base_vec_more(p->unused, p->unuseds, p->unused_room))
		return NULL;
	u = &p->unused[p->unuseds++];
	*u = (struct ana_unused){ .gpu = w->gpu, .host = w->host, .name = w->gpu->name };
	return u;
}

/* Its row in the result: of a device that was used, else of one that was not. */
static int find_row(struct ana_plan *p, const struct wanted *w, size_t *row)
{
	struct ana_unused *u;

	for (*row = 0; *row < p->devices; ++*row)
		if (is_device(p, &p->device[*row], w))
			return 1;
	if (is_sliced(p, w))
		return 0;
	if (p->devices + p->unuseds >= ANA_DEVICES_MAX) {
		p->devices_left_out++;
		return 0;
	}
	u = unused_of(p, w);
	if (!u)
		return -ENOMEM;
	*row = p->devices + (size_t)(u - p->unused);
	return 1;
}

static int give(struct ana_plan *p, const struct ana_allocation *allocation,
		const struct view_alloc_gpu *g)
{
	struct wanted w = { .gpu = g, .host = allocation->alloc->host };
	struct ana_spans *given, *unended;
	size_t row;
	int found, err;

	if (g->uuid)
		parse_uuid(g->uuid, w.uuid);
	found = find_row(p, &w, &row);
	if (found <= 0)
		return found;
	if (!base_vec_more(p->allocated_gpu, p->allocated_gpus, p->allocated_gpu_room))
		return -ENOMEM;
	p->allocated_gpu[p->allocated_gpus++] =
		(struct ana_allocated_gpu){ (uint32_t)row, allocation };
	given = row < p->devices ? &p->device[row].given : &p->unused[row - p->devices].given;
	unended = row < p->devices ? &p->device[row].unended : &p->unused[row - p->devices].unended;
	if (allocation->alloc->unseen && row < p->devices)
		p->device[row].unseen = true;
	else if (allocation->alloc->unseen)
		p->unused[row - p->devices].unseen = true;
	err = ana_spans_add(given, allocation->start_ns, allocation->end_ns);
	if (err || allocation->alloc->ended)
		return err;
	return ana_spans_add(unended, allocation->start_ns, allocation->end_ns);
}

/*
 * An allocation that has no end yet goes to the last sign of life of a process on its node; but not
 * beyond the node's next one.
 */
static int64_t end_of(const struct ana_plan *p, const struct view_alloc *a)
{
	int64_t end = a->start_ns, next = INT64_MAX;

	if (a->ended)
		return a->end_ns;
	for (size_t i = 0; i < p->trace->allocs; i++) {
		const struct view_alloc *o = &p->trace->alloc[i];

		if (!strcmp(o->node, a->node) && o->start_ns > a->start_ns)
			next = base_min(next, o->start_ns);
	}
	for (size_t i = 0; i < p->sources; i++) {
		const struct ana_source *s = &p->source[i];

		if (s->hello && !s->imported && same_host(s->hello->host, a->host) &&
		    s->start_ns < next)
			end = base_max(end, s->end_ns);
	}
	return base_min(end, next);
}

/* Without NVML a GPU has no name; if all that were used beside it are of one kind, it is, too. */
static void guess_name(const struct ana_plan *p, struct ana_unused *u)
{
	const char *name = NULL;

	for (size_t i = 0; i < p->devices; i++) {
		const struct ana_device *d = &p->device[i];

		if (!same_host(host_of(p, d), u->host))
			continue;
		if (!d->facts || !*d->facts->name || *d->facts->mig_profile ||
		    (name && strcmp(name, d->facts->name) != 0))
			return;
		name = d->facts->name;
	}
	u->name = name;
	u->guessed = name != NULL;
}

int ana_allocations_make(struct ana_plan *p)
{
	const struct view_trace *t = p->trace;
	int err = 0;

	if (!t->allocs)
		return 0;
	p->allocation = calloc(t->allocs, sizeof(*p->allocation));
	if (!p->allocation)
		return -ENOMEM;
	for (p->allocations = 0; p->allocations < t->allocs && !err; p->allocations++) {
		struct ana_allocation *allocation = &p->allocation[p->allocations];

		*allocation = (struct ana_allocation){ &t->alloc[p->allocations],
						       t->alloc[p->allocations].start_ns,
						       end_of(p, &t->alloc[p->allocations]) };
		for (size_t g = 0; g < allocation->alloc->gpus && !err; g++)
			err = give(p, allocation, &allocation->alloc->gpu[g]);
	}
	for (size_t i = 0; i < p->devices; i++) {
		ana_spans_merge(&p->device[i].given);
		ana_spans_merge(&p->device[i].unended);
	}
	for (size_t i = 0; i < p->unuseds; i++) {
		ana_spans_merge(&p->unused[i].given);
		ana_spans_merge(&p->unused[i].unended);
		if (!p->unused[i].name)
			guess_name(p, &p->unused[i]);
	}
	return err;
}

void ana_allocations_fini(struct ana_plan *p)
{
	for (size_t i = 0; i < p->unuseds; i++) {
		ana_spans_fini(&p->unused[i].given);
		ana_spans_fini(&p->unused[i].unended);
	}
	free(p->unused);
	free(p->allocated_gpu);
	free(p->allocation);
}

int64_t ana_allocations_outside(struct ana_spans *given, struct ana_spans *held,
				void (*each)(void *arg, int64_t start, int64_t end), void *arg)
{
	int64_t sum = 0, at, until;

	for (size_t i = 0; i < given->count; i++) {
		for (at = given->span[i].start; at < given->span[i].end; at = until) {
			bool inside = ana_spans_at(held, at, &until);

			until = base_min(until, given->span[i].end);
			if (inside)
				continue;
			sum += until - at;
			if (each)
				each(arg, at, until);
		}
	}
	return sum;
}
