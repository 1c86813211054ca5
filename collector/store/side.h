/* SPDX-License-Identifier: Apache-2.0 */
/* The small files beside a run's streams that go from node to centre. Any thread. */
#ifndef COLL_SIDE_H
#define COLL_SIDE_H

#include <stdbool.h>

#define COLL_SIDE_MAX (1u << 20) /* bytes of one */
#define COLL_SIDE_STORED "stored\n" /* the centre's answers: it has it, ... */
#define COLL_SIDE_NO_NAME "no file of a run has that name\n" /* ... or never will */

/* run.json, alerts.jsonl, exit-*.json, alloc-*.json, clock-*.json; * as in names of runs. */
bool coll_side_name_ok(const char *name);

#endif
