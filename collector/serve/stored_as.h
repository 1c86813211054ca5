/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Under which name a side file that a node sends is kept. Each node of a run has a run.json of its
 * own: the first one to come is the run's; from other nodes (Gpustarve-Node) it becomes
 * exit-node-NODE.json, of which readers take the ends of processes. Each node's alerts.jsonl
 * becomes alerts-node-NODE.jsonl: alerts.jsonl is this collector's own, which remembers there what
 * it has told.
 */
#ifndef COLL_STORED_AS_H
#define COLL_STORED_AS_H

#include <stdbool.h>
#include <stddef.h>
#include "http.h"

/*
 * Of @name in the run directory @dir. With @claim run.json becomes the asker's if it is nobody's
 * yet; without, nothing is written. 0 or -errno.
 */
int coll_stored_as(const struct coll_http_request *r, const char *dir, const char *name, bool claim,
		   char *out, size_t room);

#endif
