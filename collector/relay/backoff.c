/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits that double.
 */
#include "backoff.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/counters.h"
#include "core/log.h"

#define NS_PER_MS 1000000LL
#define STRANGE "something that is not a gpustarve collector answers there"

void coll_backoff_init(struct coll_backoff *p, const char *to, struct coll_counters *count)
{
	*p = (struct coll_backoff){ .to = to, .count = count, .wait_ms = COLL_BACKOFF_FIRST_MS };
	p->seed = ((uint64_t)coll_clock_ns(CLOCK_REALTIME) ^ (uint64_t)getpid() << 32) | 1;
	p->next_ns = coll_now_ns();
}

/* xorshift: spreads nodes that failed together. */
static uint64_t random_below(struct coll_backoff *p, uint64_t below)
{
	p->seed ^= p->seed << 13;
	p->seed ^= p->seed >> 7;
	p->seed ^= p->seed << 17;
	return p->seed % below;
}

static void log_failure(struct coll_backoff *p, const char *why, long status)
{
	int64_t now = coll_now_ns();

	if (p->failing && now - p->logged_ns < 60 * COLL_SECOND_NS)
		return;
	p->logged_ns = now;
	if (status)
		coll_log("%s answers %ld: %s; traces stay here until it takes them", p->to, status,
			 why);
	else
		coll_log("cannot reach %s: %s; traces stay here until it is back", p->to, why);
}

void coll_backoff_failed(struct coll_backoff *p, const struct coll_answer *a)
{
	char text[160];
	int64_t wait = p->wait_ms / 2 + (int64_t)random_below(p, (uint64_t)p->wait_ms / 2 + 1);
	int64_t asked = a->retry_after_s;

	snprintf(text, sizeof(text), "%s", a->trouble ? a->trouble : (const char *)a->bytes);
	text[strcspn(text, "\r\n")] = '\0';
	log_failure(p, text, a->trouble ? 0 : a->status);
	p->failing = true;
	p->count->up_failed++;
	if (asked > COLL_BACKOFF_RETRY_AFTER_MAX_S)
		asked = COLL_BACKOFF_RETRY_AFTER_MAX_S;
	if (asked * 1000 > wait)
		wait = asked * 1000;
	p->next_ns = coll_now_ns() + wait * NS_PER_MS;
	p->wait_ms *= 2;
	if (p->wait_ms > COLL_BACKOFF_LAST_MS)
		p->wait_ms = COLL_BACKOFF_LAST_MS;
}

void coll_backoff_failed_strangely(struct coll_backoff *p, const struct coll_answer *a)
{
	struct coll_answer strange = *a;

	strange.trouble = STRANGE;
	coll_backoff_failed(p, &strange);
}

void coll_backoff_succeeded(struct coll_backoff *p)
{
	if (p->failing)
		coll_log("%s takes traces again", p->to);
	p->failing = false;
	p->ok_ns = coll_now_ns();
	p->wait_ms = COLL_BACKOFF_FIRST_MS;
	p->next_ns = 0;
	p->count->up_requests++;
}

void coll_out_hold_longer(struct coll_out_hold *h)
{
	int64_t s = h->times < 6 ? INT64_C(1) << h->times++ : COLL_BACKOFF_HOLD_MAX_S;

	h->until_ns = coll_now_ns() + s * COLL_SECOND_NS;
}

void coll_out_hold_end(struct coll_out_hold *h)
{
	*h = (struct coll_out_hold){ .times = 0 };
}

bool coll_out_is_held(const struct coll_out_hold *h)
{
	return h->until_ns && coll_now_ns() < h->until_ns;
}
