/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outbox: which files are forwarded, cursors, batches cut from good and damaged files, what an
 * answer must be to count as one, bounds.
 */
#include "outbox.h"

#include <errno.h>
#include "relay/batch.h"

static void test_names(void)
{
	struct coll_out_run run = { .files = NULL };
	static const char *const none[] = {
		"summary.json",
		"report.html",
		".upstream",
		HEX ".idx",
		HEX "0.gst",
		HEX ".1.spool.gz",
		HEX ".spool",
		HEX ".x.spool",
		"exit-.json",
		"exit-a.json.tmp",
		".exit-a.json",
		"run.json.gst",
		"0123.gst",
		"..",
		"alerts.json",
		HEX "./.gst",
		"exit-a/b.json",
		"exit-a b.json",
		"",
		HEX,
	};
	static const char *const some[] = { HEX ".gst",	    HEX ".17.spool", "run.json",
					    "alerts.jsonl", "exit-n-1.json", "alloc-n-0.json",
					    "clock-n.json" };
	size_t i;

	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (coll_out_file_named(&run, none[i]))
			T_FAIL("taken: %s", none[i]);
	for (i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		if (!coll_out_file_named(&run, some[i]))
			T_FAIL("not taken: %s", some[i]);
	EXPECT_INT(coll_out_file_named(&run, HEX ".gst")->stream[15], 15);
	coll_out_files_free(&run);
}

static void test_cursor(void)
{
	struct coll_out_run run = { .dir = base }, again = { .dir = base };
	struct coll_out_file *f;
	struct coll_outbox o = { .max = 0 };
	struct coll_centre mute;
	static const char *const bad[] = {
		"",
		"gpustarve upstream 3\nto " TO "\n",
		"gpustarve upstream 2\nto " TO "\nframes 5 5 " HEX ".gst\n",
		"gpustarve upstream 2\nto " TO "\ncentre x\n",
		"gpustarve upstream 1\nto http://other\n",
		"gpustarve upstream 1\nto " TO "\nnonsense\n",
		"gpustarve upstream 1\nto " TO "\nframes 5 ../../etc/passwd\n",
		"gpustarve upstream 1\nto " TO "\nframes 5 run.json\nside 1 2 " HEX ".gst\n",
	};
	size_t i;

	begin();
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	coll_centre_mute(&mute);
	coll_cursor_turn(&run, &mute);
	EXPECT_INT(coll_cursor_read(&again, TO, &mute), -ENOENT);
	f = coll_out_file_named(&run, HEX ".gst");
	f->at = 123456789012345;
	f = coll_out_file_named(&run, "run.json");
	f->sent_mtime_ns = 1700000000123456789;
	f->sent_size = 77;
	coll_out_file_named(&run, "exit-never-sent.json");
	run.forwarded = true;
	REQUIRE(!coll_cursor_write(&run, TO));
	REQUIRE(!coll_cursor_read(&again, TO, &mute));
	EXPECT(again.forwarded);
	EXPECT_UINT(coll_out_file_named(&again, HEX ".gst")->at, 123456789012345);
	f = coll_out_file_named(&again, "run.json");
	EXPECT_INT(f->sent_mtime_ns, 1700000000123456789);
	EXPECT_UINT(f->sent_size, 77);
	coll_out_files_free(&again);
	EXPECT_INT(coll_cursor_read(&again, "https://another:1", &mute), -ESTALE);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		REQUIRE(!coll_file_replace(base, COLL_CURSOR_FILE, bad[i], strlen(bad[i])));
		if (coll_cursor_read(&again, TO, &mute) != -ESTALE || again.files)
			T_FAIL("read: %s", bad[i]);
	}
	coll_out_files_free(&run);
	free(again.others);
	end(&o);
}

