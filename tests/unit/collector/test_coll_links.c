/* SPDX-License-Identifier: Apache-2.0 */
/* Streams found by their number among many runs, and what costs no search. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/clock.h"
#include "serve/team.h"
#include "store/store.h"

#define RUNS 500

static char base[200];
static struct coll_counters count;
static const uint8_t id[WIRE_STREAM_ID_BYTES] = { 0xab, 1 }, other[WIRE_STREAM_ID_BYTES] = { 2 };

/* The library's, put in its place: runs that are looked into are counted. */
static unsigned int looks;

int faccessat(int dir, const char *path, int mode, int flags)
{
	struct stat st;

	(void)mode;
	looks++;
	return (int)syscall(SYS_newfstatat, dir, path, &st, flags);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void end(struct coll_store *st)
{
	coll_store_fini(st);
	nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void start(struct coll_store *st, bool links)
{
	REQUIRE(!coll_store_init(st, base, &count));
	if (links)
		coll_store_keep_links(st);
	looks = 0;
}

static struct coll_stream *new_stream(struct coll_store *st, const uint8_t *which, const char *run)
{
	struct wire_frame f = { .version = 1, .type = WIRE_FRAME_PULSE, .seq = 1 };
	struct wire_buf b = { 0 };
	struct coll_hello hello = { .pid = 1 };
	struct coll_stream *s;

	snprintf(hello.run, sizeof(hello.run), "%s", run);
	REQUIRE(!coll_store_open(st, which, &hello, &s));
	memcpy(f.stream, which, sizeof(f.stream));
	REQUIRE(!wire_frame_append(&b, &f, NULL, 0, "", 0));
	REQUIRE(!coll_stream_append(s, b.data, b.len));
	coll_seq_set_add(&s->seqs, 1);
	REQUIRE(!coll_stream_commit(st, s));
	wire_buf_fini(&b);
	return s;
}

static void make_runs(void)
{
	char path[300];

	for (int i = 0; i < RUNS; i++) {
		snprintf(path, sizeof(path), "%s/many-%d.gst", base, i);
		REQUIRE(!mkdir(path, 0777));
	}
}

/* After a restart a stream is found, and another is not, without looking through the runs. */
static void test_found_at_once(void)
{
	struct coll_stream *s;
	struct coll_store st;

	t_tempdir(base, sizeof(base));
	start(&st, true);
	new_stream(&st, id, "one");
	coll_store_fini(&st);
	make_runs();
	start(&st, true);
	REQUIRE(!coll_store_find(&st, id, &s));
	EXPECT_UINT(s->acked, 1);
	EXPECT_INT(coll_store_find(&st, other, &s), -ENOENT);
	EXPECT(looks < 10);
	end(&st);
}

/* A store of before has none: it is looked through once a second, until a sweep has made them. */
static void test_store_of_before(void)
{
	struct coll_stream *s;
	struct coll_store st;

	t_tempdir(base, sizeof(base));
	start(&st, false);
	new_stream(&st, id, "one");
	new_stream(&st, other, "two");
	coll_store_fini(&st);
	make_runs();
	start(&st, true);
	EXPECT_INT(coll_store_find(&st, (const uint8_t *)"0123456789abcdef", &s), -ENOENT);
	EXPECT(looks > RUNS);
	EXPECT_INT(coll_store_find(&st, id, &s), -EAGAIN);
	st.links.searched_ns -= 2 * COLL_SECOND_NS;
	REQUIRE(!coll_store_find(&st, id, &s));
	coll_stream_links_clean(st.base_fd, coll_clock_ns(CLOCK_REALTIME));
	looks = 0;
	REQUIRE(!coll_store_find(&st, other, &s));
	EXPECT_INT(coll_store_find(&st, (const uint8_t *)"0123456789abcdef", &s), -ENOENT);
	EXPECT(looks < 10);
	end(&st);
}

static bool is_linked(const uint8_t *which)
{
	char path[300], hex[COLL_HEX_BYTES];
	struct stat st;

	coll_hex_of(hex, which);
	snprintf(path, sizeof(path), "%s/" COLL_STREAM_LINKS "/%s", base, hex);
	return !lstat(path, &st);
}

/* They last as long as streams that go on; what a run that was removed has left is cleaned. */
static void test_cleaned(void)
{
	char path[300];
	struct coll_stream *s;
	struct coll_store st;

	t_tempdir(base, sizeof(base));
	start(&st, true);
	s = new_stream(&st, id, "one");
	new_stream(&st, other, "two");
	EXPECT(is_linked(id) && is_linked(other));
	s->bye = true;
	coll_store_close(&st, s);
	EXPECT(!is_linked(id) && is_linked(other));
	coll_store_close(&st, coll_store_get(&st, other));
	EXPECT(is_linked(other));
	coll_stream_links_clean(st.base_fd, 0);
	EXPECT(is_linked(other));
	snprintf(path, sizeof(path), "%s/two.gst", base);
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	EXPECT_INT(coll_store_find(&st, other, &s), -ENOENT);
	coll_stream_links_clean(st.base_fd, 0);
	EXPECT(!is_linked(other));
	end(&st);
}

/* Names that lead elsewhere are none. */
static void test_hostile(void)
{
	static const char *const bad[] = { "../../etc", "/etc/one.gst", ".x.gst", "one",
					   "a/b.gst" };
	char path[300], hex[COLL_HEX_BYTES];
	struct coll_stream *s;
	struct coll_store st;

	t_tempdir(base, sizeof(base));
	start(&st, true);
	coll_hex_of(hex, id);
	snprintf(path, sizeof(path), "%s/" COLL_STREAM_LINKS "/%s", base, hex);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		REQUIRE(!symlink(bad[i], path));
		EXPECT_INT(coll_store_find(&st, id, &s), -ENOENT);
		REQUIRE(!unlink(path));
	}
	new_stream(&st, id, "one");
	EXPECT(is_linked(id));
	end(&st);
}

/*
 * A store of before: what is read of long streams in a second has a bound, and all of them open in
 * the end.
 */
static void test_reading_is_bounded(void)
{
	const struct coll_hello hello = { .run = "one" };
	struct coll_stream *s;
	struct coll_store st;
	char path[400];

	t_tempdir(base, sizeof(base));
	start(&st, true);
	s = new_stream(&st, id, "one");
	snprintf(path, sizeof(path), "%s", s->path);
	new_stream(&st, other, "one");
	coll_store_fini(&st);
	REQUIRE(!truncate(path, 300 << 20)); /* a hole behind it */
	start(&st, true);
	REQUIRE(!coll_store_open(&st, id, &hello, &s));
	st.read_ns = coll_now_ns();
	EXPECT_INT(coll_store_open(&st, other, &hello, &s), -EAGAIN);
	EXPECT(!coll_store_get(&st, other));
	st.read_ns -= 2 * COLL_SECOND_NS;
	EXPECT_INT(coll_store_open(&st, other, &hello, &s), 0);
	end(&st);
}

/* What could not be heard of, for nobody listened, is not idle. */
static void test_away(void)
{
	struct coll_teams teams = { .base = base };
	struct coll_team *team;
	struct coll_store st;
	struct coll_stream *s;

	t_tempdir(base, sizeof(base));
	start(&st, true);
	team = coll_team_sharing(&teams, &st);
	REQUIRE(team);
	s = new_stream(&st, id, "one");
	REQUIRE(!coll_feeder_adopt(&team->feeder, s));
	s->fed->heard_ns = 100;
	coll_team_was_away(team, 1000);
	coll_team_close_idle(team, 1000, 1000);
	EXPECT(coll_store_get(&st, id) == s);
	coll_team_close_idle(team, 2000, 2000);
	EXPECT(!coll_store_get(&st, id));
	coll_teams_fini(&teams);
	end(&st);
}

int main(void)
{
	return RUN(test_found_at_once, test_store_of_before, test_cleaned, test_hostile,
		   test_reading_is_bounded, test_away);
}
