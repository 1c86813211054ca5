/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches that came, counted: made-up loaders of known length, with rows in any order that threads
 * may bring them in, against a count beside them; lines of what programs count; hostile ones.
 */
#include "analysis/evidence/passes.h"

#include "trace/counts.h"
#include "harness.h"

#define ROWS_MAX 4000

static uint64_t t_below(uint64_t *r, uint64_t n)
{
	return t_random(r) % n;
}

struct played {
	struct wire_batch row[ROWS_MAX];
	size_t rows;
	uint64_t samples, batches, whole, whole_batches, passes;
};

static void put(struct played *p, uint8_t what, uint32_t loader, uint64_t batch, uint32_t samples)
{
	if (p->rows < ROWS_MAX)
		p->row[p->rows++] = (struct wire_batch){
			.what = what, .loader = loader, .batch = batch, .samples = samples
		};
}

/* A pass over @n samples in batches of @size, left after @stop of them (UINT64_MAX: never). */
static void play_pass(struct played *p, uint64_t *r, uint32_t loader, uint64_t n, uint32_t size,
		      uint64_t stop, bool ordered)
{
	uint64_t all = (n + size - 1) / size, i, made = 0;

	for (i = 0; i < all && i < stop; i++) {
		while (made < all && made < i + 1 + t_below(r, 4)) {
			uint64_t left = n - made * size;

			put(p, WIRE_BATCH_FETCH, loader, made, left < size ? (uint32_t)left : size);
			made++;
		}
		put(p, WIRE_BATCH_TAKE, loader, ordered ? i : WIRE_BATCH_INDEX_UNKNOWN,
		    WIRE_TAKE_BATCH);
		p->samples += n - i * size < size ? n - i * size : size;
	}
	p->batches += i;
	p->passes += i > 0;
	if (i < all)
		return;
	put(p, WIRE_BATCH_TAKE, loader, ordered ? all : WIRE_BATCH_INDEX_UNKNOWN, WIRE_TAKE_END);
	p->whole += all > 0;
	p->whole_batches += all;
}

/* Rows of makers come a little early or late; those of the trainer keep their order. */
static void stir(struct played *p, uint64_t *r)
{
	for (size_t i = 0; i + 1 < p->rows; i++) {
		size_t k = i + t_below(r, 2);
		struct wire_batch swap = p->row[i];

		if (p->row[i].what == p->row[k].what)
			continue;
		p->row[i] = p->row[k];
		p->row[k] = swap;
	}
}

static void count(const struct played *p, struct ana_loader_facts *f)
{
	struct ana_passes passes = { 0 };

	for (size_t i = 0; i < p->rows; i++)
		EXPECT(!ana_passes_add(&passes, f, &p->row[i]));
	ana_passes_fini(&passes);
}

static void test_random_loaders(void)
{
	uint64_t r = t_seed(23);
	static struct played p;

	for (int round = 0; round < 3000; round++) {
		struct ana_loader_facts f = { .trainers = 1 + (uint32_t)t_below(&r, 8) };
		bool ordered = t_below(&r, 4) > 0;
		uint32_t size = 1 + (uint32_t)t_below(&r, 9), loader = 1;
		uint64_t samples = 0, num, den;

		f.known = ordered ? 0 : ANA_LOADER_IN_ORDER;
		p.rows = 0;
		p.samples = p.batches = p.whole = p.whole_batches = p.passes = 0;
		for (uint64_t n = 1 + t_below(&r, 6); n; n--) {
			uint64_t stop =
				ordered && !t_below(&r, 4) ? 1 + t_below(&r, 5) : UINT64_MAX;

			play_pass(&p, &r, loader++, 1 + t_below(&r, 60), size, stop, ordered);
		}
		stir(&p, &r);
		count(&p, &f);
		EXPECT(ana_loader_samples(&f, &samples));
		EXPECT_INT(samples, p.samples);
		EXPECT_INT(f.given.batches, p.batches);
		EXPECT_INT(f.given.passes, p.passes);
		if (p.whole && ana_loader_epochs(&f, &num, &den))
			EXPECT((unsigned __int128)num * p.whole_batches * f.trainers ==
			       (unsigned __int128)den * p.whole * p.batches);
		else
			EXPECT(!p.whole);
	}
}

static struct wire_batch row(uint8_t what, uint32_t loader, uint64_t batch, uint32_t samples)
{
	return (struct wire_batch){
		.what = what, .loader = loader, .batch = batch, .samples = samples
	};
}

