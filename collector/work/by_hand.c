/* SPDX-License-Identifier: Apache-2.0 */
#include "by_hand.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "core/clock.h"
#include "core/log.h"
#include "mark_store.h"
#include "work_scan.h"

struct asked {
	struct objects *store;
	size_t waiting, dead, settled, busy;
};

static void tell_dead(struct asked *a, const struct coll_work_told *t, const char *name)
{
	char why[400] = "nobody knows why";
	struct objects_trouble trouble;
	struct coll_work_marks all;

	if (!coll_work_marks_list(&all, a->store, &t->place, &trouble))
		for (size_t i = 0; i < all.n; i++)
			if (all.mark[i].kind == COLL_WORK_DEAD)
				coll_work_mark_text(why, sizeof(why), a->store, &t->place,
						    &all.mark[i]);
	coll_work_marks_fini(&all);
	printf("dead %s: %s\n", name, why);
}

static void tell(void *arg, const struct coll_work_told *t)
{
	struct asked *a = arg;
	char name[COLL_WORK_PLACE_BYTES];

	coll_work_place_name(name, &t->place);
	if (t->busy) {
		a->busy++;
		printf("busy %s\n", name);
	} else if (t->dead) {
		a->dead++;
		tell_dead(a, t, name);
	} else if (t->digest) {
		a->settled++;
	} else {
		a->waiting++;
		printf("waiting %s%s\n", name,
		       t->left ? ": its worker was not heard of any more" : "");
	}
}

static int list(struct asked *a, const char *url, const struct coll_limits *limits,
		struct objects_trouble *t)
{
	struct coll_work_scan s = {
		.store = a->store,
		.rules.lease_s = (int64_t)(limits->value[COLL_LIMIT_WORK_LEASE] / COLL_SECOND_NS),
		.tell = tell,
		.arg = a,
	};
	int err = coll_work_scan(&s, t);

	if (!err && s.empty) {
		snprintf(t->why, sizeof(t->why), COLL_WORK_EMPTY, url);
		return -ENOENT;
	}
	if (!err)
		printf("total %zu waiting, %zu busy, %zu dead, %zu with a digest\n", a->waiting,
		       a->busy, a->dead, a->settled);
	return err;
}

static int again(struct asked *a, const char *name, struct objects_trouble *t)
{
	const char *slash = strchr(name, '/');
	struct coll_work_place place;
	struct coll_work_claim c;
	char team[COLL_WORK_TEAM_BYTES];
	int gone;

	snprintf(team, sizeof(team), "%.*s", slash ? (int)(slash - name) : 0, name);
	if ((slash && slash - name >= (long)sizeof(team)) ||
	    !coll_work_place_of(&place, team, slash ? slash + 1 : name)) {
		snprintf(t->why, sizeof(t->why), "not TEAM/RUN");
		return -EINVAL;
	}
	coll_work_claim_init(&c, a->store);
	gone = coll_work_again(&c, &place, t);
	coll_work_claim_fini(&c);
	if (gone >= 0)
		printf("%s: %d marks of attempts removed\n", name, gone);
	return gone < 0 ? gone : 0;
}

int coll_work_by_hand(const struct coll_work_options *o, const struct coll_limits *limits)
{
	struct asked a = { .waiting = 0 };
	struct objects_trouble t;
	int err = objects_open(&a.store, o->url, &t);

	if (!err)
		err = o->again ? again(&a, o->again, &t) : list(&a, o->url, limits, &t);
	if (err)
		coll_log("--work %s: %s", o->again ? o->again : o->url,
			 t.why[0] ? t.why : strerror(-err));
	objects_close(a.store);
	return err;
}
