/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which store the centre has, and what each has acknowledged; what makes a
 * store another one.
 */
#include "outbox.h"

#include "relay/gone.h"
#include "retain/remove_run.h"
#include "store/epoch.h"
#include <errno.h>

static void centre_of(struct coll_centre *c, char id, uint64_t start, const char *parent)
{
	char text[COLL_EPOCH_BYTES];

	snprintf(text, sizeof(text), "%032d-%016llx%s%s", 0, (unsigned long long)start,
		 parent ? "," : "", parent ? parent : "");
	memset(text, id, 32);
	REQUIRE(coll_centre_read(c, text));
}

/* What each store has acknowledged is kept apart; a copy begins with what its
 * model had. */
static void test_centres(void)
{
	struct coll_out_run run = { .dir = base }, again = { .dir = base };
	struct coll_outbox o = { .max = 0 };
	struct coll_centre a, b, copy, mute;
	struct coll_out_file *f;

	begin();
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	coll_centre_mute(&mute);
	centre_of(&a, 'a', 7, NULL);
	centre_of(&b, 'b', 8, NULL);
	centre_of(&copy, 'c', 9, a.id);
	coll_cursor_turn(&run, &a);
	f = coll_out_file_named(&run, HEX ".gst");
	f->at = 100;
	f->extent = 150;
	run.start = 7;
	run.forwarded = true;
	coll_cursor_turn(&run, &b);
	EXPECT_UINT(f->at, 0);
	EXPECT(!run.forwarded && !run.start);
	f->at = 20;
	f->extent = COLL_OUT_UNKNOWN;
	run.start = 8;
	REQUIRE(!coll_cursor_write(&run, TO));
	REQUIRE(!coll_cursor_read(&again, TO, &copy));
	f = coll_out_file_named(&again, HEX ".gst");
	EXPECT_UINT(f->at, 100);
	EXPECT_UINT(f->extent, 150);
	EXPECT(again.forwarded && !again.start); /* to be asked for */
	coll_cursor_turn(&again, &b);
	EXPECT_UINT(f->at, 20);
	EXPECT_UINT(f->extent, COLL_OUT_UNKNOWN);
	EXPECT_UINT(again.start, 8);
	coll_cursor_turn(&again, &mute);
	EXPECT_UINT(f->at, 0);
	coll_cursor_turn(&again, &a);
	EXPECT_UINT(f->at, 100);
	EXPECT_UINT(again.start, 7);
	coll_out_files_free(&run);
	coll_out_files_free(&again);
	free(run.others);
	free(again.others);
	end(&o);
}

/* What names a store, and what does not. */
static void test_centre_names(void)
{
	static const char *const bad[] = {
		"",
		"-",
		"0123456789abcdef0123456789abcdef",
		"0123456789abcdef0123456789abcdef-",
		"0123456789abcdef0123456789abcdef-0000000000000000",
		"0123456789abcdef0123456789abcdef-00000000000000011",
		"0123456789abcdef0123456789abcdeF-0000000000000001",
		"0123456789abcdef0123456789abcdef-0000000000000001,",
		"0123456789abcdef0123456789abcdef-0000000000000001,x",
		"0123456789abcdef0123456789abcdef-0000000000000001 ",
	};
	struct coll_centre c;

	coll_centre_mute(&c);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (coll_centre_read(&c, bad[i]) || !coll_centre_is_mute(&c))
			T_FAIL("read: %s", bad[i]);
	centre_of(&c, 'e', 3, "0123456789abcdef0123456789abcdef");
	EXPECT_UINT(c.start, 3);
	EXPECT_UINT(c.parents, 1);
	EXPECT_STR(c.parent[0], "0123456789abcdef0123456789abcdef");
}

static void put_centre(const struct coll_centre *c)
{
	REQUIRE(!coll_centre_save(c, base));
}

/* May the run go? Only where the centre of now has it, and was asked about it
 * since its start. */