static void test_batches(void)
{
	struct wire_buf b = { 0 };
	static struct coll_batch batch;
	struct coll_outbox o = { .max = 0 };
	struct coll_out_file *f;
	struct coll_batch_part *next;
	uint64_t at = 0, sum = 0;
	int rounds;

	begin();
	put_frames(&b, 1, 700, 10000); /* 7 MB */
	put_frames(&b, 701, 701, 5u << 20); /* longer than a batch */
	put_frames(&b, 702, 710, 100);
	put_file("run", HEX ".gst", b.data, b.len);
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	EXPECT(!o.runs);
	note(&o, "run");
	coll_outbox_scan(&o, coll_now_ns());
	EXPECT_UINT(o.pending, b.len);
	f = o.runs->files;
	for (rounds = 0; coll_out_file_pending(f) && rounds < 20; rounds++) {
		coll_batch_clear(&batch);
		REQUIRE(!coll_batch_add(&batch, o.runs, f));
		REQUIRE(batch.parts == 1);
		EXPECT(!memcmp(batch.body.data, b.data + sum, batch.body.len));
		sum += batch.body.len;
		coll_batch_stored(&batch, batch.body.len, &next, &at);
		EXPECT(!next);
		EXPECT_UINT(f->at, sum);
	}
	EXPECT_UINT(sum, b.len);
	EXPECT_INT(rounds, 6);
	EXPECT_UINT(batch.damaged, 0);
	/* What was acknowledged is known after a restart. */
	coll_outbox_save(&o);
	coll_outbox_fini(&o);
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	REQUIRE(o.runs);
	coll_outbox_scan(&o, coll_now_ns());
	EXPECT_UINT(o.pending, 0);
	coll_batch_fini(&batch);
	wire_buf_fini(&b);
	end(&o);
}

/* The body is cut anywhere by the centre: the cursor stands at that frame. */
static void test_partly_stored(void)
{
	struct wire_buf b = { 0 };
	static struct coll_batch batch;
	struct coll_outbox o = { .max = 0 };
	struct coll_batch_part *next;
	struct coll_out_file *f;
	uint64_t at;
	size_t sixth;

	begin();
	put_frames(&b, 1, 5, 100);
	sixth = put_frames(&b, 6, 6, 100);
	put_frames(&b, 7, 9, 100);
	put_file("run", HEX ".gst", b.data, b.len);
	put_file("run", HEX ".1.spool", b.data, b.len);
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	note(&o, "run");
	coll_outbox_scan(&o, coll_now_ns());
	for (f = o.runs->files; f; f = f->next)
		REQUIRE(!coll_batch_add(&batch, o.runs, f));
	REQUIRE(batch.parts == 2);
	coll_batch_stored(&batch, b.len + sixth, &next, &at);
	REQUIRE(next == &batch.part[1]);
	EXPECT_UINT(at, sixth);
	EXPECT_UINT(batch.part[0].file->at, b.len);
	EXPECT_UINT(batch.part[1].file->at, sixth);
	coll_batch_fini(&batch);
	wire_buf_fini(&b);
	end(&o);
}

static void test_damage(void)
{
	struct wire_buf b = { 0 };
	static struct coll_batch batch;
	struct coll_outbox o = { .max = 0 };
	struct coll_out_file *f;
	struct coll_batch_part *next;
	uint64_t at, sum = 0;
	size_t third, fourth;

	begin();
	put_frames(&b, 1, 2, 1000);
	third = put_frames(&b, 3, 3, 1000);
	fourth = put_frames(&b, 4, 4, 1000);
	put_frames(&b, 5, 9, 1000);
	b.data[third + 200] ^= 1;
	put_file("run", HEX ".gst", b.data, b.len);
	/* A spool whose end is not written yet, and stays so. */
	put_file("run", HEX ".1.spool", b.data + fourth, b.len - fourth - 10);
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	note(&o, "run");
	while (coll_outbox_scan(&o, coll_now_ns()), o.pending) {
		coll_batch_clear(&batch);
		for (f = o.runs->files; f; f = f->next)
			if (coll_out_file_pending(f))
				REQUIRE(!coll_batch_add(&batch, o.runs, f));
		sum += batch.body.len;
		coll_batch_stored(&batch, batch.body.len, &next, &at);
	}
	EXPECT_UINT(batch.damaged, fourth - third);
	EXPECT_UINT(sum, b.len - (fourth - third) + (b.len - fourth) - 1064);
	coll_batch_fini(&batch);
	wire_buf_fini(&b);
	end(&o);
}

