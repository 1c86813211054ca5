/* SPDX-License-Identifier: Apache-2.0 */
#include "job_rest.h"

#include <stdlib.h>
#include <string.h>
#include "stored_text.h"

#define TIME_MAX (INT64_C(1) << 60)

static int64_t end_of(const struct fleet_rest_span *s)
{
	return s->from_ns + s->wall_ns;
}

void fleet_rest_join(struct fleet_rest_span *to, const struct fleet_rest_span *next)
{
	to->wall_ns = end_of(next) - to->from_ns;
	to->gpus = to->gpus > next->gpus ? to->gpus : next->gpus;
	view_cost_add(&to->held_ns, next->held_ns);
}

int64_t fleet_rest_blurred(const struct fleet_rest_span *a, const struct fleet_rest_span *b)
{
	int64_t less = a->wall_ns < b->wall_ns ? a->wall_ns : b->wall_ns;

	return less + (b->from_ns - end_of(a));
}

void fleet_rest_put(struct base_jsonout *j, const struct fleet_digest *d)
{
	if (!d->rest.job_ns)
		return;
	base_json_int(j, "rest_of_job_ns", d->rest.job_ns);
	base_json_array(j, "rest_spans");
	for (size_t i = 0; i < d->rest.spans; i++) {
		const struct fleet_rest_span *s = &d->rest.span[i];

		base_json_array(j, NULL);
		base_json_int(j, NULL, s->line);
		base_json_int(j, NULL, s->from_ns);
		base_json_int(j, NULL, s->wall_ns);
		base_json_int(j, NULL, s->gpus);
		base_json_int(j, NULL, s->held_ns);
		base_json_end(j);
	}
	base_json_end(j);
}

enum {
	LINE,
	FROM,
	WALL,
	GPUS,
	HELD,
	NUMBERS
};

static bool take(struct fleet_rest_span *s, const int64_t v[NUMBERS])
{
	*s = (struct fleet_rest_span){ (uint8_t)v[LINE], v[FROM], v[WALL], v[GPUS], v[HELD] };
	return v[LINE] >= 0 && v[LINE] < FLEET_LINES_MAX && v[FROM] >= -TIME_MAX &&
	       v[FROM] <= TIME_MAX && v[WALL] > 0 && v[WALL] <= TIME_MAX && v[GPUS] > 0 &&
	       v[GPUS] <= FLEET_GPUS_MAX && v[HELD] >= 0;
}

static bool read_span(const struct base_json *n, struct fleet_rest_span *s)
{
	const struct base_json *at = n->child;
	int64_t v[NUMBERS];

	if (n->type != BASE_JSON_ARRAY || base_json_count(n) != NUMBERS)
		return false;
	for (int i = 0; i < NUMBERS; i++, at = at->next)
		if (!base_json_to_int(at, &v[i]))
			return false;
	return take(s, v);
}

const char *fleet_rest_read(struct fleet_digest *d, const struct base_json *root)
{
	static const char wrong[] = "what it tells of the rest of a job is wrong";
	const struct base_json *job = base_json_get(root, "rest_of_job_ns");

	if (!job)
		return NULL;
	if (!base_json_to_int(job, &d->rest.job_ns) || d->rest.job_ns <= 0)
		return wrong;
	BASE_JSON_EACH(n, base_json_get(root, "rest_spans")) {
		if (d->rest.spans == FLEET_REST_SPANS_MAX ||
		    !read_span(n, &d->rest.span[d->rest.spans]))
			return wrong;
		d->rest.spans++;
	}
	return NULL;
}

bool fleet_rest_fold(struct fleet_digest *d)
{
	struct fleet_rest *r = &d->rest;
	size_t at = 0;

	for (size_t i = 1; i < r->spans; i++)
		if (r->span[i - 1].line == r->span[i].line &&
		    (!at || fleet_rest_blurred(&r->span[i - 1], &r->span[i]) <
				    fleet_rest_blurred(&r->span[at - 1], &r->span[at])))
			at = i;
	if (!at)
		return false;
	fleet_rest_join(&r->span[at - 1], &r->span[at]);
	r->spans--;
	memmove(&r->span[at], &r->span[at + 1], (r->spans - at) * sizeof(r->span[0]));
	return true;
}

void fleet_rest_fold_line(struct fleet_digest *d, size_t to, size_t from)
{
	for (size_t i = 0; i < d->rest.spans; i++) {
		struct fleet_rest_span *s = &d->rest.span[i];

		if (s->line == from)
			s->line = (uint8_t)to;
		else if (s->line > from)
			s->line--;
	}
}

/* ---- out of a stored text ---- */

static bool one(const char **p, struct fleet_rest_span *s)
{
	int64_t v[NUMBERS];

	for (int i = 0; i < NUMBERS; i++) {
		char *end;

		if (!fleet_stored_pass(p, i ? ", " : "["))
			return false;
		v[i] = strtoll(*p, &end, 10);
		if (end == *p)
			return false;
		*p = end;
	}
	return fleet_stored_pass(p, "]") && take(s, v);
}

bool fleet_rest_is_astray(const char *text, int64_t wall_ns)
{
	struct fleet_rest_span s;

	if (!text || !fleet_stored_pass(&text, FLEET_REST_HEAD))
		return false;
	for (int i = 0; i < FLEET_REST_SPANS_MAX && one(&text, &s); i++) {
		if (s.from_ns < 0 || end_of(&s) > wall_ns)
			return true;
		if (!fleet_stored_pass(&text, ", "))
			break;
	}
	return false;
}

size_t fleet_rest_spans_of(const char *text, size_t line,
			   struct fleet_rest_span span[FLEET_REST_SPANS_MAX])
{
	struct fleet_rest_span s;
	size_t n = 0;

	if (!text || !fleet_stored_pass(&text, FLEET_REST_HEAD))
		return 0;
	for (int i = 0; i < FLEET_REST_SPANS_MAX && one(&text, &s); i++) {
		if (s.line == line)
			span[n++] = s;
		if (!fleet_stored_pass(&text, ", "))
			break;
	}
	return n;
}
