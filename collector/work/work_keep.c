/* SPDX-License-Identifier: Apache-2.0 */
#include "work_keep.h"

#include <stddef.h>

#define LEASE_PARTS 4 /* it is refreshed when so much of it has passed */

static void keep_work(struct coll_job *job)
{
	struct coll_work_keep *k =
		(struct coll_work_keep *)((char *)job - offsetof(struct coll_work_keep, job));

	k->err = coll_work_refresh(k->claim, &k->trouble);
}

static void keep_done(struct coll_job *job)
{
	struct coll_work_keep *k =
		(struct coll_work_keep *)((char *)job - offsetof(struct coll_work_keep, job));

	k->busy = false;
	if (k->err)
		k->context->count.work_troubles++;
}

int coll_work_keep_init(struct coll_work_keep *k)
{
	k->job = (struct coll_job){ .work = keep_work, .done = keep_done };
	return coll_worker_init(&k->worker, &k->context->loop);
}

void coll_work_keep_begin(struct coll_work_keep *k, int64_t now_ns)
{
	k->kept_ns = now_ns;
}

void coll_work_keep_end(struct coll_work_keep *k)
{
	k->kept_ns = 0;
}

void coll_work_keep_tick(struct coll_work_keep *k, int64_t now_ns)
{
	int64_t lease_ns = (int64_t)k->limits->value[COLL_LIMIT_WORK_LEASE];

	if (!k->kept_ns || k->busy || !lease_ns || now_ns - k->kept_ns < lease_ns / LEASE_PARTS)
		return;
	k->context->count.work_lost += now_ns - k->kept_ns > lease_ns;
	k->kept_ns = now_ns;
	k->busy = true;
	coll_worker_hand(&k->worker, &k->job);
}

void coll_work_keep_fini(struct coll_work_keep *k)
{
	coll_worker_drain(&k->worker);
	coll_worker_fini(&k->worker);
}