/*
 * A collector that was killed amid a write leaves half a frame; the next one cuts it off when its
 * stream goes on, and other frames come to stand there.
 */
static void test_torn_end(void)
{
	static struct coll_batch batch;
	struct wire_buf b = { 0 };
	struct coll_outbox o = { .max = 0 };
	struct coll_batch_part *next;
	uint64_t at;
	size_t sixth;
	int i;

	begin();
	put_frames(&b, 1, 5, 100);
	sixth = put_frames(&b, 6, 6, 5000);
	put_file("run", HEX ".gst", b.data, sixth + 300);
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	note(&o, "run");
	for (i = 0; coll_outbox_scan(&o, coll_now_ns()), o.pending; i++) {
		REQUIRE(i < 5);
		coll_batch_clear(&batch);
		REQUIRE(!coll_batch_add(&batch, o.runs, o.runs->files));
		coll_batch_stored(&batch, batch.body.len, &next, &at);
	}
	EXPECT_UINT(o.runs->files->at, sixth);
	put_file("run", HEX ".gst", b.data, b.len);
	coll_outbox_scan(&o, coll_now_ns());
	EXPECT_UINT(o.pending, b.len - sixth);
	coll_batch_clear(&batch);
	REQUIRE(!coll_batch_add(&batch, o.runs, o.runs->files));
	REQUIRE(batch.body.len == b.len - sixth);
	EXPECT(!memcmp(batch.body.data, b.data + sixth, batch.body.len));
	EXPECT_UINT(batch.damaged, 0);
	coll_batch_fini(&batch);
	wire_buf_fini(&b);
	end(&o);
}

static void put_ack(struct wire_buf *b, uint8_t first)
{
	struct wire_frame f = { .version = 1, .type = WIRE_FRAME_ACK, .stream[0] = first };
	int i;

	for (i = 1; i < WIRE_STREAM_ID_BYTES; i++)
		f.stream[i] = (uint8_t)i;
	REQUIRE(!wire_frame_append(b, &f, NULL, 0, NULL, 0));
}

/* 200 alone is no acknowledgement: anything on the way may say it, about anything. */
static void test_answers(void)
{
	static const char page[] = "<html><body>Please log in</body></html>";
	struct coll_batch batch = { .parts = 0 };
	struct wire_buf acks = { 0 };
	size_t second;
	int i;

	put_frames(&batch.body, 1, 3, 100);
	second = batch.body.len;
	put_frames(&batch.body, 1, 2, 50);
	for (i = 0; i < 2; i++) { /* of another stream, by its first byte */
		struct wire_frame f;

		REQUIRE(!wire_frame_header_get(&f, batch.body.data + second + i * 114));
		f.stream[0] = 0x77;
		wire_frame_header_put(&f, batch.body.data + second + i * 114);
	}
	put_frames(&batch.body, 4, 4, 10);
	EXPECT(!coll_batch_is_acked(&batch, (const uint8_t *)"", 0));
	EXPECT(!coll_batch_is_acked(&batch, (const uint8_t *)page, sizeof(page) - 1));
	put_ack(&acks, 0);
	EXPECT(!coll_batch_is_acked(&batch, acks.data, acks.len));
	put_ack(&acks, 0x77);
	EXPECT(coll_batch_is_acked(&batch, acks.data, acks.len));
	EXPECT(!coll_batch_is_acked(&batch, acks.data, acks.len - 1));
	put_ack(&acks, 0x78);
	EXPECT(!coll_batch_is_acked(&batch, acks.data, acks.len));
	EXPECT(!coll_batch_is_acked(&batch, acks.data + 64, 128));
	/* The frames themselves are none, and a broken one is none. */
	EXPECT(!coll_batch_is_acked(&batch, batch.body.data, 128));
	acks.data[70] ^= 1;
	EXPECT(!coll_batch_is_acked(&batch, acks.data, 128));
	EXPECT(coll_batch_is_between(&batch, 0) && coll_batch_is_between(&batch, second) &&
	       coll_batch_is_between(&batch, batch.body.len));
	EXPECT(!coll_batch_is_between(&batch, 1) && !coll_batch_is_between(&batch, second - 1) &&
	       !coll_batch_is_between(&batch, batch.body.len + 1) &&
	       !coll_batch_is_between(&batch, UINT64_MAX));
	wire_buf_fini(&acks);
	wire_buf_fini(&batch.body);
}

