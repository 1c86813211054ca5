/* SPDX-License-Identifier: Apache-2.0 */
/* Of GPUs that a job was given: when no process of it was there, as far as all were recorded. */
#include <errno.h>
#include <stdlib.h>
#include "analysis/plan/allocations.h"
#include "analysis/plan/runs_apart.h"
#include "analysis/plan/vacancy.h"
#include "base/vec.h"
#include "result_make.h"

struct given {
	struct ana_spans *given, *unended, *held;
	bool unseen;
};

struct vacant {
	struct ana_gpu *gpu;
	size_t room;
	int err;
};

static void keep(void *arg, int64_t start, int64_t end)
{
	struct vacant *v = arg;
	struct ana_gpu *g = v->gpu;

	if (!base_vec_more(g->vacant, g->vacants, v->room)) {
		v->err = -ENOMEM;
		return;
	}
	g->vacant[g->vacants++] = (struct ana_span){ start, end };
}

static int split(struct ana_gpu *g, const struct given *of)
{
	struct ana_vacancy v = { .known = of->given->count > 0 };
	struct vacant vacant = { .gpu = g };
	int64_t ns = ana_allocations_outside(of->given, of->held, keep, &vacant);

	if (of->unseen)
		v.unseen_ns = ns;
	else
		ana_vacancy_add(&v, of->given, of->unended, of->held);
	g->vacancy = v;
	return vacant.err;
}

int ana_vacancies_make(struct ana_plan *p, struct ana_result *r)
{
	struct ana_spans none = { 0 };
	int err = 0;

	for (size_t i = 0; i < p->devices && !err; i++) {
		struct ana_device *d = &p->device[i];
		const struct given of = { &d->given, &d->unended, &d->held, d->unseen };

		err = split(&r->gpu[i], &of);
	}
	for (size_t i = 0; i < p->unuseds && !err; i++) {
		struct ana_unused *u = &p->unused[i];
		const struct given of = { &u->given, &u->unended, &none, u->unseen };

		err = split(&r->gpu[p->devices + i], &of);
	}
	return err ? err : ana_runs_apart(p, &r->runs_apart);
}
