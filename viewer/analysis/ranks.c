/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks.h"

#include <stdlib.h>

const char *const ana_culprit_names[ANA_CULPRITS] = { "none", "stable", "rotating" };
const char *const ana_rank_state_names[ANA_RANK_STATES] = { "ended", "dead", "hung" };

void ana_ranks_fini(struct ana_ranks *r)
{
	size_t i;

	for (i = 0; i < r->rows; i++) {
		free(r->row[i].last_name);
		free(r->row[i].file);
		free(r->row[i].function);
	}
	for (i = 0; i < r->clocks; i++)
		free(r->clock[i].host);
	for (i = 0; i < r->groups; i++) {
		free(r->group[i].name);
		free(r->group[i].member);
	}
	free(r->row);
	free(r->clock);
	free(r->group);
	free(r->pair_ns);
	*r = (struct ana_ranks){ 0 };
}
