/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of full recording that are drawn once more: those that lie elsewhere are found. */
#include "cmd/verify_windows.h"

#include <stdlib.h>

#include "harness.h"
#include "wire/windows.h"

#define SECOND 1000000000ll
#define SINCE (1700000000 * SECOND)
#define SEED 0x123456789abcdef0u

static struct view_full_window row[8];
static size_t rows;

static int64_t drawn(int64_t stratum)
{
	return SINCE + stratum * WIRE_WINDOW_STRATUM_NS + wire_window_draw(SEED, stratum);
}

/* What the pulse @after_ns after the window's begin says of it. */
static struct view_full_window *say(uint32_t number, int64_t begin_ns, int64_t after_ns, bool full)
{
	row[rows] = (struct view_full_window){ .seed = SEED,
					       .since_ns = SINCE,
					       .begin_ns = begin_ns,
					       .told_ns = begin_ns + after_ns,
					       .number = number,
					       .full = full };
	return &row[rows++];
}

static struct view_windows_checked check(void)
{
	struct view_windows_checked c = { 0 };
	struct view_stream s = { .window = row, .windows = rows };
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	view_verify_windows(&c, &s, f);
	fclose(f);
	EXPECT(!c.wrong == !len);
	free(text);
	return c;
}

static size_t wrong(void)
{
	return check().wrong;
}

/* None yet, one, and after a pause another. */
static void as_drawn(void)
{
	rows = 0;
	say(0, 0, 0, false)->told_ns = SINCE;
	say(1, drawn(2) + SECOND / 3, SECOND / 2, true);
	say(1, drawn(2) + SECOND / 3, 3 * SECOND / 2, false);
	say(2, drawn(5), SECOND / 2, true);
	say(2, drawn(5), 3 * SECOND / 2, false);
}

static void test_as_drawn(void)
{
	struct view_windows_checked c;

	as_drawn();
	c = check();
	EXPECT_UINT(c.windows, 2);
	EXPECT_UINT(c.wrong, 0);
	rows = 0;
	EXPECT_UINT(wrong(), 0);
	as_drawn(); /* the first pulse went before anybody looked for a window */
	row[0].since_ns = 0;
	EXPECT_UINT(wrong(), 0);
	as_drawn(); /* once begun it stays */
	row[2].since_ns = 0;
	EXPECT_UINT(wrong(), 2);
}

static void test_elsewhere(void)
{
	size_t i;

	as_drawn(); /* before its moment, and too late */
	row[1].begin_ns = row[2].begin_ns = drawn(2) - 1;
	EXPECT_UINT(wrong(), 1);
	as_drawn();
	row[1].begin_ns = row[2].begin_ns = drawn(2) + WIRE_WINDOW_LATE_NS;
	row[1].told_ns += SECOND;
	EXPECT_UINT(wrong(), 1);
	as_drawn(); /* another seed, from the first pulse on, and on the way */
	for (i = 0; i < rows; i++)
		row[i].seed++;
	EXPECT_UINT(wrong(), 2);
	as_drawn();
	row[3].seed++;
	row[4].seed++;
	EXPECT_UINT(wrong(), 1);
	as_drawn(); /* before the first stratum */
	for (i = 0; i < rows; i++)
		row[i].since_ns = drawn(3);
	EXPECT(wrong() >= 1);
	as_drawn(); /* two in one stratum */
	row[3].begin_ns = row[4].begin_ns = row[1].begin_ns + 1;
	EXPECT(wrong() >= 1);
}

/* Kernels that come where nothing was drawn; with a step up, or switched off late, they may. */
static void test_full_elsewhere(void)
{
	as_drawn();
	row[1].told_ns += 20 * SECOND;
	EXPECT_UINT(wrong(), 1);
	as_drawn();
	row[0].stepped = true;
	row[1].told_ns += 20 * SECOND;
	EXPECT_UINT(wrong(), 0);
	as_drawn();
	row[2].told_ns += 20 * SECOND;
	EXPECT_UINT(wrong(), 0);
	as_drawn();
	row[0].full = false;
	row[1].number = 0;
	row[1].begin_ns = 0;
	EXPECT_UINT(wrong(), 1);
}

static void test_hostile(void)
{
	static const int64_t times[] = { INT64_MIN, -1, 0, 1, INT64_MAX };
	int i;

	for (i = 0; i < 5 * 5 * 5 * 4; i++) {
		rows = 0;
		say((uint32_t)i & 1, times[i / 4 % 5], 0, false);
		say(1, times[i / 4 % 5], 0, i & 2);
		row[1].since_ns = row[0].since_ns = times[i / 20 % 5];
		row[1].told_ns = times[i / 100];
		EXPECT(wrong() <= 2);
	}
}

int main(void)
{
	return RUN(test_as_drawn, test_elsewhere, test_full_elsewhere, test_hostile);
}
