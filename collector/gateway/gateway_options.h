/* SPDX-License-Identifier: Apache-2.0 */
/* --gateway and its options. Texts are the command line's. */
#ifndef COLL_GATEWAY_OPTIONS_H
#define COLL_GATEWAY_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

struct coll_conditions;

#define COLL_TEAM_BUDGETS_MAX 16

#define COLL_GATEWAY_MEMORY (UINT64_C(512) << 20)
#define COLL_GATEWAY_MEMORY_MIN (UINT64_C(64) << 20)
#define COLL_GATEWAY_GATHER_S 60

struct coll_gateway_options {
	const char *url; /* s3://BUCKET/PREFIX; NULL: this is no gateway */
	uint64_t memory; /* bytes of requests at a time */
	const char *store; /* of runs that go on; NULL: none */
	const struct coll_conditions *conditions; /* for which these are watched */
	const char *team_budget[COLL_TEAM_BUDGETS_MAX]; /* with a price in the conditions */
	size_t team_budgets;
	const char *budget_exec; /* NULL: nobody is told */
	int gather_s; /* nodes are asked to send so rarely */
};

#endif
