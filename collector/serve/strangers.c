/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list by age, and counts by address.
 */
#include "strangers.h"

#include <netinet/in.h>
#include <sys/random.h>
#include "base/hash.h"
#include "core/clock.h"

#define V6_NETWORK_BYTES 8

static unsigned int bucket_of(struct coll_strangers *all, const struct sockaddr *from)
{
	uint64_t h;

	if (!all->seed && getrandom(&all->seed, sizeof(all->seed), GRND_NONBLOCK) < 0)
		all->seed = (uint64_t)coll_now_ns();
	all->seed |= 1;
	h = all->seed;
	if (from && from->sa_family == AF_INET)
		h = base_hash(h, &((const struct sockaddr_in *)from)->sin_addr,
			      sizeof(struct in_addr));
	else if (from && from->sa_family == AF_INET6)
		h = base_hash(h, &((const struct sockaddr_in6 *)from)->sin6_addr, V6_NETWORK_BYTES);
	return (unsigned int)((h ^ h >> 32) % COLL_STRANGERS_BUCKETS);
}

void coll_strangers_remove(struct coll_strangers *all, struct coll_stranger *s)
{
	if (!s->here)
		return;
	*(s->older ? &s->older->newer : &all->oldest) = s->newer;
	*(s->newer ? &s->newer->older : &all->newest) = s->older;
	all->of[s->bucket]--;
	all->count--;
	*s = (struct coll_stranger){ .here = 0 };
}

static struct coll_stranger *displace(struct coll_strangers *all)
{
	unsigned int most = 0, i;
	struct coll_stranger *s;

	for (i = 1; i < COLL_STRANGERS_BUCKETS; i++)
		if (all->of[i] > all->of[most])
			most = i;
	for (s = all->oldest; s && s->bucket != most; s = s->newer)
		;
	if (s)
		coll_strangers_remove(all, s);
	return s;
}

struct coll_stranger *coll_strangers_add(struct coll_strangers *all, struct coll_stranger *s,
					 const struct sockaddr *from)
{
	*s = (struct coll_stranger){ .older = all->newest,
				     .bucket = bucket_of(all, from),
				     .here = 1 };
	*(all->newest ? &all->newest->newer : &all->oldest) = s;
	all->newest = s;
	all->of[s->bucket]++;
	return ++all->count > COLL_STRANGERS_MAX ? displace(all) : NULL;
}
