/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that nobody told of: which are taken up, and when. */
#include "outbox.h"

#include <dlfcn.h>
#include <unistd.h>
#include "relay/unsent_runs.h"

static struct coll_out_run *known(const struct coll_outbox *o, const char *run)
{
	struct coll_out_run *r = o->runs;

	while (r && strcmp(r->name, run))
		r = r->next;
	return r;
}

static void put_cursor(const char *run)
{
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/%s.gst", base, run);
	mkdir(dir, 0777);
	t_put_text(dir, COLL_CURSOR_FILE, "gpustarve upstream 1\nto " TO "\n");
}

/* As if nothing had changed in it for so long. */
static void grow_old(const char *run, int seconds)
{
	struct timespec t[2] = { { time(NULL) - seconds, 0 }, { time(NULL) - seconds, 0 } };
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/%s.gst", base, run);
	REQUIRE(!utimensat(AT_FDCWD, dir, t, 0));
}

/* Looked for anew, whatever the clock says: so many. */
static size_t strays(struct coll_outbox *o, struct coll_unsent_runs *s)
{
	return coll_unsent_runs_scan(s, o, s->next_ns);
}

/* Runs that nobody told of: with a spool file, and not those that lay there first. */
static void test_strays(void)
{
	struct coll_outbox o = { .max = 0 };
	struct coll_unsent_runs s = { .next_ns = 0 };
	struct wire_buf b = { 0 };
	char from[512], to[512];

	begin();
	put_frames(&b, 1, 9, 100);
	put_file("before", HEX ".1.spool", b.data, b.len);
	put_file("sent", HEX ".1.spool", b.data, b.len);
	put_cursor("sent");
	grow_old("before", COLL_UNSENT_WITH_US_S + 60);
	put_file("begun", HEX ".1.spool", b.data, b.len);
	grow_old("begun", 2); /* the job was quicker than we */
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	EXPECT_UINT(strays(&o, &s), 0); /* this makes the list */
	EXPECT_UINT(strays(&o, &s), 1);
	EXPECT(known(&o, "begun") && !known(&o, "before"));
	put_file("stream", HEX ".gst", b.data, b.len); /* another collector's */
	put_file("x", "run.json", "{}", 2);
	put_file("foreign", "spool", b.data, b.len);
	put_file("stray", HEX ".1.spool", b.data, b.len);
	put_file("stray", "run.json", "{}", 2);
	snprintf(from, sizeof(from), "%s/before.gst", base);
	snprintf(to, sizeof(to), "%s/linked.gst", base);
	REQUIRE(!symlink(from, to));
	EXPECT_UINT(coll_unsent_runs_scan(&s, &o, s.next_ns - 1), 0); /* not yet */
	EXPECT_UINT(strays(&o, &s), 1);
	EXPECT(known(&o, "stray") && known(&o, "sent") && !known(&o, "before") &&
	       !known(&o, "linked"));
	EXPECT_INT(has_all("stray"), 0); /* it has a cursor from now on */
	EXPECT_UINT(strays(&o, &s), 0);
	coll_outbox_scan(&o, coll_now_ns());
	EXPECT_UINT(o.pending, 3 * b.len); /* sent, begun, stray */
	/* Forwarded, over and forgotten: taken up again where somebody has gone on. */
	coll_out_file_named(known(&o, "stray"), HEX ".1.spool")->bye = true;
	send_all(&o, COLL_OUTBOX_QUIET_S + 5);
	coll_outbox_forget(&o, known(&o, "stray"));
	EXPECT_UINT(strays(&o, &s), 0);
	put_file("stray", HEX ".2.spool", b.data, b.len);
	EXPECT_UINT(strays(&o, &s), 1);
	/* Whoever says so has a run left alone. */
	coll_outbox_forget(&o, known(&o, "stray"));
	snprintf(from, sizeof(from), "%s/stray.gst/" COLL_CURSOR_FILE, base);
	REQUIRE(!unlink(from));
	REQUIRE(!coll_file_replace(base, COLL_UNSENT_FILE, "stray.gst\nbefore.gst", 20));
	EXPECT_UINT(strays(&o, &s), 0);
	REQUIRE(!coll_file_replace(base, COLL_UNSENT_FILE, "before.gst\n", 11));
	EXPECT_UINT(strays(&o, &s), 1);
	wire_buf_fini(&b);
	coll_unsent_runs_fini(&s);
	end(&o);
}

