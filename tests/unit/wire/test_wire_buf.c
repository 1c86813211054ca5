/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The byte buffer: growth, the cap, nothing changed by an error.
 */
#include "harness.h"

#include <errno.h>
#include "wire/buf.h"

static void test_grow(void)
{
	struct wire_buf b = { 0 };
	int i;

	EXPECT_INT(wire_buf_append(&b, NULL, 0), 0);
	for (i = 0; i < 5000; i++)
		EXPECT_INT(wire_buf_append(&b, &i, sizeof(i)), 0);
	EXPECT_UINT(b.len, 20000);
	EXPECT(b.room < 80000);
	for (i = 0; i < 5000; i++)
		EXPECT_MEM(b.data + (size_t)i * sizeof(i), &i, sizeof(i));
	EXPECT_INT(wire_buf_reserve(&b, SIZE_MAX), -ENOMEM);
	EXPECT_INT(wire_buf_reserve(&b, PTRDIFF_MAX), -ENOMEM);
	EXPECT_UINT(b.len, 20000);
	wire_buf_fini(&b);
	EXPECT(!b.data && !b.len && !b.room);
	wire_buf_fini(NULL);
}

static void test_cap(void)
{
	struct wire_buf b = { .cap = 1000 };
	char bytes[1001] = { 0 };

	EXPECT_INT(wire_buf_append(&b, bytes, 1001), -ENOSPC);
	EXPECT_INT(wire_buf_append(&b, bytes, 600), 0);
	EXPECT_INT(wire_buf_append(&b, bytes, 401), -ENOSPC);
	EXPECT_INT(wire_buf_append(&b, bytes, 400), 0);
	EXPECT_UINT(b.len, 1000);
	EXPECT_UINT(b.room, 1000);
	wire_buf_fini(&b);
}

int main(void)
{
	return RUN(test_grow, test_cap);
}
