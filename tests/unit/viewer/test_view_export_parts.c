/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of exports that know no format: output, foreign text, lanes, order. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "export/lanes.h"
#include "export/order.h"
#include "export/export_out.h"

static char dir[256];

static const char *in_dir(const char *name)
{
	static char path[400];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static size_t read_back(const char *name, char *text, size_t room)
{
	FILE *f = fopen(in_dir(name), "rb");
	size_t n = f ? fread(text, 1, room - 1, f) : 0;

	text[n] = '\0';
	if (f)
		fclose(f);
	return n;
}

static const char *written(void (*put)(struct view_out *o))
{
	static char text[4096];
	struct view_out o;

	REQUIRE(!view_out_open(&o, in_dir("text"), false));
	put(&o);
	REQUIRE(!view_out_close(&o, true));
	read_back("text", text, sizeof(text));
	return text;
}

static void numbers(struct view_out *o)
{
	view_out_int(o, INT64_MIN);
	view_out_char(o, ' ');
	view_out_int(o, INT64_MAX);
	view_out_char(o, ' ');
	view_out_uint(o, UINT64_MAX);
	view_out_char(o, ' ');
	view_out_int(o, 0);
	view_out_printf(o, " %s-%d", "x", -7);
}

static void test_numbers(void)
{
	EXPECT_STR(written(numbers),
		   "-9223372036854775808 9223372036854775807 18446744073709551615 0 x--7");
}

static void json(struct view_out *o)
{
	static const char nasty[] = "a\"\\\n\t\x7f</script>\xff\xc3\x28\xe2\x82\xac\0z";

	view_out_json(o, nasty, sizeof(nasty) - 1);
}

static void test_json(void)
{
	EXPECT_STR(written(json), "\"a\\\"\\\\\\u000a\\u0009\\u007f</script>\\ufffd\\ufffd("
				  "\xe2\x82\xac\\u0000z\"");
}

static void cells(struct view_out *o)
{
	static const char *const cell[] = { "plain",	  "a,b",     "say \"x\"", "=1+cmd|' /C'!A0",
					    "-12.5",	  "--price", "@sum",	  "+1",
					    "two\nlines", "",	     "\xff" };
	size_t i;

	for (i = 0; i < sizeof(cell) / sizeof(cell[0]); i++) {
		view_out_csv(o, cell[i]);
		view_out_char(o, '|');
	}
}

static void test_csv(void)
{
	EXPECT_STR(written(cells),
		   "plain|\"a,b\"|\"say \"\"x\"\"\"|\"'=1+cmd|' /C'!A0\"|\"'-12.5\"|"
		   "\"'--price\"|\"'@sum\"|\"'+1\"|\"two\nlines\"||\xef\xbf\xbd|");
}

static void test_valid_text(void)
{
	char out[8];

	EXPECT_INT(view_text_valid(out, sizeof(out), "ab\xff", 3), 5);
	EXPECT_STR(out, "ab\xef\xbf\xbd");
	EXPECT_INT(view_text_valid(out, sizeof(out), "abcdef\xe2\x82\xac", 9), 6);
	EXPECT_STR(out, "abcdef");
	EXPECT_INT(view_text_valid(out, sizeof(out), "a\0b", 3), 5);
	EXPECT_INT(view_text_valid(out, 1, "abc", 3), 0);
	EXPECT_STR(out, "");
}

static void test_files_appear_whole(void)
{
	struct view_out o;
	char text[64];
	struct stat st;

	REQUIRE(!view_out_open(&o, in_dir("kept"), false));
	view_out_text(&o, "first");
	EXPECT(stat(in_dir("kept"), &st) && errno == ENOENT);
	REQUIRE(!view_out_close(&o, true));
	read_back("kept", text, sizeof(text));
	EXPECT_STR(text, "first");

	REQUIRE(!view_out_open(&o, in_dir("kept"), false));
	view_out_text(&o, "second");
	REQUIRE(!view_out_close(&o, false));
	read_back("kept", text, sizeof(text));
	EXPECT_STR(text, "first");

	EXPECT_INT(view_out_open(&o, in_dir("no/such"), false), -ENOENT);
	REQUIRE(!view_out_open(&o, "/dev/full", false));
	view_out_text(&o, "x");
	EXPECT_INT(view_out_close(&o, true), -ENOSPC);
}

static void test_large_pieces(void)
{
	size_t n = 3 * VIEW_OUT_BUFFER + 17, i;
	char *big = malloc(n);
	struct view_out o;
	struct stat st;

	REQUIRE(big);
	memset(big, 'x', n);
	REQUIRE(!view_out_open(&o, in_dir("big"), false));
	view_out_text(&o, "a");
	view_out_put(&o, big, n);
	for (i = 0; i < 100000; i++)
		view_out_text(&o, "1234567");
	REQUIRE(!view_out_close(&o, true));
	EXPECT_UINT(o.bytes, 1 + n + 700000);
	REQUIRE(!stat(in_dir("big"), &st));
	EXPECT_INT(st.st_size, 1 + n + 700000);
	free(big);
}

struct slice {
	int64_t start, end;
	int lane;
};

static void check_lanes(const struct slice *s, size_t n, bool nest)
{
	struct view_lanes l = { NULL, 0, 0 };
	size_t i;

	for (i = 0; i < n; i++)
		EXPECT_INT(view_lanes_place(&l, s[i].start, s[i].end, nest), s[i].lane);
	view_lanes_fini(&l);
}

static void test_lanes(void)
{
	static const struct slice nested[] = { { 0, 100, 0 },	{ 10, 50, 0 },	{ 20, 50, 0 },
					       { 50, 60, 0 },	{ 55, 70, 1 },	{ 100, 120, 0 },
					       { 100, 130, 1 }, { 130, 130, 0 } };
	static const struct slice flat[] = {
		{ 0, 100, 0 }, { 10, 50, 1 }, { 50, 60, 1 }, { 55, 70, 2 }, { 100, 100, 0 }
	};

	check_lanes(nested, sizeof(nested) / sizeof(nested[0]), true);
	check_lanes(flat, sizeof(flat) / sizeof(flat[0]), false);
}

/* Whatever comes, slices of a lane nest, and no more lanes are used than there may be. */
static void test_lanes_of_anything(void)
{
	uint64_t random = t_seed(7);
	struct view_lanes l = { NULL, 0, 0 };
	int64_t t = 0;
	int i, lane;

	for (i = 0; i < 20000; i++) {
		t += (int64_t)(t_random(&random) % 3);
		lane = view_lanes_place(&l, t, t + (int64_t)(t_random(&random) % 5000), i % 2);
		EXPECT(lane >= 0 && lane < (int)VIEW_LANES_MAX);
	}
	EXPECT(l.crossed > 0);
	view_lanes_fini(&l);
}

struct taken {
	int64_t last[2];
	uint64_t n, disorder;
	int stop;
};

static int take(void *arg, const struct ana_piece *p)
{
	struct taken *t = arg;

	t->disorder += p->start_ns < t->last[p->gpu];
	t->last[p->gpu] = p->start_ns;
	EXPECT(p->end_ns == p->start_ns + 5 && p->gap && !p->queued);
	EXPECT(p->class == ANA_INPUT_FETCH && p->confidence == ANA_LOW);
	EXPECT(p->gap_start_ns == -1 && p->gap_end_ns == -2 && p->pid == 77 && p->tid == 78);
	t->n++;
	return t->stop ? -EINTR : 0;
}

static int add(struct view_order *o, uint32_t gpu, int64_t start)
{
	struct ana_piece p = { .gpu = gpu,
			       .class = ANA_INPUT_FETCH,
			       .confidence = ANA_LOW,
			       .gap = true,
			       .start_ns = start,
			       .end_ns = start + 5,
			       .gap_start_ns = -1,
			       .gap_end_ns = -2,
			       .pid = 77,
			       .tid = 78 };

	return view_order_add(o, &p);
}

static void test_order(void)
{
	struct taken t = { .last = { INT64_MIN, INT64_MIN } };
	uint64_t random = t_seed(7), i;
	struct view_order o;

	REQUIRE(!view_order_init(&o, 2, take, &t));
	for (i = 0; i < 600000; i++)
		EXPECT_INT(add(&o, i % 2, (int64_t)(i * 10 + t_random(&random) % 100000)), 0);
	EXPECT_INT(view_order_finish(&o), 0);
	EXPECT_UINT(t.n, 600000);
	EXPECT_UINT(t.disorder, 0);
	EXPECT_UINT(o.late, 0);
	view_order_fini(&o);
}

static void test_late_pieces(void)
{
	struct taken t = { .last = { INT64_MIN, INT64_MIN } };
	struct view_order o;
	int64_t i;

	REQUIRE(!view_order_init(&o, 1024, take, &t)); /* room for 4096 each */
	for (i = 0; i < 10000; i++)
		EXPECT_INT(add(&o, 1, 1000 + i), 0);
	EXPECT_INT(add(&o, 1, 1), 0);
	EXPECT_INT(add(&o, 4000, 1), 0); /* no such GPU */
	t.stop = 1;
	EXPECT_INT(view_order_finish(&o), -EINTR);
	t.stop = 0;
	EXPECT_INT(view_order_finish(&o), 0);
	EXPECT_UINT(t.n, 10001);
	EXPECT_UINT(o.late, 1);
	view_order_fini(&o);
}

int main(void)
{
	char cmd[300];
	int failed;

	t_tempdir(dir, sizeof(dir));
	failed = RUN(test_numbers, test_json, test_csv, test_valid_text, test_files_appear_whole,
		     test_large_pieces, test_lanes, test_lanes_of_anything, test_order,
		     test_late_pieces);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	REQUIRE(!system(cmd));
	return failed;
}
