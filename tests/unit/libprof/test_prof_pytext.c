/* SPDX-License-Identifier: Apache-2.0 */
/* Python's strings, and what is none: a thread beside us may be writing it. */
#include <errno.h>
#include "harness.h"
#include "python/pytext.h"

#define DATA 40 /* of an ASCII string */
#define COMPACT (1u << 5)
#define ASCII (1u << 6)

static struct {
	uint8_t bytes[DATA + 600];
} object;
static const struct prof_pylayout layout = { .ascii = DATA, .compact = DATA };

static void make(uint32_t state, uint32_t width, int64_t length, uint8_t fill)
{
	memset(&object, fill, sizeof(object));
	state |= COMPACT | width << 2;
	memcpy(object.bytes + 16, &length, sizeof(length));
	memcpy(object.bytes + 32, &state, sizeof(state));
}

/* Into room for @room bytes, with more behind it that has to stay. */
static ssize_t text_in(char *to, size_t room, bool tail)
{
	struct prof_pymem m;
	ssize_t n;
	size_t left = 0;

	memset(to, '#', 2 * room);
	REQUIRE(!prof_pymem_open(&m, 0, PROF_PYMEM_VM));
	n = prof_pytext(&m, &layout, (uint64_t)(uintptr_t)&object, tail, to, room);
	prof_pymem_close(&m);
	for (size_t i = room; i < 2 * room; i++)
		left += to[i] == '#';
	EXPECT_UINT(left, room);
	return n;
}

static void test_ascii(void)
{
	char to[320];

	make(ASCII, 1, 5, 'a');
	EXPECT_INT(text_in(to, 160, false), 5);
	EXPECT_STR(to, "aaaaa");
	make(ASCII, 1, 500, 'a');
	EXPECT_INT(text_in(to, 160, false), 159);
	EXPECT_INT(text_in(to, 160, true), 159);
	EXPECT_MEM(to, "...aaa", 6);
}

static void test_latin(void)
{
	char to[320];

	make(0, 1, 500, 0xe9);
	EXPECT_INT(text_in(to, 160, false), 159);
}

/* It says that it is ASCII, and each of its bytes would be two. */
static void test_torn(void)
{
	char to[320];

	make(ASCII, 1, 500, 0xe9);
	EXPECT_INT(text_in(to, 160, false), -EINVAL);
	EXPECT_INT(text_in(to, 160, true), -EINVAL);
	make(ASCII, 1, 3, 'a');
	object.bytes[DATA + 2] = 0x80;
	EXPECT_INT(text_in(to, 160, false), -EINVAL);
}

int main(void)
{
	return RUN(test_ascii, test_latin, test_torn);
}
