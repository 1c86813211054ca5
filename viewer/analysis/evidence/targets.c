/* SPDX-License-Identifier: Apache-2.0 */
/* A list that is searched by hash, and halved when it is full. */
#include "targets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/archive.h"
#include "analysis/time/span.h"
#include "base/hash.h"
#include "base/vec.h"

void ana_target_fini(struct ana_target *t)
{
	free(t->name);
	free(t->fs);
	*t = (struct ana_target){ 0 };
}

void ana_targets_fini(struct ana_targets *t)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		ana_target_fini(&t->row[i].target);
	free(t->row);
	*t = (struct ana_targets){ 0 };
}

static int by_time(const void *a, const void *b)
{
	const struct ana_target *x = &((const struct ana_targets_row *)a)->target;
	const struct ana_target *y = &((const struct ana_targets_row *)b)->target;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void keep(struct ana_targets *t, size_t most)
{
	if (t->count)
		qsort(t->row, t->count, sizeof(*t->row), by_time);
	while (t->count > most)
		ana_target_fini(&t->row[--t->count].target);
}

static char *copy(struct ana_text t)
{
	return strndup(t.len ? t.at : "", t.len);
}

static struct ana_target *get(struct ana_targets *t, struct ana_text name, struct ana_text fs)
{
	uint64_t hash = base_hash(BASE_HASH, name.at, name.len);
	struct ana_targets_row *r;
	size_t i;

	for (i = 0; i < t->count; i++) {
		r = &t->row[i];
		if (r->hash == hash && strlen(r->target.name) == name.len &&
		    !memcmp(r->target.name, name.at, name.len))
			return &r->target;
	}
	if (t->count == ANA_TARGETS_MAX)
		keep(t, ANA_TARGETS_MAX / 2);
	if (!base_vec_more(t->row, t->count, t->room))
		return NULL;
	r = &t->row[t->count];
	*r = (struct ana_targets_row){ .hash = hash };
	r->target.name = copy(name);
	r->target.fs = copy(fs);
	if (!r->target.name || !r->target.fs) {
		ana_target_fini(&r->target);
		return NULL;
	}
	t->count++;
	return &r->target;
}

int ana_targets_add(struct ana_targets *t, struct ana_text name, struct ana_text fs,
		    const struct ana_target *more)
{
	struct ana_target *to = get(t, name, fs);

	if (!to)
		return -ENOMEM;
	ana_sum(&to->ns, more->ns);
	ana_sum(&to->read_ns, more->read_ns);
	to->samples += more->samples;
	if (__builtin_add_overflow(to->bytes, more->bytes, &to->bytes))
		to->bytes = UINT64_MAX;
	return 0;
}

static struct ana_text text(const char *t)
{
	return (struct ana_text){ t, (uint32_t)strlen(t) };
}

int ana_targets_merge(struct ana_targets *to, const struct ana_targets *from)
{
	size_t i;
	int err = 0;

	for (i = 0; i < from->count && !err; i++) {
		const struct ana_target *t = &from->row[i].target;

		err = ana_targets_add(to, text(t->name), text(t->fs), t);
	}
	return err;
}

int ana_targets_finish(struct ana_targets *t, struct ana_target **out, size_t *count)
{
	struct ana_target *all;
	size_t i;

	keep(t, ANA_TARGETS_TOLD);
	all = calloc(t->count + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (i = 0; i < t->count; i++) {
		all[i] = t->row[i].target;
		t->row[i].target = (struct ana_target){ 0 };
	}
	*out = all;
	*count = t->count;
	t->count = 0;
	return 0;
}

void ana_targets_archive(struct ana_targets *t, struct ana_archive *a)
{
	size_t i;

	ana_archive_vec(a, t->row, t->count, ANA_TARGETS_MAX);
	if (a->reading)
		t->room = t->count;
	for (i = 0; i < t->count; i++) {
		struct ana_target *x = &t->row[i].target;

		ana_archive_text(a, &x->name);
		ana_archive_text(a, &x->fs);
		ana_archive_check(a, x->name && x->fs);
		if (x->name)
			t->row[i].hash = base_hash(BASE_HASH, x->name, strlen(x->name));
		ana_archive_time(a, &x->ns);
		ana_archive_field(a, x->samples);
		ana_archive_field(a, x->bytes);
		ana_archive_time(a, &x->read_ns);
	}
}
