/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of the fleet, from the words of the command line. Errors are said on stderr. */
#ifndef FLEET_ASKED_H
#define FLEET_ASKED_H

#include "fleet.h"

/* "user", "label:K", ... into o->by and o->query.label, which points into @text, or is static. */
bool fleet_asked_by(const char *text, struct fleet_options *o);

/* Labels that may be asked for as if they were tables: "namespace"; NULL behind the last. */
const char *fleet_asked_label(size_t i);

/* "2026-11-09", "2026-11-09T14:00:00Z", "30d" ago (h, d, w) to ns since 1970, UTC. */
bool fleet_asked_time(const char *option, const char *text, int64_t *unix_ns);

#endif
