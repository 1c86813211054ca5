/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of batches to facts about loaders.
 */
#include "loaders.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/archive.h"
#include "base/vec.h"
#include "percent.h"

#define LOADERS_MAX 64u /* of different settings */
#define ITERATORS_MAX 65536u

void ana_loaders_init(struct ana_loaders *l, const struct wire_strtab *table)
{
	*l = (struct ana_loaders){ .table = table };
}

static void facts_fini(struct ana_loader_facts *f)
{
	free(f->start);
	free(f->dataset);
	free(f->kind);
	free(f->made_file);
	f->start = f->dataset = f->kind = f->made_file = NULL;
}

void ana_loaders_fini(struct ana_loaders *l)
{
	uint32_t i;

	for (i = 0; i < l->count; i++) {
		facts_fini(&l->loader[i].facts);
		free(l->loader[i].settings);
		ana_durations_fini(&l->loader[i].fetches);
	}
	free(l->loader);
	free(l->of);
	ana_passes_fini(&l->passes);
	ana_taking_fini(&l->taking);
	*l = (struct ana_loaders){ 0 };
}

static int set_text(char **to, const char *value, size_t len)
{
	free(*to);
	*to = strndup(value, len);
	return *to ? 0 : -ENOMEM;
}

static bool is(const char *key, size_t len, const char *name)
{
	return len == strlen(name) && !memcmp(key, name, len);
}

