/* SPDX-License-Identifier: Apache-2.0 */
#include "pulse_table.h"

#include <errno.h>
#include <stdlib.h>
#include "base/vec.h"

int fleet_pulses_add(struct fleet_pulses *p, const struct live_row *r)
{
	char *hex = base_arena_copy(&p->mem, r->hex, r->digits);

	if (!hex || !base_vec_more(p->row, p->rows, p->room))
		return -ENOMEM;
	p->row[p->rows] = *r;
	p->row[p->rows++].hex = hex;
	return 0;
}

void fleet_pulses_fini(struct fleet_pulses *p)
{
	free(p->row);
	base_arena_fini(&p->mem);
	*p = (struct fleet_pulses){ .row = NULL };
}

void fleet_pulses_thin(struct fleet_pulses *p)
{
	size_t kept = 0;

	if (p->rows)
		qsort(p->row, p->rows, sizeof(*p->row), live_row_key_order);
	for (size_t i = 0; i < p->rows; i++)
		if (!kept || !live_row_same_key(&p->row[kept - 1], &p->row[i]))
			p->row[kept++] = p->row[i];
	p->rows = kept;
}