/* Smaller bodies where something takes none so large, down to a frame. */
static void test_shrinking(void)
{
	static struct coll_batch batch;
	struct wire_buf b = { 0 };
	struct coll_outbox o = { .max = 0 };
	int rounds;

	begin();
	put_frames(&b, 1, 300, 10000);
	put_file("run", HEX ".gst", b.data, b.len);
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	note(&o, "run");
	coll_outbox_scan(&o, coll_now_ns());
	for (rounds = 0; rounds < 5; rounds++) {
		coll_batch_clear(&batch);
		REQUIRE(!coll_batch_add(&batch, o.runs, o.runs->files));
		EXPECT(batch.body.len <= COLL_BATCH_BYTES >> rounds);
		EXPECT(coll_batch_shrink(&batch));
	}
	EXPECT_UINT(batch.most, COLL_BATCH_LEAST);
	coll_batch_clear(&batch);
	put_frames(&batch.body, 1, 1, 100000);
	EXPECT(!coll_batch_shrink(&batch));
	coll_batch_fini(&batch);
	wire_buf_fini(&b);
	end(&o);
}

static void test_side_files(void)
{
	struct coll_outbox o = { .max = 0 };
	struct coll_out_file *f;

	begin();
	put_file("run", "run.json", "{}", 2);
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	note(&o, "run");
	coll_outbox_scan(&o, coll_now_ns());
	EXPECT_UINT(o.pending_files, 1);
	f = coll_out_file_named(o.runs, "run.json");
	f->sent_mtime_ns = f->mtime_ns;
	f->sent_size = f->size;
	coll_outbox_scan(&o, coll_now_ns());
	EXPECT_UINT(o.pending_files, 0);
	put_file("run", "run.json", "{\"exit_status\":0}", 17);
	coll_outbox_scan(&o, coll_now_ns());
	EXPECT_UINT(o.pending_files, 1);
	end(&o);
}

static bool is_there(const char *run)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s.gst", base, run);
	return !access(path, F_OK);
}

/* When a run counts as over, and that those that are go as far as they must. */
static void test_retiring(void)
{
	struct coll_outbox o = { .max = 0 };
	struct wire_buf b = { 0 };

	begin();
	put_frames(&b, 1, 9, 1000);
	put_file("old", HEX ".gst", b.data, b.len);
	put_file("old", "run.json", "{\"exit_status\":1}", 17);
	put_file("on", HEX ".gst", b.data, b.len);
	put_file("on", "run.json", "{\"exit_status\": null}", 21);
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	note(&o, "old");
	note(&o, "on");
	send_all(&o, COLL_OUTBOX_QUIET_S - 5);
	EXPECT_UINT(coll_outbox_retire(&o), 0);
	EXPECT(o.runs && o.runs->next); /* nothing is over yet */
	send_all(&o, COLL_OUTBOX_QUIET_S + 5);
	EXPECT_UINT(coll_outbox_retire(&o), 0); /* kept, but looked at no more */
	REQUIRE(o.runs && !o.runs->next);
	EXPECT_STR(o.runs->name, "on");
	EXPECT(is_there("old"));
	coll_outbox_fini(&o);

	o = (struct coll_outbox){ .remove = true };
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	send_all(&o, 0);
	EXPECT_UINT(coll_outbox_retire(&o), 1);
	EXPECT(!is_there("old") && is_there("on"));
	send_all(&o, COLL_OUTBOX_GIVEN_UP_S + 5); /* its wrapper was killed */
	EXPECT_UINT(coll_outbox_retire(&o), 1);
	EXPECT(!is_there("on"));
	wire_buf_fini(&b);
	end(&o);
}

