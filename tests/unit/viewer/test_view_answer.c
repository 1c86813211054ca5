/* SPDX-License-Identifier: Apache-2.0 */
/* An answer in memory and in a file reads the same, up to the limit, wherever it is cut. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "core/answer.h"
#include "harness.h"

static char said[100000];

static void make_said(void)
{
	for (size_t i = 0; i < sizeof(said); i++)
		said[i] = (char)('a' + i % 23);
}

static int add_in_pieces(struct view_answer *a, size_t piece)
{
	int err = 0;

	for (size_t at = 0; at < sizeof(said) && !err; at += piece) {
		size_t left = sizeof(said) - at;
		err = view_answer_add(a, said + at, left < piece ? left : piece);
	}
	return err;
}

static void expect_whole(size_t in_memory, size_t piece)
{
	struct view_answer a = { .most = sizeof(said), .in_memory = in_memory };

	EXPECT_INT(add_in_pieces(&a, piece), 0);
	EXPECT_INT(view_answer_add(&a, "x", 1), -EFBIG);
	REQUIRE(!view_answer_end(&a));
	EXPECT(a.filed == (in_memory && in_memory < sizeof(said)));
	EXPECT(a.len == sizeof(said) && !memcmp(a.text, said, a.len) && !a.text[a.len]);
	a.text[7] = '\0';
	EXPECT_INT(strlen(a.text), 7);
	view_answer_free(&a);
	EXPECT(!a.text && !a.len);
}

static void test_same(void)
{
	static const size_t sizes[] = { 0, 1, 4095, 4096, sizeof(said) - 1, sizeof(said) };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		expect_whole(sizes[i], 1000);
		expect_whole(sizes[i], 4096);
		expect_whole(sizes[i], sizeof(said));
	}
}

/* A multiple of pages: the NUL behind it lies on one of its own. */
static void test_pages(void)
{
	struct view_answer a = { .most = 1 << 20, .in_memory = 10 };

	EXPECT_INT(view_answer_add(&a, said, 65536), 0);
	REQUIRE(!view_answer_end(&a));
	EXPECT_INT(strlen(a.text), 65536);
	view_answer_free(&a);
}

static void test_no_folder(void)
{
	struct view_answer a = { .most = 1 << 20, .in_memory = 10 };

	setenv("TMPDIR", "/proc/self/no", 1);
	EXPECT_INT(view_answer_add(&a, said, 10), 0);
	EXPECT_INT(view_answer_add(&a, said, 1), -ENOENT);
	view_answer_free(&a);
	unsetenv("TMPDIR");
}

int main(void)
{
	make_said();
	return RUN(test_same, test_pages, test_no_folder);
}
