/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hash is the published one: names of files and fingerprints that others keep are made of it.
 */
#include "base/hash.h"
#include "base/minmax.h"
#include "harness.h"

static void test_known(void)
{
	EXPECT(base_hash_text(BASE_HASH, "") == UINT64_C(0xcbf29ce484222325));
	EXPECT(base_hash_text(BASE_HASH, "a") == UINT64_C(0xaf63dc4c8601ec8c));
	EXPECT(base_hash_text(BASE_HASH, "foobar") == UINT64_C(0x85944171f73967e8));
	EXPECT(base_hash(base_hash_text(BASE_HASH, "foo"), "bar", 3) ==
	       base_hash(BASE_HASH, "foobar", 6));
}

static void test_min_max(void)
{
	EXPECT(base_min(-1, 2) == -1 && base_max(-1, 2) == 2 && base_min(3, 3) == 3);
	EXPECT(base_clamp(5, 1, 3) == 3 && base_clamp(0, 1, 3) == 1 && base_clamp(2, 1, 3) == 2);
}

int main(void)
{
	return RUN(test_known, test_min_max);
}
