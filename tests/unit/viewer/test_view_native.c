/* SPDX-License-Identifier: Apache-2.0 */
/* Names of native frames are not in the trace: what verify does when only one side has them. */
#include "findings/native.h"

#include "harness.h"

#define FRAME "/lib/libjpeg.so\t1a2b\tdead"

static const char *kept(const char *made, const char *stored, const char *stored_frame)
{
	struct view_finding a = { .where = { .native = FRAME, .symbol = made } };
	struct view_finding b = { .where = { .native = stored_frame, .symbol = stored } };
	struct view_summary s = { .finding = &a, .findings = 1 };
	struct view_summary old = { .finding = &b, .findings = 1 };

	view_native_keep(&s, &old);
	return a.where.symbol;
}

static void test_keep(void)
{
	EXPECT_STR(kept(NULL, "jpeg_idct", FRAME), "jpeg_idct"); /* the library is gone */
	EXPECT(!kept("jpeg_idct", NULL, FRAME)); /* the report was made elsewhere */
	EXPECT_STR(kept("jpeg_idct", "jpeg_fdct", FRAME), "jpeg_idct"); /* a difference */
	EXPECT_STR(kept("jpeg_idct", NULL, "other\t1\t"), "jpeg_idct");
	EXPECT(!kept(NULL, "jpeg_idct", NULL));
}

int main(void)
{
	return RUN(test_keep);
}
