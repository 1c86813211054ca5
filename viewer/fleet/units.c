/* SPDX-License-Identifier: Apache-2.0 */
#include "units.h"

#include <stdlib.h>
#include <string.h>
#include "stored_text.h"

void fleet_units_make(struct fleet_digest *d, const struct view_summary *s)
{
	for (size_t i = 0; i < s->outcomes; i++) {
		struct fleet_unit *u = &d->unit[d->units++];

		fleet_tame(u->name, sizeof(u->name), s->outcome[i].unit);
		u->num = s->outcome[i].num;
		u->den = s->outcome[i].den;
		u->bound = s->outcome[i].bound;
	}
}

void fleet_units_put(struct base_jsonout *j, const struct fleet_digest *d)
{
	if (!d->units)
		return;
	base_json_array(j, "units");
	for (size_t i = 0; i < d->units; i++) {
		base_json_array(j, NULL);
		base_json_string(j, NULL, d->unit[i].name);
		base_json_int(j, NULL, d->unit[i].num);
		base_json_int(j, NULL, d->unit[i].den);
		if (d->unit[i].bound)
			base_json_string(j, NULL, view_outcome_bounds[d->unit[i].bound]);
		base_json_end(j);
	}
	base_json_end(j);
}

/* False: a bound that a later program knows. */
static bool bound_of(const char *name, size_t len, enum view_outcome_bound *bound)
{
	int i;

	for (i = VIEW_OUTCOME_AT_LEAST; i < VIEW_OUTCOME_BOUNDS; i++)
		if (strlen(view_outcome_bounds[i]) == len &&
		    !memcmp(view_outcome_bounds[i], name, len)) {
			*bound = (enum view_outcome_bound)i;
			return true;
		}
	return false;
}

static void add(struct fleet_digest *d, const char *name, int64_t num, int64_t den,
		enum view_outcome_bound bound)
{
	char text[VIEW_UNIT_NAME + 8];
	struct view_unit u;

	snprintf(text, sizeof(text), "%.*s=1", VIEW_UNIT_NAME, name);
	if (d->units == VIEW_OUTCOMES_MAX || num <= 0 || den <= 0 ||
	    !view_unit_parse(text, strlen(text), &u))
		return;
	for (size_t i = 0; i < d->units; i++)
		if (!strcmp(d->unit[i].name, u.name))
			return;
	memcpy(d->unit[d->units].name, u.name, sizeof(u.name));
	d->unit[d->units].num = num;
	d->unit[d->units].bound = bound;
	d->unit[d->units++].den = den;
}

static bool read_bound(const struct base_json *n, enum view_outcome_bound *bound)
{
	*bound = VIEW_OUTCOME_EXACT;
	return !n || (n->type == BASE_JSON_STRING && bound_of(n->text, strlen(n->text), bound));
}

void fleet_units_read(struct fleet_digest *d, const struct base_json *units)
{
	BASE_JSON_EACH(n, units) {
		size_t members = base_json_count(n);
		enum view_outcome_bound bound;
		int64_t num, den;

		if (members < 3 || members > 4 || n->child->type != BASE_JSON_STRING ||
		    !base_json_to_int(n->child->next, &num) ||
		    !base_json_to_int(n->child->next->next, &den) ||
		    !read_bound(n->child->next->next->next, &bound))
			continue;
		add(d, n->child->text, num, den, bound);
	}
}

/* --- out of a stored text --- */

static bool number(const char **p, int64_t *v)
{
	const char *from = *p;

	for (*v = 0; **p >= '0' && **p <= '9'; (*p)++)
		if (__builtin_mul_overflow(*v, 10, v) || __builtin_add_overflow(*v, **p - '0', v))
			return false;
	return *p > from;
}

static bool bound(const char **p, enum view_outcome_bound *b)
{
	size_t n;

	*b = VIEW_OUTCOME_EXACT;
	if (!fleet_stored_pass(p, ", \""))
		return true;
	n = strspn(*p, "abcdefghijklmnopqrstuvwxyz_");
	if (!bound_of(*p, n, b))
		return false;
	*p += n;
	return fleet_stored_pass(p, "\"");
}

