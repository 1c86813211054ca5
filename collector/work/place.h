/* SPDX-License-Identifier: Apache-2.0 */
/* Where a run, or a scheduler's job, and its marks lie below the prefix of an archive. Pure. */
#ifndef COLL_WORK_PLACE_H
#define COLL_WORK_PLACE_H

#include <stdbool.h>
#include "store/run_name.h"

#define COLL_WORK_TEAM_BYTES 64
#define COLL_WORK_PLACE_BYTES (COLL_WORK_TEAM_BYTES + COLL_RUN_BYTES + 32)

struct coll_work_place {
	char team[COLL_WORK_TEAM_BYTES]; /* "": of none */
	char run[COLL_RUN_BYTES]; /* or CLUSTER-JOB.job */
};

/* Names as collectors make them; others are nobody's runs. False: it is none of ours. */
bool coll_work_place_of(struct coll_work_place *p, const char *team, const char *run);
bool coll_work_team_ok(const char *team);

/* Both with a slash behind them. */
void coll_work_place_run(char out[COLL_WORK_PLACE_BYTES], const struct coll_work_place *p);
void coll_work_place_marks(char out[COLL_WORK_PLACE_BYTES], const struct coll_work_place *p);

/* "TEAM/RUN", or "RUN": for people. */
void coll_work_place_name(char out[COLL_WORK_PLACE_BYTES], const struct coll_work_place *p);

#endif
