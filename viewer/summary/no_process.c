/* SPDX-License-Identifier: Apache-2.0 */
/* no_process of GPUs and of the ledger: when GPUs that a job was given were used by nobody. */
#include <stdio.h>
#include "fields.h"
#include "summary_priv.h"

void summary_put_gpu_vacancy(struct base_jsonout *j, const struct ana_gpu *g)
{
	if (!g->vacancy.known)
		return;
	base_json_flat_object(j, "no_process");
	summary_put_fields(j, summary_vacancy, &g->vacancy);
	base_json_end(j);
}

void summary_put_vacancy(struct base_jsonout *j, const struct view_summary *s)
{
	const struct ana_vacancy *v = &s->result->vacancy;
	char key[32];

	if (!v->known)
		return;
	base_json_object(j, "no_process");
	summary_put_fields(j, summary_vacancy, v);
	for (int p = 0; p < ANA_VACANTS; p++) {
		snprintf(key, sizeof(key), "%s_usd", ana_vacant_names[p]);
		base_json_usd(j, key, s->cost.vacant[p], s->cost.known);
	}
	base_json_end(j);
}

/* A summary of before has none: nothing is known. */
void summary_read_vacancy(struct view_summary *s, const struct base_json *node,
			  struct ana_vacancy *v)
{
	v->known = node && node->type == BASE_JSON_OBJECT;
	if (v->known)
		summary_read_fields(s, node, summary_vacancy, v);
}
