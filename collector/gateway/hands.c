/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Some workers.
 */
#include "hands.h"

int coll_hands_init(struct coll_hands *h, struct coll_loop *loop)
{
	int err = 0;

	for (h->ready = 0; !err && h->ready < COLL_HANDS; h->ready++)
		err = coll_worker_init(&h->worker[h->ready], loop);
	return err;
}

void coll_hands_fini(struct coll_hands *h)
{
	while (h->ready)
		coll_worker_fini(&h->worker[--h->ready]);
}

void coll_hands_give(struct coll_hands *h, struct coll_job *job)
{
	struct coll_worker *least = &h->worker[0];

	for (size_t i = 1; i < h->ready && least->out; i++)
		if (h->worker[i].out < least->out)
			least = &h->worker[i];
	coll_worker_hand(least, job);
}

void coll_hands_give_keyed(struct coll_hands *h, struct coll_job *job, uint64_t key)
{
	coll_worker_hand(&h->worker[key % h->ready], job);
}

size_t coll_hands_out(const struct coll_hands *h)
{
	size_t out = 0;

	for (size_t i = 0; i < h->ready; i++)
		out += h->worker[i].out;
	return out;
}