/* What cannot be known is not told. */
static void test_not_known(void)
{
	static const struct {
		const char *what;
		struct wire_batch row[4];
	} cases[] = {
		{ "an earlier trace", { { .what = WIRE_BATCH_TAKE, .loader = 1 } } },
		{ "no row of its making",
		  { { .what = WIRE_BATCH_TAKE, .loader = 1, .samples = WIRE_TAKE_BATCH } } },
		{ "batches of no known size",
		  { { .what = WIRE_BATCH_FETCH, .loader = 1 },
		    { .what = WIRE_BATCH_TAKE, .loader = 1, .samples = WIRE_TAKE_BATCH } } },
		{ "the shim stepped aside",
		  { { .what = WIRE_BATCH_FETCH, .loader = 1, .samples = 4 },
		    { .what = WIRE_BATCH_TAKE,
		      .loader = 1,
		      .samples = WIRE_TAKE_BATCH | WIRE_TAKE_LAST } } },
		{ "an iterator without a number",
		  { { .what = WIRE_BATCH_TAKE, .samples = WIRE_TAKE_BATCH } } },
		{ "nothing came",
		  { { .what = WIRE_BATCH_TAKE, .loader = 1, .samples = WIRE_TAKE_END } } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ana_loader_facts f = { .trainers = 1 };
		struct ana_passes passes = { 0 };
		uint64_t n, den;

		for (int k = 0; k < 4; k++)
			if (cases[i].row[k].what)
				ana_passes_add(&passes, &f, &cases[i].row[k]);
		if (ana_loader_samples(&f, &n) || ana_loader_epochs(&f, &n, &den))
			T_FAIL("%s: something is known", cases[i].what);
		ana_passes_fini(&passes);
	}
}

/* Batches before the record: full ones, as a later one came; of an iterable data set, who knows. */
static void test_before(void)
{
	for (int iterable = 0; iterable < 2; iterable++) {
		struct ana_loader_facts f = { .trainers = 1,
					      .known = ANA_LOADER_BATCH,
					      .batch_size = 8,
					      .iterable = iterable };
		struct ana_passes passes = { 0 };
		struct wire_batch rows[] = {
			row(WIRE_BATCH_FETCH, 1, 1, 8),
			row(WIRE_BATCH_FETCH, 1, 2, 8),
			row(WIRE_BATCH_TAKE, 1, 2, WIRE_TAKE_BATCH),
			row(WIRE_BATCH_FETCH, 1, 3, 5),
			row(WIRE_BATCH_TAKE, 1, 3, WIRE_TAKE_BATCH),
		};
		uint64_t n = 0;

		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			ana_passes_add(&passes, &f, &rows[i]);
		EXPECT(ana_loader_samples(&f, &n) == !iterable);
		EXPECT_INT(n, iterable ? 0 : 29);
		ana_passes_fini(&passes);
	}
}

/* Any rows: no more memory than the bound, and time that grows with their number alone. */
static void test_hostile(void)
{
	uint64_t r = t_seed(24);
	struct ana_loader_facts f = { .trainers = 1 };
	struct ana_passes passes = { 0 };
	uint64_t n, den;

	for (int i = 0; i < 400000; i++) {
		struct wire_batch b = row(t_below(&r, 2) ? WIRE_BATCH_FETCH : WIRE_BATCH_TAKE,
					  (uint32_t)t_random(&r) >> t_below(&r, 32),
					  t_random(&r) >> t_below(&r, 64),
					  (uint32_t)t_random(&r) >> t_below(&r, 32));

		EXPECT(!ana_passes_add(&passes, &f, &b));
	}
	EXPECT(passes.count <= ANA_PASSES_WAITING && passes.passes <= 65536 + 64);
	ana_loader_samples(&f, &n);
	ana_loader_epochs(&f, &n, &den);
	ana_passes_fini(&passes);
}

static void test_counts(void)
{
	static const char *const bad[] = { "tokens",
					   "tokens=",
					   "=4",
					   "Tokens=4",
					   "tokens=-4",
					   "tokens=4 ",
					   "to-k=4",
					   "steps=4",
					   "tokens 0",
					   "tokens  4",
					   "9x=4",
					   "tokens=1e3",
					   "tokens=1000000000000000001" };
	struct view_counts c = { 0 };
	char name[16];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		view_counts_line(&c, bad[i], strlen(bad[i]));
	EXPECT_INT(c.bad, sizeof(bad) / sizeof(bad[0]));
	EXPECT_INT(c.units, 0);
	view_counts_line(&c, "", 0);
	view_counts_line(&c, "tokens 1000000000000000000", 26);
	view_counts_line(&c, "tokens=1", 8); /* would be too large a sum */
	EXPECT_INT(c.bad, sizeof(bad) / sizeof(bad[0]) + 1);
	EXPECT_INT(c.unit[0].count, 1000000000000000000);
	for (int i = 0; i < VIEW_UNITS_MAX; i++) {
		snprintf(name, sizeof(name), "u%d=3", i);
		view_counts_line(&c, name, strlen(name));
	}
	EXPECT_INT(c.units, VIEW_UNITS_MAX);
	EXPECT_INT(c.bad, sizeof(bad) / sizeof(bad[0]) + 2);
}

int main(void)
{
	return RUN(test_random_loaders, test_not_known, test_before, test_hostile, test_counts);
}
