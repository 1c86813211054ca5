/* SPDX-License-Identifier: Apache-2.0 */
/* Who has to go where too many are connected that nobody knows. */
#include "harness.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include "serve/strangers.h"

static struct coll_strangers all;
static struct coll_stranger crowd[3 * COLL_STRANGERS_MAX], other;

static struct coll_stranger *come(struct coll_stranger *s, const char *address)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in v4 = { .sin_family = AF_INET };

	if (inet_pton(AF_INET, address, &v4.sin_addr) == 1)
		return coll_strangers_add(&all, s, (struct sockaddr *)&v4);
	REQUIRE(inet_pton(AF_INET6, address, &v6.sin6_addr) == 1);
	return coll_strangers_add(&all, s, (struct sockaddr *)&v6);
}

static void begin(void)
{
	memset(&all, 0, sizeof(all));
	memset(crowd, 0, sizeof(crowd));
	memset(&other, 0, sizeof(other));
}

/* The crowd's own oldest goes, one for one; the oldest of all, of another address, stays. */
static void test_crowd(void)
{
	size_t i, gone = 0;

	begin();
	EXPECT(!come(&other, "10.0.0.1"));
	for (i = 0; i < 3 * COLL_STRANGERS_MAX; i++) {
		struct coll_stranger *out = come(&crowd[i], "10.0.0.2");

		EXPECT(!out || out == &crowd[gone]);
		gone += out != NULL;
	}
	EXPECT_UINT(gone, 2 * COLL_STRANGERS_MAX + 1);
	EXPECT_UINT(all.count, COLL_STRANGERS_MAX);
	EXPECT(other.here);
	coll_strangers_remove(&all, &crowd[0]); /* that is none any more */
	EXPECT_UINT(all.count, COLL_STRANGERS_MAX);
}

/* Who authenticates makes room, and is never asked to go. */
static void test_known(void)
{
	size_t i;

	begin();
	for (i = 0; i < COLL_STRANGERS_MAX; i++)
		EXPECT(!come(&crowd[i], "10.0.0.2"));
	coll_strangers_remove(&all, &crowd[0]);
	coll_strangers_remove(&all, &crowd[7]);
	coll_strangers_remove(&all, &crowd[COLL_STRANGERS_MAX - 1]);
	for (; i < COLL_STRANGERS_MAX + 3; i++)
		EXPECT(!come(&crowd[i], "10.0.0.2"));
	EXPECT(come(&crowd[i], "10.0.0.2") == &crowd[1]);
	while (all.oldest)
		coll_strangers_remove(&all, all.oldest);
	EXPECT_UINT(all.count, 0);
	EXPECT(!all.newest);
}

/* One network of IPv6 is one, whatever addresses it makes up. */
static void test_networks(void)
{
	char address[64];
	size_t i;

	begin();
	EXPECT(!come(&other, "2001:db8:0:1::7"));
	for (i = 0; i < 2 * COLL_STRANGERS_MAX; i++) {
		snprintf(address, sizeof(address), "2001:db8:0:2::%zx", i);
		EXPECT(come(&crowd[i], address) != &other);
	}
	EXPECT(other.here);
	EXPECT(coll_strangers_add(&all, &crowd[i], NULL) != &other);
}

int main(void)
{
	return RUN(test_crowd, test_known, test_networks);
}
