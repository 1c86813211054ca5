/* SPDX-License-Identifier: Apache-2.0 */
#include "kept_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"

int coll_kept_rows_add(struct coll_kept_rows *k, const struct live_row *r, int64_t now_ns)
{
	char *hex = malloc(r->digits + 1);
	struct coll_kept_row *at;

	if (!hex || !base_vec_more(k->row, k->rows, k->room)) {
		free(hex);
		return -ENOMEM;
	}
	memcpy(hex, r->hex, r->digits);
	hex[r->digits] = '\0';
	at = &k->row[k->rows++];
	*at = (struct coll_kept_row){ *r, now_ns - r->age_s * LIVE_SECOND_NS };
	at->row.hex = hex;
	k->fresh = true;
	return 0;
}

static int key_order(const void *a, const void *b)
{
	const struct coll_kept_row *x = a, *y = b;
	int by = live_row_key_order(a, b);

	return by ? by : (x->heard_ns < y->heard_ns) - (x->heard_ns > y->heard_ns);
}

/* The first of each key stays. */
static void thin(struct coll_kept_rows *k)
{
	size_t kept = 0;

	qsort(k->row, k->rows, sizeof(*k->row), key_order);
	for (size_t i = 0; i < k->rows; i++)
		if (!kept || !live_row_same_key(&k->row[kept - 1].row, &k->row[i].row))
			k->row[kept++] = k->row[i];
		else
			free((char *)k->row[i].row.hex);
	k->rows = kept;
}

size_t coll_kept_rows_make(struct coll_kept_rows *k, struct live_run *run, struct live_reader *d,
			   const struct live_when *when)
{
	int64_t price = run->nano_usd_per_hour;
	size_t bad = 0;

	thin(k);
	qsort(k->row, k->rows, sizeof(*k->row), live_row_order);
	live_run_fini(run);
	live_run_init(run);
	run->nano_usd_per_hour = price;
	for (size_t i = 0; i < k->rows; i++) {
		struct live_row r = k->row[i].row;

		r.age_s = (when->now_ns - k->row[i].heard_ns) / LIVE_SECOND_NS;
		bad += live_row_apply(run, d, &r, when) != 0;
	}
	k->fresh = false;
	return bad;
}

void coll_kept_rows_fini(struct coll_kept_rows *k)
{
	for (size_t i = 0; i < k->rows; i++)
		free((char *)k->row[i].row.hex);
	free(k->row);
	*k = (struct coll_kept_rows){ .row = NULL };
}
