/* SPDX-License-Identifier: Apache-2.0 */
#include "digest_work.h"

#include <string.h>

static void name(struct fleet_work *w, const char *kind, const char *precision)
{
	fleet_tame(w->kind, sizeof(w->kind), kind);
	fleet_tame(w->precision, sizeof(w->precision), precision);
}

static void add(struct fleet_work *to, int64_t ns, int64_t usd)
{
	view_cost_add(&to->ns, ns);
	view_cost_add(&to->usd, usd);
}

void fleet_work_fold(struct fleet_digest *d)
{
	struct fleet_work *to = &d->work[d->works - 2], *from = &d->work[d->works - 1];

	name(to, "rest", "several");
	add(to, from->ns, from->usd);
	d->works--;
}

void fleet_work_make(struct fleet_digest *d, const struct view_summary *s)
{
	struct view_work rows[ANA_WORKS];
	size_t n = view_work_rows(s, rows);

	for (size_t i = 0; i < n && rows[i].ns; i++) { /* most first */
		struct fleet_work *w;

		if (d->works == FLEET_WORKS_MAX) {
			w = &d->work[d->works - 1];
			name(w, "rest", "several");
		} else {
			w = &d->work[d->works++];
			*w = (struct fleet_work){ 0 };
			name(w, rows[i].kind, rows[i].precision);
		}
		add(w, rows[i].ns, s->cost.known ? rows[i].nano_usd : 0);
	}
	d->meters = s->result->units;
}

static void put_meters(struct base_jsonout *j, const struct ana_units *u)
{
	base_json_object(j, "meters");
	base_json_int(j, "known_ns", u->known_ns);
	base_json_int(j, "busy_ns", u->busy_ns);
	base_json_int(j, "tensor_ns", u->tensor_ns);
	if (u->dram_ns >= 0)
		base_json_int(j, "dram_ns", u->dram_ns);
	base_json_end(j);
}

void fleet_work_put(struct base_jsonout *j, const struct fleet_digest *d)
{
	if (d->works)
		base_json_array(j, "compute");
	for (size_t i = 0; i < d->works; i++) { /* kind, precision, ns, nano-dollars */
		base_json_array(j, NULL);
		base_json_string(j, NULL, d->work[i].kind);
		base_json_string(j, NULL, d->work[i].precision);
		base_json_int(j, NULL, d->work[i].ns);
		base_json_int(j, NULL, d->work[i].usd);
		base_json_end(j);
	}
	if (d->works)
		base_json_end(j);
	if (d->meters.known_ns)
		put_meters(j, &d->meters);
}

/* A word of the tables, or one of a later version. */
static bool is_word(const struct base_json *n)
{
	return n->type == BASE_JSON_STRING && n->text[0] &&
	       strspn(n->text, "abcdefghijklmnopqrstuvwxyz0123456789") == strlen(n->text);
}

static bool read_work(struct fleet_work *w, const struct base_json *row)
{
	const struct base_json *kind, *precision;
	int64_t ns, usd;

	if (row->type != BASE_JSON_ARRAY || base_json_count(row) != 4)
		return false;
	kind = row->child;
	precision = kind->next;
	if (!is_word(kind) || !is_word(precision) || !base_json_to_int(precision->next, &ns) ||
	    !base_json_to_int(precision->next->next, &usd) || ns < 0 || usd < 0)
		return false;
	name(w, kind->text, precision->text);
	w->ns = ns;
	w->usd = usd;
	return true;
}

/* A time within another; -1 where it is not there. False: it is no such time. */
static bool read_part(const struct base_json *n, const char *key, int64_t most, int64_t *out)
{
	const struct base_json *v = base_json_get(n, key);

	*out = -1;
	return !v || (base_json_to_int(v, out) && *out >= 0 && *out <= most);
}

static bool read_meters(struct ana_units *u, const struct base_json *n)
{
	if (!n)
		return true;
	if (!read_part(n, "known_ns", INT64_MAX, &u->known_ns) || u->known_ns < 0 ||
	    !read_part(n, "busy_ns", u->known_ns, &u->busy_ns) || u->busy_ns < 0 ||
	    !read_part(n, "tensor_ns", u->known_ns, &u->tensor_ns) || u->tensor_ns < 0)
		return false;
	return read_part(n, "dram_ns", u->known_ns, &u->dram_ns);
}

const char *fleet_work_read(struct fleet_digest *d, const struct base_json *root)
{
	BASE_JSON_EACH(row, base_json_get(root, "compute")) {
		if (d->works == FLEET_WORKS_MAX || !read_work(&d->work[d->works], row))
			return "a row of compute is wrong";
		d->works++;
	}
	return read_meters(&d->meters, base_json_get(root, "meters")) ? NULL
								      : "its meters are wrong";
}
