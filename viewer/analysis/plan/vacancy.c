/* SPDX-License-Identifier: Apache-2.0 */
#include "vacancy.h"

#include "allocations.h"

const char *const ana_vacant_names[ANA_VACANTS] = { "before", "between", "after", "never",
						    "unknown" };

struct stretch { /* of @given */
	struct ana_vacancy *v;
	struct ana_span all;
	bool open; /* its end is not known */
};

static enum ana_vacant part_of(const struct stretch *s, int64_t start, int64_t end)
{
	bool first = start == s->all.start, last = end == s->all.end;

	if (last && s->open)
		return ANA_VACANT_UNKNOWN;
	if (first)
		return last ? ANA_VACANT_NEVER : ANA_VACANT_BEFORE;
	return last ? ANA_VACANT_AFTER : ANA_VACANT_BETWEEN;
}

static void add(void *arg, int64_t start, int64_t end)
{
	const struct stretch *s = arg;
	enum ana_vacant part = part_of(s, start, end);

	ana_sum(&s->v->ns[part], end - start);
	if (part != ANA_VACANT_BETWEEN)
		return;
	s->v->gaps++;
	s->v->longest_ns = base_max(s->v->longest_ns, end - start);
}

void ana_vacancy_add(struct ana_vacancy *v, struct ana_spans *given, struct ana_spans *unended,
		     struct ana_spans *held)
{
	for (size_t i = 0; i < given->count; i++) {
		struct stretch s = { .v = v, .all = given->span[i] };
		struct ana_spans one = { .span = &s.all, .count = 1 };
		int64_t until;

		s.open = ana_spans_at(unended, s.all.end - 1, &until);
		ana_allocations_outside(&one, held, add, &s);
	}
}

void ana_vacancy_sum(struct ana_vacancy *to, const struct ana_vacancy *v)
{
	to->known |= v->known;
	for (int p = 0; p < ANA_VACANTS; p++)
		ana_sum(&to->ns[p], v->ns[p]);
	ana_sum(&to->unseen_ns, v->unseen_ns);
	ana_sum(&to->gaps, v->gaps);
	to->longest_ns = base_max(to->longest_ns, v->longest_ns);
}

int64_t ana_vacancy_ns(const struct ana_vacancy *v)
{
	int64_t sum = 0;

	for (int p = 0; p < ANA_VACANTS; p++)
		ana_sum(&sum, v->ns[p]);
	return sum;
}
