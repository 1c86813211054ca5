/* SPDX-License-Identifier: Apache-2.0 */
/* The vectors of RFC 4648, and bytes above 127. */
#include "base/base64.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

static void expect(const char *bytes, size_t len, const char *wanted)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	REQUIRE(f);
	base_put_base64(f, bytes, len);
	REQUIRE(!fclose(f));
	EXPECT_STR(text, wanted);
	free(text);
}

static void test_base64(void)
{
	expect("", 0, "");
	expect("f", 1, "Zg==");
	expect("fo", 2, "Zm8=");
	expect("foo", 3, "Zm9v");
	expect("foob", 4, "Zm9vYg==");
	expect("fooba", 5, "Zm9vYmE=");
	expect("foobar", 6, "Zm9vYmFy");
	expect("\0\0\0", 3, "AAAA");
	expect("\xfb\xff\xbf\xfe", 4, "+/+//g==");
}

int main(void)
{
	return RUN(test_base64);
}
