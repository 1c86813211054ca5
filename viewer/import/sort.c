/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A merge sort over natural runs.
 */
#include "sort.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* True if @b must come before @a, although it came later. */
static bool before(const struct view_import_key *b, const struct view_import_key *a)
{
	if (b->process != a->process)
		return b->process < a->process;
	return b->start < a->start;
}

static size_t run_end(const struct view_import_key *key, size_t from, size_t n)
{
	size_t i = from + 1;

	while (i < n && !before(&key[i], &key[i - 1]))
		i++;
	return i;
}

/* Merges the neighbours a[0..na) and a[na..n) into out. */
static void merge(const struct view_import_key *a, size_t na, size_t n, struct view_import_key *out)
{
	size_t i = 0, j = na;

	while (i < na && j < n)
		*out++ = before(&a[j], &a[i]) ? a[j++] : a[i++];
	memcpy(out, a + i, (na - i) * sizeof(*a));
	memcpy(out + (na - i), a + j, (n - j) * sizeof(*a));
}

/* One pass: every two neighbouring runs become one. Returns how many runs there were. */
static size_t merge_runs(const struct view_import_key *in, size_t n, struct view_import_key *out)
{
	size_t runs = 0, from, mid, end;

	for (from = 0; from < n; from = end) {
		mid = run_end(in, from, n);
		end = mid < n ? run_end(in, mid, n) : n;
		merge(in + from, mid - from, end - from, out + from);
		runs += mid < n ? 2 : 1;
	}
	return runs;
}

int view_import_sort(struct view_import_key *key, size_t n)
{
	struct view_import_key *spare, *in = key, *out, *swap;

	if (n < 2 || run_end(key, 0, n) == n)
		return 0;
	spare = malloc(n * sizeof(*spare));
	if (!spare)
		return -ENOMEM;
	out = spare;
	while (merge_runs(in, n, out) > 2) {
		swap = in;
		in = out;
		out = swap;
	}
	if (out != key)
		memcpy(key, out, n * sizeof(*key));
	free(spare);
	return 0;
}
