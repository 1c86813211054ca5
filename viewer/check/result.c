/* SPDX-License-Identifier: Apache-2.0 */
#include "result.h"

const char *const check_status_names[4] = { "pass", "warn", "fail", "not_comparable" };

void check_result_init(struct check_result *r, struct base_arena *mem)
{
	*r = (struct check_result){ .mem = mem, .worst = CHECK_PASS };
	r->end = &r->first;
}

/* A broken budget is one whether or not something else could not be compared. */
static int weight(enum check_status s)
{
	static const int by_status[] = { 0, 1, 3, 2 };

	return by_status[s];
}

struct check_judgement *check_result_add(struct check_result *r, enum check_status status,
					 const char *name, const char *run, const char *message)
{
	struct check_judgement *j = base_arena_alloc(r->mem, sizeof(*j));

	*j = (struct check_judgement){
		.status = status, .name = name, .run = run, .message = message
	};
	*r->end = j;
	r->end = &j->next;
	r->count++;
	r->failed += status == CHECK_FAIL || status == CHECK_NOT_COMPARABLE;
	r->warned += status == CHECK_WARN;
	if (weight(status) > weight(r->worst))
		r->worst = status;
	return j;
}

int check_result_exit(const struct check_result *r, bool fail_on_warn)
{
	switch (r->worst) {
	case CHECK_FAIL:
		return CHECK_EXIT_FAIL;
	case CHECK_NOT_COMPARABLE:
		return CHECK_EXIT_NOT_COMPARABLE;
	case CHECK_WARN:
		return fail_on_warn ? CHECK_EXIT_WARN : CHECK_EXIT_PASS;
	default:
		return CHECK_EXIT_PASS;
	}
}
