/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop, the children, and trouble with storing.
 */
#include "context.h"

#include <errno.h>
#include <string.h>
#include "clock.h"
#include "log.h"

#define LOG_EVERY_NS (60 * COLL_SECOND_NS)
#define LOST_NS (3600 * COLL_SECOND_NS)

int coll_context_init(struct coll_context *c)
{
	int err;

	memset(c, 0, sizeof(*c));
	c->loop.fd = -1;
	err = coll_loop_init(&c->loop);
	if (!err)
		coll_children_init(&c->children, &c->loop);
	return err ? err : coll_worker_init(&c->worker, &c->loop);
}

void coll_context_fini(struct coll_context *c)
{
	coll_worker_fini(&c->worker);
	coll_children_fini(&c->children);
	coll_loop_fini(&c->loop);
}

/* What is wrong with one stream, or who sends it has used up what is his: others are stored. */
static bool is_of_one(int err)
{
	return err == -EBUSY || err == -EUSERS || err == -EFBIG || err == -EINVAL || err == -ELOOP;
}

static void one_in_trouble(struct coll_context *c, const char *path, int err)
{
	if (coll_log_due(&c->one_logged_ns, LOG_EVERY_NS))
		coll_log("cannot store %s: %s; others are stored", path, strerror(-err));
}

void coll_context_trouble(struct coll_context *c, const char *path, int err)
{
	int64_t now = coll_now_ns();

	c->count.store_errors++;
	if (is_of_one(err)) {
		one_in_trouble(c, path, err);
		return;
	}
	if (c->trouble == err && now - c->trouble_logged_ns < LOG_EVERY_NS)
		return;
	c->trouble = err;
	c->trouble_logged_ns = now;
	coll_log("cannot store %s: %s; clients write spool files of their own until it can", path,
		 strerror(-err));
}

bool coll_context_disk_hangs(const struct coll_context *c)
{
	return coll_worker_waits_ns(&c->worker, coll_now_ns()) > COLL_DISK_HANGS_NS;
}

void coll_context_tick(struct coll_context *c, int64_t now_ns)
{
	int64_t waits_ns = coll_worker_waits_ns(&c->worker, now_ns);

	if (waits_ns <= COLL_DISK_HANGS_NS ||
	    (c->hangs_logged_ns && now_ns - c->hangs_logged_ns < LOG_EVERY_NS))
		return;
	c->hangs_logged_ns = now_ns;
	coll_log("the disk has not answered for %lld s; nothing is acknowledged until it has",
		 (long long)(waits_ns / COLL_SECOND_NS));
}

bool coll_context_in_trouble(const struct coll_context *c)
{
	return c->trouble_logged_ns && coll_now_ns() - c->trouble_logged_ns < LOG_EVERY_NS;
}

void coll_context_lost(struct coll_context *c)
{
	c->lost_ns = coll_now_ns();
}

bool coll_context_has_lost(const struct coll_context *c)
{
	return c->lost_ns && coll_now_ns() - c->lost_ns < LOST_NS;
}