/* Of a run whose wrapper was killed nothing comes any more but our own readings of clocks. */
static void test_given_up(void)
{
	int64_t later = coll_now_ns() + (COLL_OUTBOX_GIVEN_UP_S - 300) * COLL_SECOND_NS;
	struct coll_outbox o = { .remove = true };

	begin();
	put_file("killed", "run.json", "{\"exit_status\": null}", 21);
	put_file("killed", "clock-n.json", "{}", 2);
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	note(&o, "killed");
	send_all(&o, 0);
	put_file("killed", "clock-n.json", "{\"readings\":[]}", 15);
	coll_outbox_scan(&o, later);
	EXPECT_UINT(o.pending_files, 1); /* it goes all the same */
	send_all(&o, COLL_OUTBOX_GIVEN_UP_S + 5);
	EXPECT_UINT(coll_outbox_retire(&o), 1);
	EXPECT(!is_there("killed"));
	end(&o);
}

/* A process without a collector goes on with its spool file, whatever its run was taken for. */
static void test_late_spool(void)
{
	struct coll_outbox o = { .remove = true };
	struct wire_buf b = { 0 };

	begin();
	put_frames(&b, 1, 9, 1000);
	put_file("late", HEX ".gst", b.data, b.len);
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	note(&o, "late");
	send_all(&o, COLL_OUTBOX_QUIET_S + 5);
	REQUIRE(o.runs && o.runs->forwarded);
	put_file("late", HEX ".1.spool", b.data, b.len);
	EXPECT_UINT(coll_outbox_retire(&o), 0);
	EXPECT(is_there("late"));
	coll_outbox_scan(&o, coll_now_ns());
	EXPECT_UINT(o.pending, b.len);
	/* It may be stopped for hours, and go on with this file, unless it has said goodbye. */
	send_all(&o, COLL_OUTBOX_QUIET_S + 5);
	EXPECT_UINT(coll_outbox_retire(&o), 0);
	EXPECT(is_there("late"));
	coll_out_file_named(o.runs, HEX ".1.spool")->bye = true;
	send_all(&o, COLL_OUTBOX_QUIET_S + 5);
	EXPECT_UINT(coll_outbox_retire(&o), 1);
	EXPECT(!is_there("late"));
	wire_buf_fini(&b);
	end(&o);
}

/* A folder that was renamed to what cannot stand in a path of HTTP holds up nobody. */
static void test_renamed(void)
{
	struct coll_outbox o = { .max = 0 };
	char from[512], to[512];

	begin();
	put_file("good", "run.json", "{}", 2);
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	note(&o, "good");
	coll_outbox_fini(&o);
	snprintf(from, sizeof(from), "%s/good.gst", base);
	snprintf(to, sizeof(to), "%s/a b?c.gst", base);
	REQUIRE(!rename(from, to));
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	EXPECT(!o.runs);
	end(&o);
}

