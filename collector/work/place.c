/* SPDX-License-Identifier: Apache-2.0 */
#include "place.h"

#include <stdio.h>
#include <string.h>
#include "work_marks.h"

#define TEAM_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

bool coll_work_team_ok(const char *team)
{
	size_t len = strlen(team);

	return len && len < COLL_WORK_TEAM_BYTES && strspn(team, TEAM_CHARACTERS) == len;
}

bool coll_work_place_of(struct coll_work_place *p, const char *team, const char *run)
{
	size_t len = strlen(run);

	if ((*team && !coll_work_team_ok(team)) || !len || len >= sizeof(p->run) || run[0] == '.' ||
	    strspn(run, COLL_NAME_CHARACTERS) != len)
		return false;
	snprintf(p->team, sizeof(p->team), "%s", team);
	snprintf(p->run, sizeof(p->run), "%s", run);
	return true;
}

void coll_work_place_run(char out[COLL_WORK_PLACE_BYTES], const struct coll_work_place *p)
{
	snprintf(out, COLL_WORK_PLACE_BYTES, "%s%s%s/", p->team, p->team[0] ? "/" : "", p->run);
}

void coll_work_place_marks(char out[COLL_WORK_PLACE_BYTES], const struct coll_work_place *p)
{
	snprintf(out, COLL_WORK_PLACE_BYTES, COLL_WORK_FOLDER "%s/%s/",
		 p->team[0] ? p->team : COLL_WORK_NOBODY, p->run);
}

void coll_work_place_name(char out[COLL_WORK_PLACE_BYTES], const struct coll_work_place *p)
{
	snprintf(out, COLL_WORK_PLACE_BYTES, "%s%s%s", p->team, p->team[0] ? "/" : "", p->run);
}
