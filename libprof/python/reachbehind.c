/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a future, a task or some futures to what stands behind them: futures of threads and pools,
 * and the loop that runs the coroutine that a future is for. Only callbacks, and the C objects of
 * asyncio, lead there; the program's own objects do not.
 */
#include <string.h>

#include "pypriv.h"
#include "reachpriv.h"

#define BEHIND_DEPTH 6u
#define OBJECTS_BEHIND 96u
#define RESULTS_DEPTH 4u
#define OBJECTS_RESULTS 256u
/* What takers say of each (reachgives.c). */
#define OF_LOOP PROF_PYGIVES_CALL
#define OF_SELECTOR (PROF_PYGIVES_CALL | PROF_PYGIVES_SEND)

static void add(struct prof_pyreach *r, uint64_t at)
{
	size_t i;

	for (i = 0; i < r->behinds; i++)
		if (r->behind[i] == at)
			return;
	if (r->behinds < PROF_PYREACH_BEHIND)
		r->behind[r->behinds++] = at;
}

/*
 * A future of a thread's or a pool's is what somebody works on: it is one itself, and nothing is
 * behind.
 */
static bool is_end(const struct prof_pynode *node, const struct prof_pytype *type)
{
	return type->takes == OF_SELECTOR || (type->plain_future && node->way.depth);
}

static bool leads_on(const struct prof_pynode *node, const struct prof_pytype *type)
{
	switch ((enum prof_pykind)type->kind) {
	case PROF_PYKIND_INSTANCE:
		return type->asyncio || type->plain_future || type->takes == OF_LOOP;
	case PROF_PYKIND_DICT:
		return node->way.how == PROF_PYHOW_ATTRIBUTES;
	default:
		return true;
	}
}

/* What somebody sets when it has come; what is in it is nobody's. */
static bool leads_to_results(struct prof_pyreach *r, const struct prof_pynode *node,
			     const struct prof_pytype *type)
{
	if (!node->way.depth || type->takes != PROF_PYGIVES_RESULT)
		return true;
	add(r, node->at);
	if (r->behinds == PROF_PYREACH_BEHIND)
		r->open = 0;
	return false;
}

bool prof_pyreach_leads_behind(struct prof_pyreach *r, struct prof_pynode *node,
			       const struct prof_pytype *type)
{
	if (r->looks_results)
		return leads_to_results(r, node, type);
	if (is_end(node, type)) {
		if (type->takes != OF_SELECTOR || !r->in_loop)
			add(r, node->at);
		if (type->takes == OF_SELECTOR || node->way.depth > 1)
			/* else one of several that are waited for: it may be a loop's */
			return false;
	}
	if (type->awaits == PROF_PYAWAITS_TASK && !r->in_loop)
		r->task_behind = node->at;
	if (!leads_on(node, type) || (type->takes == OF_LOOP && r->in_loop))
		return false;
	if (type->takes == OF_LOOP && node->way.depth + 2u < BEHIND_DEPTH)
		node->way.depth = BEHIND_DEPTH - 2; /* its selector, and nothing farther off */
	return true;
}

static int look(struct prof_py *py, const uint64_t *from, size_t n, size_t objects, size_t depth)
{
	struct prof_pyreach *r = &py->reach;
	const struct prof_pyway way = { 0 };
	size_t i;
	int rc;

	prof_pyreach_begin(py);
	r->wanteds = r->names = r->behinds = 0;
	r->names_known = false;
	r->names_filter = 0;
	r->frame_gives[0] = r->own_gives[0] = 0;
	r->open = 1;
	r->objects = objects;
	r->depth = depth;
	r->looks_behind = true;
	for (i = 0; i < n; i++)
		prof_pyreach_offer(py, from[i], &way);
	rc = prof_pyreach_follow(py);
	r->looks_behind = false;
	r->depth = PROF_PYREACH_DEPTH;
	return rc;
}

int prof_pyreach_behind(struct prof_py *py, const uint64_t *from, size_t n, bool in_loop)
{
	int rc;

	py->reach.in_loop = in_loop;
	py->reach.task_behind = 0;
	rc = look(py, from, n, OBJECTS_BEHIND, BEHIND_DEPTH);
	if (py->reach.task_behind)
		prof_pycoro_note(&py->coros, py->reach.task_behind);
	return rc;
}

int prof_pyreach_results(struct prof_py *py, const uint64_t *from, size_t n)
{
	int rc;

	py->reach.looks_results = true;
	rc = look(py, from, n, OBJECTS_RESULTS, RESULTS_DEPTH);
	py->reach.looks_results = false;
	return rc;
}
