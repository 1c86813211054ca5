/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of imported events: by process, then start; equal ones keep the file's order.
 */
#include "import/sort.h"

#include "harness.h"

static int compare(const void *a, const void *b)
{
	const struct view_import_key *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* @spread: how many different starts; @runs: how long sorted stretches are. */
static void check(uint64_t *seed, size_t n, uint64_t spread, uint64_t runs)
{
	struct view_import_key *key = calloc(n + 1, sizeof(*key)), *want;
	int64_t at = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		if (t_random(seed) % runs == 0)
			at = (int64_t)(t_random(seed) % spread) - (int64_t)(spread / 2);
		else
			at += (int64_t)(t_random(seed) % 3);
		key[i] =
			(struct view_import_key){ at, (uint32_t)(t_random(seed) % 3), (uint32_t)i };
	}
	want = malloc((n + 1) * sizeof(*want));
	memcpy(want, key, n * sizeof(*want));
	qsort(want, n, sizeof(*want), compare);
	EXPECT_INT(view_import_sort(key, n), 0);
	EXPECT_MEM(key, want, n * sizeof(*want));
	free(key);
	free(want);
}

static void test_sizes(void)
{
	uint64_t seed = t_seed(1);
	size_t n;

	for (n = 0; n < 70; n++) {
		check(&seed, n, 1, 1);
		check(&seed, n, 10, 1);
		check(&seed, n, 1000, 5);
	}
}

static void test_large(void)
{
	uint64_t seed = t_seed(2);

	check(&seed, 100000, 1u << 30, 1);
	check(&seed, 100000, 50, 1);
	check(&seed, 100000, 1u << 30, 1000);
}

int main(void)
{
	return RUN(test_sizes, test_large);
}