/* ["samples", 204, 1] or ["samples", 204, 1, "at_least"] */
static bool one(const char **p, struct fleet_unit *u)
{
	size_t n;

	if (!fleet_stored_pass(p, "[\""))
		return false;
	n = strspn(*p, "abcdefghijklmnopqrstuvwxyz0123456789_");
	if (!n || n >= sizeof(u->name))
		return false;
	memcpy(u->name, *p, n);
	u->name[n] = '\0';
	*p += n;
	return fleet_stored_pass(p, "\", ") && number(p, &u->num) && fleet_stored_pass(p, ", ") &&
	       number(p, &u->den) && bound(p, &u->bound) && fleet_stored_pass(p, "]") &&
	       u->num > 0 && u->den > 0;
}

size_t fleet_units_of(const char *text, struct fleet_unit unit[VIEW_OUTCOMES_MAX])
{
	size_t n = 0;

	if (!text || !fleet_stored_pass(&text, FLEET_UNITS_HEAD))
		return 0;
	while (n < VIEW_OUTCOMES_MAX && one(&text, &unit[n])) {
		n++;
		if (!fleet_stored_pass(&text, ", "))
			break;
	}
	return n;
}

/* --- sums --- */

static struct fleet_unit_sum *sum_of(struct fleet_unit_sums *s, struct base_arena *mem,
				     const char *name)
{
	for (size_t i = 0; i < s->sums; i++)
		if (!strcmp(s->sum[i].name, name))
			return &s->sum[i];
	if (s->sums == VIEW_OUTCOMES_MAX)
		return NULL;
	s->sum[s->sums] =
		(struct fleet_unit_sum){ .name = base_arena_text(mem, name), .untold_usd = s->usd };
	return &s->sum[s->sums++];
}

static bool told(const struct fleet_unit *unit, size_t units, const char *name)
{
	for (size_t i = 0; i < units; i++)
		if (unit[i].den == 1 && !strcmp(unit[i].name, name))
			return true;
	return false;
}

void fleet_unit_sums_add(struct fleet_unit_sums *s, struct base_arena *mem, int64_t usd,
			 const struct fleet_unit *unit, size_t units)
{
	if (usd < 0)
		return;
	for (size_t i = 0; i < s->sums; i++)
		if (!told(unit, units, s->sum[i].name))
			s->sum[i].untold_usd += usd;
	for (size_t i = 0; i < units; i++) {
		struct fleet_unit_sum *u;

		if (unit[i].den != 1 || !strcmp(unit[i].name, "epochs"))
			continue;
		u = sum_of(s, mem, unit[i].name);
		if (!u)
			continue;
		u->count += unit[i].num;
		u->usd += usd;
		u->runs++;
		u->at_least += unit[i].bound == VIEW_OUTCOME_AT_LEAST;
		u->at_most += unit[i].bound == VIEW_OUTCOME_AT_MOST;
	}
	s->usd += usd;
}

void fleet_unit_sums_take(struct fleet_unit_sums *s, struct base_arena *mem,
			  const struct fleet_unit_sum *sum)
{
	struct fleet_unit_sum *u = sum_of(s, mem, sum->name);

	if (!u)
		return;
	u->count += sum->count;
	u->usd += sum->usd;
	u->runs += sum->runs;
	u->at_least += sum->at_least;
	u->at_most += sum->at_most;
}

void fleet_unit_sums_close(struct fleet_unit_sums *s)
{
	for (size_t i = 0; i < s->sums; i++)
		s->sum[i].untold_usd = s->usd - s->sum[i].usd;
}

static int by_name(const void *a, const void *b)
{
	const struct fleet_unit_sum *x = a, *y = b;

	return strcmp(x->name, y->name);
}

void fleet_unit_sums_sort(struct fleet_unit_sums *s)
{
	if (s->sums)
		qsort(s->sum, s->sums, sizeof(s->sum[0]), by_name);
}

enum view_outcome_bound fleet_unit_bound(const struct fleet_unit_sum *s)
{
	if (s->at_least && s->at_most)
		return VIEW_OUTCOME_BOUNDS;
	return s->at_least  ? VIEW_OUTCOME_AT_LEAST
	       : s->at_most ? VIEW_OUTCOME_AT_MOST
			    : VIEW_OUTCOME_EXACT;
}

const char *fleet_unit_bound_name(const struct fleet_unit_sum *s)
{
	enum view_outcome_bound b = fleet_unit_bound(s);

	return b == VIEW_OUTCOME_BOUNDS ? "none" : view_outcome_bounds[b];
}

base_wide fleet_unit_usd(const struct fleet_unit_sum *s)
{
	base_wide each;

	if (s->count <= 0 || __builtin_mul_overflow(s->usd, view_unit_per(s->name), &each))
		return -1;
	return base_div_even_wide(each, s->count);
}