/* In place. A zero byte would end it, and is none of a path. */
static void decode(char *path)
{
	const char *end = path + strlen(path);
	char *to = path;

	for (const char *p = path; *p; p++) {
		int coded = ana_percent(p, (size_t)(end - p));

		if (coded > 0) {
			*to++ = (char)coded;
			p += 2;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
}

/* "/srv/train.py:45"; without a line it tells nothing. */
static int set_made(struct ana_loader_facts *f, const char *value, size_t len)
{
	size_t line = len;
	uint64_t n = 0;

	while (line && value[line - 1] >= '0' && value[line - 1] <= '9')
		line--;
	for (size_t i = line; i < len && n <= UINT32_MAX; i++)
		n = 10 * n + (uint64_t)(value[i] - '0');
	if (line < 2 || value[line - 1] != ':' || !n || n > UINT32_MAX)
		return 0;
	f->made_line = (uint32_t)n;
	if (set_text(&f->made_file, value, line - 1))
		return -ENOMEM;
	decode(f->made_file);
	return 0;
}

static int set(struct ana_loader_facts *f, const char *key, size_t key_len, const char *value,
	       size_t len)
{
	char digits[12] = "";
	uint32_t n;

	if (is(key, key_len, "start"))
		return set_text(&f->start, value, len);
	if (is(key, key_len, "dataset"))
		return set_text(&f->dataset, value, len);
	if (is(key, key_len, "kind"))
		return set_text(&f->kind, value, len);
	if (is(key, key_len, "made"))
		return set_made(f, value, len);
	if (!len || len >= sizeof(digits) || value[0] < '0' || value[0] > '9')
		return 0;
	memcpy(digits, value, len);
	n = (uint32_t)strtoul(digits, NULL, 10);
	if (is(key, key_len, "workers")) {
		f->workers = n;
		f->known |= ANA_LOADER_WORKERS;
	} else if (is(key, key_len, "prefetch")) {
		f->prefetch = n;
		f->known |= ANA_LOADER_PREFETCH;
	} else if (is(key, key_len, "batch")) {
		f->batch_size = n;
		f->known |= ANA_LOADER_BATCH;
	} else if (is(key, key_len, "pin")) {
		f->pin = n != 0;
		f->known |= ANA_LOADER_PIN;
	} else if (is(key, key_len, "persistent")) {
		f->persistent = n != 0;
		f->known |= ANA_LOADER_PERSISTENT;
	} else if (is(key, key_len, "iterable")) {
		f->iterable = n != 0;
	} else if (is(key, key_len, "in_order")) {
		f->in_order = n != 0;
		f->known |= ANA_LOADER_IN_ORDER;
	}
	return 0;
}

/* Settings as OPEN tells them. 0 or -ENOMEM; the texts are the caller's to free. */
static int read_settings(struct ana_loader_facts *f, const char *text)
{
	int err = 0;

	while (*text && !err) {
		size_t len = strcspn(text, " ");
		const char *eq = memchr(text, '=', len);

		if (eq)
			err = set(f, text, (size_t)(eq - text), eq + 1,
				  len - (size_t)(eq - text) - 1);
		text += len;
		text += *text == ' ';
	}
	return err;
}

static struct ana_loader *find(struct ana_loaders *l, const char *settings)
{
	uint32_t i;

	for (i = 0; i < l->count; i++)
		if (!strcmp(l->loader[i].settings, settings))
			return &l->loader[i];
	return NULL;
}

/* The loader with these settings; beyond the bound the last one. NULL: no memory. */
static struct ana_loader *get(struct ana_loaders *l, const char *settings)
{
	struct ana_loader *x = find(l, settings);

	if (x || l->count == (l->apart ? ANA_LOADERS_APART_MAX : LOADERS_MAX))
		return x ? x : &l->loader[l->count - 1];
	if (!base_vec_more(l->loader, l->count, l->room))
		return NULL;
	x = &l->loader[l->count];
	*x = (struct ana_loader){ .settings = strdup(settings),
				  .first_ns = INT64_MAX,
				  .last_ns = INT64_MIN };
	x->facts.trainers = 1;
	if (!x->settings)
		return NULL;
	l->count++;
	return read_settings(&x->facts, settings) ? NULL : x;
}

static int remember(struct ana_loaders *l, uint32_t iterator, uint32_t loader)
{
	if (iterator >= ITERATORS_MAX)
		return 0;
	if (iterator >= l->ofs) {
		uint32_t n = iterator + 64;
		uint32_t *p = reallocarray(l->of, n, sizeof(*p));

		if (!p)
			return -ENOMEM;
		memset(p + l->ofs, 0xff, (n - l->ofs) * sizeof(*p));
		l->of = p;
		l->ofs = n;
	}
	l->of[iterator] = loader;
	return 0;
}

static struct ana_loader *of_iterator(const struct ana_loaders *l, uint32_t iterator)
{
	uint32_t i = iterator < l->ofs ? l->of[iterator] : UINT32_MAX;

	return i < l->count ? &l->loader[i] : NULL;
}

const struct ana_loader_facts *ana_loaders_get(const struct ana_loaders *l, uint32_t iterator)
{
	const struct ana_loader *x = of_iterator(l, iterator);

	return x ? &x->facts : NULL;
}

static void extend(struct ana_loader *x, const struct wire_batch *b)
{
	if (b->start_ns < x->first_ns)
		x->first_ns = b->start_ns;
	if (b->end_ns > x->last_ns)
		x->last_ns = b->end_ns;
	x->facts.seen_ns = x->last_ns - x->first_ns;
}

/* The loader that an iterator is of. NULL: no memory. */
static struct ana_loader *opened(struct ana_loaders *l, const struct wire_batch *b)
{
	const char *settings = wire_strtab_get(l->table, b->text, NULL);
	struct ana_loader *x;
	char *apart;

	if (!l->apart)
		return get(l, settings);
	if (asprintf(&apart, "%s over=%" PRIu32, settings, b->samples) < 0)
		return NULL;
	x = get(l, apart);
	free(apart);
	return x;
}

static void set_over(struct ana_loader *x, uint32_t over)
{
	x->facts.several |= x->over && over && x->over != over;
	if (!x->over)
		x->over = over;
}

static int add_open(struct ana_loaders *l, const struct wire_batch *b)
{
	struct ana_loader *x = opened(l, b);

	if (!x)
		return -ENOMEM;
	set_over(x, b->samples);
	x->facts.iterators++;
	ana_sum(&x->facts.open_ns, b->end_ns - b->start_ns);
	extend(x, b);
	return remember(l, b->loader, (uint32_t)(x - l->loader));
}

static int add_fetch(struct ana_loader *x, const struct wire_batch *b)
{
	struct ana_loader_facts *f = &x->facts;

	f->made++;
	f->made_samples += b->samples;
	ana_sum(&f->fetch_ns, b->end_ns - b->start_ns);
	ana_sum(&f->fetch_cpu_ns, (int64_t)(b->cpu_ns & INT64_MAX));
	ana_sum(&f->fetch_delay_ns, (int64_t)(b->delay_ns & INT64_MAX));
	f->rchar_bytes += b->rchar_bytes;
	f->read_bytes += b->read_bytes;
	f->major_faults += b->major_faults;
	return ana_durations_add(&x->fetches, b->end_ns - b->start_ns);
}

int ana_loaders_add(struct ana_loaders *l, const struct wire_batch *b)
{
	struct ana_loader *x;
	int err;

	if (b->what == WIRE_BATCH_OPEN)
		return add_open(l, b);
	if (b->what != WIRE_BATCH_FETCH && b->what != WIRE_BATCH_TAKE)
		return 0;
	x = of_iterator(l, b->loader);
	if (!x) /* the trainer's own fetches name no iterator: the settings met last */
		x = l->count ? &l->loader[l->count - 1] : get(l, "");
	if (!x)
		return -ENOMEM;
	extend(x, b);
	err = ana_passes_add(&l->passes, &x->facts, b);
	if (!err)
		err = ana_taking_add(&l->taking, &x->facts, b);
	if (err)
		return err;
	if (b->what == WIRE_BATCH_FETCH)
		return add_fetch(x, b);
	x->facts.taken++;
	ana_sum(&x->facts.take_ns, b->end_ns - b->start_ns);
	return 0;
}

static void add_facts(struct ana_loader_facts *to, const struct ana_loader_facts *f)
{
	to->iterators += f->iterators;
	ana_sum(&to->open_ns, f->open_ns);
	to->taken += f->taken;
	ana_sum(&to->take_ns, f->take_ns);
	to->handed += f->handed;
	ana_sum(&to->hand_ns, f->hand_ns);
	to->made += f->made;
	to->made_samples += f->made_samples;
	ana_sum(&to->fetch_ns, f->fetch_ns);
	ana_sum(&to->fetch_cpu_ns, f->fetch_cpu_ns);
	ana_sum(&to->fetch_delay_ns, f->fetch_delay_ns);
	to->rchar_bytes += f->rchar_bytes;
	to->read_bytes += f->read_bytes;
	to->major_faults += f->major_faults;
	if (f->seen_ns > to->seen_ns)
		to->seen_ns = f->seen_ns;
	ana_loader_given_add(&to->given, &f->given);
	to->several |= f->several;
}

int ana_loaders_merge(struct ana_loaders *to, const struct ana_loaders *from)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < from->count && !err; i++) {
		const struct ana_loader *f = &from->loader[i];
		uint32_t before = to->count;
		struct ana_loader *x = get(to, f->settings);

		if (!x)
			return -ENOMEM;
		x->facts.trainers += to->count == before;
		add_facts(&x->facts, &f->facts);
		err = ana_durations_merge(&x->fetches, &f->fetches);
	}
	return err;
}