static void test_lets_go(void)
{
	struct coll_out_run run = { .dir = NULL };
	struct coll_outbox o = { .max = 0 };
	struct coll_centre a, later, b, mute;
	struct coll_out_file *f;
	char dir[512], *list;

	begin();
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	coll_centre_mute(&mute);
	centre_of(&a, 'a', 7, NULL);
	centre_of(&later, 'a', 8, NULL);
	centre_of(&b, 'b', 9, NULL);
	put_file("run", HEX ".gst", "0123456789", 10);
	snprintf(dir, sizeof(dir), "%s/run.gst", base);
	run.dir = dir;
	coll_cursor_turn(&run, &a);
	run.start = a.start;
	f = coll_out_file_named(&run, HEX ".gst");
	f->at = 10;
	f->extent = 12;
	REQUIRE(!coll_cursor_write(&run, TO));
	put_centre(&a);
	EXPECT_INT(has_all("run"), 1);
	put_centre(&later);
	EXPECT_INT(has_all("run"), 0);
	put_centre(&b);
	EXPECT_INT(has_all("run"), 0);
	put_centre(&mute);
	EXPECT_INT(has_all("run"), 0);
	put_centre(&a);
	f->at = 9;
	REQUIRE(!coll_cursor_write(&run, TO));
	EXPECT_INT(has_all("run"), 0);
	f->at = 10;
	REQUIRE(!coll_cursor_write(&run, TO));
	/* What goes is noted, what is asked about is not. */
	EXPECT_INT(coll_remove_run(store.base_fd, "none.gst", coll_gone_lets_go), -ENOENT);
	EXPECT_INT(coll_run_may_go(store.base_fd, "run.gst", coll_gone_lets_go), 0);
	REQUIRE(!coll_gone_read(store.base_fd, &list));
	EXPECT(!list);
	EXPECT_INT(coll_remove_run(store.base_fd, "run.gst", coll_gone_lets_go), 0);
	REQUIRE(!coll_gone_read(store.base_fd, &list));
	EXPECT_STR(list, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 12 " HEX " run\n");
	free(list);
	coll_out_files_free(&run);
	free(run.others);
	end(&o);
}

static void copy_file(const char *from, const char *to)
{
	uint8_t *bytes;
	size_t len;
	char dir[512], *name;

	REQUIRE(!coll_file_read(from, 4096, &bytes, &len));
	snprintf(dir, sizeof(dir), "%s", to);
	name = strrchr(dir, '/');
	*name++ = '\0';
	REQUIRE(!coll_file_replace(dir, name, bytes, len));
	free(bytes);
}

/* A start is another start; a copy is another store, that knows its model; what
 * was renamed is the same. */
static void test_epochs(void)
{
	struct coll_epoch first = { "" }, again = { "" }, copied = { "" };
	char path[512], other[512];
	struct coll_centre a, b, c;
	struct coll_outbox o = { .max = 0 };

	begin();
	snprintf(path, sizeof(path), "%s/" COLL_EPOCH_FILE, base);
	snprintf(other, sizeof(other), "%s/copy", base);
	REQUIRE(!coll_epoch_open(&first, base));
	REQUIRE(coll_centre_read(&a, first.text));
	EXPECT_UINT(a.parents, 0);
	REQUIRE(!coll_epoch_open(&again, base));
	REQUIRE(coll_centre_read(&b, again.text));
	EXPECT_STR(b.id, a.id);
	EXPECT(b.start != a.start);
	REQUIRE(!mkdir(other, 0777));
	snprintf(other, sizeof(other), "%s/copy/" COLL_EPOCH_FILE, base);
	copy_file(path, other);
	snprintf(other, sizeof(other), "%s/copy", base);
	REQUIRE(!coll_epoch_open(&copied, other));
	REQUIRE(coll_centre_read(&c, copied.text));
	EXPECT(strcmp(c.id, a.id) != 0);
	EXPECT_UINT(c.parents, 1);
	EXPECT_STR(c.parent[0], a.id);
	/* A copy of the copy, more often than there is room for. */
	for (int i = 0; i < 12; i++) {
		snprintf(other, sizeof(other), "%s/copy/" COLL_EPOCH_FILE, base);
		copy_file(other, path);
		copy_file(path, other);
		snprintf(other, sizeof(other), "%s/copy", base);
		REQUIRE(!coll_epoch_open(&copied, other));
		b = c;
		REQUIRE(coll_centre_read(&c, copied.text));
		EXPECT_STR(c.parent[0], b.id);
	}
	EXPECT_UINT(c.parents, COLL_EPOCH_PARENTS);
	REQUIRE(!coll_file_replace(base, COLL_EPOCH_FILE, "nonsense\n", 9));
	REQUIRE(!coll_epoch_open(&again, base));
	REQUIRE(coll_centre_read(&b, again.text));
	EXPECT(strcmp(b.id, a.id) != 0 && !b.parents);
	EXPECT_INT(coll_epoch_open(&again, "/nonexistent"), -ENOENT);
	coll_outbox_init(&o, &store, TO);
	end(&o);
}

int main(void)
{
	return RUN(test_centres, test_centre_names, test_lets_go, test_epochs);
}