/* Whether a run may be removed here, told from its directory alone. */
static void test_has_all(void)
{
	struct coll_outbox o = { .max = 0 };
	struct wire_buf b = { 0 };

	begin();
	put_frames(&b, 1, 9, 1000);
	put_file("run", HEX ".gst", b.data, b.len);
	put_file("run", "run.json", "{\"exit_status\": null}", 21);
	put_file("run", "summary.json", "{}", 2); /* not forwarded */
	EXPECT_INT(has_all("run"), -ENOENT);
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	note(&o, "run");
	EXPECT_INT(has_all("run"), 0);
	send_all(&o, 0);
	EXPECT_INT(has_all("run"), 1); /* though the run is not over */
	put_file("run", "alerts.jsonl", "{}\n", 3);
	EXPECT_INT(has_all("run"), 0);
	send_all(&o, 0);
	EXPECT_INT(has_all("run"), 1);
	put_frames(&b, 10, 10, 1);
	put_file("run", HEX ".gst", b.data, b.len);
	EXPECT_INT(has_all("run"), 0);
	send_all(&o, COLL_OUTBOX_GIVEN_UP_S + 5);
	EXPECT_INT(has_all("run"), 1);
	note(&o, "run"); /* a stream of it is open again */
	put_frames(&b, 11, 11, 1);
	put_file("run", HEX ".gst", b.data, b.len);
	EXPECT_INT(has_all("run"), 0);
	send_all(&o, COLL_OUTBOX_GIVEN_UP_S + 5);
	EXPECT_INT(has_all("run"), 1);
	put_file("run", HEX ".1.spool", b.data,
		 b.len); /* by a process that nobody knew to be alive */
	EXPECT_INT(has_all("run"), 0);
	put_file("run", COLL_CURSOR_FILE, "nonsense\n", 9);
	EXPECT_INT(has_all("run"), 0);
	wire_buf_fini(&b);
	end(&o);
}

static void test_bound(void)
{
	struct coll_outbox o = { .max = 25000 };
	struct wire_buf b = { 0 };
	int i;

	begin();
	put_frames(&b, 1, 9, 1000); /* 9.6 KB */
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	for (i = 0; i < 3; i++) {
		char run[] = { (char)('a' + i), '\0' };
		struct timespec nap = { .tv_nsec = 20000000 };

		put_file(run, HEX ".gst", b.data, b.len);
		note(&o, run);
		nanosleep(&nap, NULL); /* so that they have an order */
	}
	coll_outbox_scan(&o, coll_now_ns());
	EXPECT(o.full);
	EXPECT(coll_outbox_drops(&o, WIRE_FRAME_BLOCK, 1) &&
	       coll_outbox_drops(&o, WIRE_FRAME_PULSE, 1));
	EXPECT(!coll_outbox_drops(&o, WIRE_FRAME_HELLO, 1) &&
	       !coll_outbox_drops(&o, WIRE_FRAME_STRINGS, 1) &&
	       !coll_outbox_drops(&o, WIRE_FRAME_BYE, 1) &&
	       !coll_outbox_drops(&o, WIRE_FRAME_LOSS, 1));
	send_all(&o, COLL_OUTBOX_QUIET_S + 5);
	EXPECT(!o.full && !coll_outbox_drops(&o, WIRE_FRAME_BLOCK, 1));
	EXPECT_UINT(coll_outbox_retire(&o), 1); /* one is enough */
	EXPECT(!is_there("a") && is_there("b") && is_there("c"));
	wire_buf_fini(&b);
	end(&o);
}

/* Who cleans up by hand does not keep us from making room. */
static void test_removed_by_others(void)
{
	struct coll_outbox o = { .max = 15000 };
	struct wire_buf b = { 0 };
	char gone[512];

	begin();
	put_frames(&b, 1, 9, 1000); /* 9.6 KB */
	REQUIRE(!coll_outbox_init(&o, &store, TO));
	for (int i = 0; i < 3; i++) {
		char run[] = { (char)('a' + i), '\0' };
		struct timespec nap = { .tv_nsec = 20000000 };

		put_file(run, HEX ".gst", b.data, b.len);
		note(&o, run);
		nanosleep(&nap, NULL); /* so that they have an order */
	}
	send_all(&o, COLL_OUTBOX_QUIET_S + 5);
	snprintf(gone, sizeof(gone), "%s/a.gst", base);
	nftw(gone, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	coll_outbox_retire(&o);
	EXPECT(!is_there("b") && is_there("c"));
	REQUIRE(o.runs && !o.runs->next);
	EXPECT_STR(o.runs->name, "c");
	wire_buf_fini(&b);
	end(&o);
}

int main(void)
{
	return RUN(test_names, test_cursor, test_batches, test_partly_stored, test_damage,
		   test_torn_end, test_answers, test_shrinking, test_side_files, test_retiring,
		   test_given_up, test_late_spool, test_renamed, test_has_all, test_bound,
		   test_removed_by_others);
}
