/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.estimated: how what was not recorded was likely spent. */
#include "fields.h"
#include "summary_priv.h"

static void put_part(struct base_jsonout *j, const char *key, const struct ana_estimated_part *p)
{
	base_json_flat_object(j, key);
	summary_put_fields(j, summary_estimated_part, p);
	base_json_end(j);
}

void summary_put_estimated(struct base_jsonout *j, const struct ana_estimated *e)
{
	if (!e->of_ns)
		return;
	base_json_object(j, "estimated");
	summary_put_fields(j, summary_estimated, e);
	put_part(j, "busy", &e->busy);
	base_json_object(j, "classes");
	for (int c = 0; c < ANA_CLASSES; c++)
		if (e->classes[c].high_ns)
			put_part(j, ana_class_names[c], &e->classes[c]);
	base_json_end(j);
	base_json_end(j);
}

void summary_read_estimated(struct view_summary *s, const struct base_json *node)
{
	struct ana_estimated *e = &s->result->estimated;

	summary_read_fields(s, node, summary_estimated, e);
	summary_read_fields(s, base_json_get(node, "busy"), summary_estimated_part, &e->busy);
	BASE_JSON_EACH(n, base_json_get(node, "classes")) {
		int c = ana_class_by_name(n->key ? n->key : "");

		if (c >= 0)
			summary_read_fields(s, n, summary_estimated_part, &e->classes[c]);
	}
}