static int by_wait(const void *a, const void *b)
{
	const struct ana_loader_facts *x = a, *y = b;

	if (x->take_ns != y->take_ns)
		return x->take_ns > y->take_ns ? -1 : 1;
	return x->made != y->made ? x->made > y->made ? -1 : 1 : 0;
}

int ana_loaders_finish(struct ana_loaders *l, struct ana_loader_facts **out, size_t *count)
{
	struct ana_loader_facts *f = calloc((size_t)l->count + 1, sizeof(*f));
	uint32_t i;

	if (!f)
		return -ENOMEM;
	for (i = 0; i < l->count; i++) {
		struct ana_loader *x = &l->loader[i];

		f[i] = x->facts;
		f[i].fetch_p1_ns = ana_durations_rank(&x->fetches, 10);
		f[i].fetch_median_ns = ana_durations_rank(&x->fetches, 500);
		f[i].fetch_p95_ns = ana_durations_rank(&x->fetches, 950);
		/* now the caller's */
		x->facts.start = x->facts.dataset = x->facts.kind = x->facts.made_file = NULL;
	}
	qsort(f, l->count, sizeof(*f), by_wait);
	*out = f;
	*count = l->count;
	return 0;
}

/* What add_facts() asks for. */
static void archive_facts(struct ana_loader_facts *f, struct ana_archive *a)
{
	ana_archive_field(a, f->iterators);
	ana_archive_time(a, &f->open_ns);
	ana_archive_field(a, f->taken);
	ana_archive_time(a, &f->take_ns);
	ana_archive_field(a, f->handed);
	ana_archive_time(a, &f->hand_ns);
	ana_archive_field(a, f->made);
	ana_archive_field(a, f->made_samples);
	ana_archive_time(a, &f->fetch_ns);
	ana_archive_time(a, &f->fetch_cpu_ns);
	ana_archive_time(a, &f->fetch_delay_ns);
	ana_archive_field(a, f->rchar_bytes);
	ana_archive_field(a, f->read_bytes);
	ana_archive_field(a, f->major_faults);
	ana_archive_time(a, &f->seen_ns);
	ana_loader_given_archive(&f->given, a);
	ana_archive_bool(a, &f->several);
}

void ana_loaders_archive(struct ana_loaders *l, struct ana_archive *a)
{
	uint32_t i;

	ana_archive_vec(a, l->loader, l->count, LOADERS_MAX);
	for (i = 0; i < l->count; i++) {
		ana_archive_text(a, &l->loader[i].settings);
		ana_archive_check(a, l->loader[i].settings != NULL);
		archive_facts(&l->loader[i].facts, a);
		ana_durations_archive(&l->loader[i].fetches, a);
	}
}

static void archive_open_loader(struct ana_loader *x, struct ana_archive *a)
{
	ana_archive_stamp(a, &x->first_ns);
	ana_archive_stamp(a, &x->last_ns);
	ana_archive_check(a, x->first_ns != INT64_MIN && x->last_ns != INT64_MAX);
	ana_archive_field(a, x->facts.trainers);
	ana_archive_field(a, x->over);
	if (a->reading && !a->err)
		a->err = read_settings(&x->facts, x->settings);
}

void ana_loaders_archive_open(struct ana_loaders *l, struct ana_archive *a)
{
	uint32_t i;

	ana_loaders_archive(l, a);
	if (a->reading)
		l->room = l->count;
	for (i = 0; i < l->count; i++)
		archive_open_loader(&l->loader[i], a);
	ana_archive_vec(a, l->of, l->ofs, ITERATORS_MAX + 64);
	ana_archive_bytes(a, l->of, l->ofs * sizeof(*l->of));
	ana_passes_archive(&l->passes, a);
	ana_taking_archive(&l->taking, a);
}
