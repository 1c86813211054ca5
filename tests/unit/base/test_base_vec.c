/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays grow, keep what is in them, and stay as they are where they cannot. */
#include "base/vec.h"
#include "harness.h"

#include <stdint.h>

struct list {
	int64_t *v;
	uint32_t used, room;
};

static void test_grows(void)
{
	struct list l = { 0 };

	for (int64_t i = 0; i < 1000; i++) {
		REQUIRE(base_vec_more(l.v, l.used, l.room));
		l.v[l.used++] = i;
	}
	EXPECT_UINT(l.room, 1024);
	for (int64_t i = 0; i < 1000; i++)
		REQUIRE(l.v[i] == i);
	free(l.v);
}

static void test_stays(void)
{
	int64_t *v = malloc(sizeof(*v)), *was = v;
	uint8_t used = 128, room = 128; /* twice of it is no number of its type */

	EXPECT(!base_vec_more(v, used, room));
	EXPECT(v == was && room == 128);
	used = 127;
	EXPECT(base_vec_more(v, used, room));
	EXPECT(v == was);
	free(v);
}

int main(void)
{
	return RUN(test_grows, test_stays);
}
