/* SPDX-License-Identifier: Apache-2.0 */
/* no_process of GPUs and of the ledger: when GPUs that a job was given were used by nobody. */
#include <stdio.h>
#include "analysis/time/span.h"
#include "fields.h"
#include "summary_priv.h"

void summary_put_gpu_vacancy(struct base_jsonout *j, const struct ana_gpu *g)
{
	if (!g->vacancy.known)
		return;
	base_json_flat_object(j, "no_process");
	summary_put_fields(j, summary_vacancy, &g->vacancy);
	base_json_array(j, "spans");
	for (size_t i = 0; i < g->vacants; i++) {
		base_json_array(j, NULL);
		base_json_int(j, NULL, g->vacant[i].start);
		base_json_int(j, NULL, g->vacant[i].end);
		base_json_end(j);
	}
	base_json_end(j);
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

/* What is out of order or too long is left out: they are in order, and no two of them meet. */
static void read_spans(struct view_summary *s, const struct base_json *spans, struct ana_gpu *g)
{
	int64_t start, end, last = -SUMMARY_STAMP_MAX;

	if (!spans || spans->type != BASE_JSON_ARRAY)
		return;
	g->vacant = base_arena_array(&s->mem, base_json_count(spans), sizeof(*g->vacant));
	BASE_JSON_EACH(n, spans) {
		if (base_json_count(n) != 2 || !base_json_to_int(n->child, &start) ||
		    !base_json_to_int(n->child->next, &end) || start < last || end <= start ||
		    end > SUMMARY_STAMP_MAX || end - start > SUMMARY_SPAN_MAX)
			continue;
		g->vacant[g->vacants++] = (struct ana_span){ start, end };
		last = end;
	}
}

void summary_read_gpu_vacancy(struct view_summary *s, const struct base_json *node,
			      struct ana_gpu *g)
{
	summary_read_vacancy(s, node, &g->vacancy);
	if (g->vacancy.known)
		read_spans(s, base_json_get(node, "spans"), g);
}

/* A summary of before has none: nothing is known. */
void summary_read_vacancy(struct view_summary *s, const struct base_json *node,
			  struct ana_vacancy *v)
{
	v->known = node && node->type == BASE_JSON_OBJECT;
	if (v->known)
		summary_read_fields(s, node, summary_vacancy, v);
}
