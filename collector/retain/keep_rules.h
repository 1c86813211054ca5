/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long runs are kept: one time for all, and other times for runs with certain labels. The first
 * rule whose label a run has decides. Plain data, copied by assignment.
 */
#ifndef COLL_KEEP_RULES_H
#define COLL_KEEP_RULES_H

#include <stdint.h>

#define COLL_KEEP_RULES_MAX 64
#define COLL_KEEP_RULE_KEY_BYTES 64
#define COLL_KEEP_RULE_VALUE_BYTES 192
#define COLL_KEEP_FOREVER INT64_MAX /* not even when the disk's quota is used up */

struct coll_keep_rule {
	char key[COLL_KEEP_RULE_KEY_BYTES];
	char value[COLL_KEEP_RULE_VALUE_BYTES];
	int64_t keep_ns;
};

struct coll_keep_rules {
	int64_t keep_ns; /* of runs that no rule is for; 0: until the quota needs their place */
	unsigned int count;
	struct coll_keep_rule rule[COLL_KEEP_RULES_MAX];
};

/*
 * "KEY=VALUE:SPAN"; SPAN may be `forever`. A rule for the same label takes its place. 0, -EINVAL.
 */
int coll_keep_rules_add(struct coll_keep_rules *r, const char *text);

/* A span, or `forever`. 0 or -EINVAL. */
int coll_keep_rules_for_all(struct coll_keep_rules *r, const char *text);

#endif