/* Many that are done get their turn some at a time. */
static void test_strays_in_turn(void)
{
	struct coll_outbox o = { .max = 0 };
	struct coll_unsent_runs s = { .next_ns = 0 };
	size_t found = 0, now;
	char run[16], dir[300];

	begin();
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	EXPECT_UINT(strays(&o, &s), 0);
	for (int i = 0; i < COLL_UNSENT_DONE_EACH + 9; i++) {
		snprintf(run, sizeof(run), "r%d", i);
		put_cursor(run);
		snprintf(dir, sizeof(dir), "%s/%s.gst", base, run);
		t_put_text(dir, "run.json", "{}");
	}
	for (int i = 0; i < 12; i++) {
		now = strays(&o, &s);
		EXPECT(now <= COLL_UNSENT_DONE_EACH);
		found += now;
	}
	EXPECT_UINT(found, COLL_UNSENT_DONE_EACH + 9);
	coll_unsent_runs_fini(&s);
	end(&o);
}

static size_t asked; /* whether a file is there */

int faccessat(int fd, const char *path, int mode, int flags)
{
	static int (*next)(int, const char *, int, int);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "faccessat");
	asked++;
	return next(fd, path, mode, flags);
}

/* Of those that are done, however many, some are looked at each time, and a new one at once. */
static void test_many_that_are_done(void)
{
	struct coll_outbox o = { .max = 0 };
	struct coll_unsent_runs s = { .next_ns = 0 };
	struct wire_buf b = { 0 };
	char run[16], dir[300], gone[300];

	begin();
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	EXPECT_UINT(strays(&o, &s), 0);
	for (int i = 0; i < 700; i++) {
		snprintf(run, sizeof(run), "r%d", i);
		put_cursor(run);
	}
	asked = 0;
	strays(&o, &s);
	EXPECT(asked >= 700);
	asked = 0;
	strays(&o, &s);
	EXPECT(asked < 5 * COLL_UNSENT_DONE_EACH);
	put_frames(&b, 1, 9, 100);
	put_file("new", HEX ".1.spool", b.data, b.len);
	/* Another one of that name, recorded without a collector. */
	snprintf(dir, sizeof(dir), "%s/r699.gst", base);
	snprintf(gone, sizeof(gone), "%s/.gone", base);
	REQUIRE(!rename(dir, gone));
	put_file("r699", HEX ".1.spool", b.data, b.len);
	asked = 0;
	strays(&o, &s);
	EXPECT(known(&o, "new") && known(&o, "r699"));
	EXPECT(asked < 5 * COLL_UNSENT_DONE_EACH);
	wire_buf_fini(&b);
	coll_unsent_runs_fini(&s);
	end(&o);
}

static int64_t cpu_ns(void)
{
	return coll_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Each run is asked for once, however long the list is: not each against all of it. */
static void test_long_list(void)
{
	struct coll_outbox o = { .max = 0 };
	struct coll_unsent_runs s = { .next_ns = 0 };
	size_t lines = 200000, len = 0, room = lines * 64;
	char *list = malloc(room), first[300], path[300];
	int64_t began;

	begin();
	REQUIRE(list);
	for (size_t i = 0; i < lines; i++)
		len += (size_t)snprintf(list + len, room - len,
					"a-run-of-before-there-was-any-upstream-here-%08zu.gst\n",
					i);
	len += (size_t)snprintf(list + len, room - len, "listed.gst"); /* no newline behind it */
	REQUIRE(!coll_file_replace(base, COLL_UNSENT_FILE, list, len));
	put_file("listed", HEX ".1.spool", "x", 1);
	put_file("stray", HEX ".1.spool", "x", 1);
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	snprintf(first, sizeof(first), "%s/first.gst", base);
	t_put_text(base, "first.gst", "");
	for (int i = 0; i < 6000; i++) { /* links, which cost a disk less than folders */
		snprintf(path, sizeof(path),
			 "%s/a-run-of-before-there-was-any-upstream-here-n%d.gst", base, i);
		REQUIRE(!link(first, path));
	}
	began = cpu_ns();
	EXPECT_UINT(strays(&o, &s), 1);
	EXPECT(known(&o, "stray") && !known(&o, "listed"));
	EXPECT(cpu_ns() - began < 2 * COLL_SECOND_NS); /* text against text: 6,000 times 11 MB */
	free(list);
	coll_unsent_runs_fini(&s);
	end(&o);
}

int main(void)
{
	return RUN(test_strays, test_strays_in_turn, test_many_that_are_done, test_long_list);
}
