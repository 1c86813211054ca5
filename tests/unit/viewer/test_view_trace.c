/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening runs: streams out of several files, duplicates, holes, damage, run.json, and what is no
 * run at all.
 */
#include "engine_trace.h"

#include <errno.h>
#include "wire/frame.h"

#define US(n) (INT64_C(1000000000) + (n)*INT64_C(1000))

static void run_path(const struct t_run *r, char *path, size_t room, const char *name)
{
	snprintf(path, room, "%s/%s", r->dir, name);
}

static size_t slurp(const char *path, uint8_t **bytes)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	REQUIRE(f && (*bytes = malloc(1 << 20)));
	n = fread(*bytes, 1, 1 << 20, f);
	fclose(f);
	return n;
}

static void put_file(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");

	REQUIRE(f && fwrite(bytes, 1, n, f) == n);
	fclose(f);
}

/* Where the frames of a file begin; at[n] is its end. */
static size_t frames_of(const uint8_t *bytes, size_t len, size_t *at)
{
	size_t n = 0, pos = 0, skip;
	struct wire_frame f;

	while (wire_frame_scan(bytes + pos, len - pos, true, &f, &skip) == WIRE_SCAN_FRAME) {
		at[n++] = pos += skip;
		pos += wire_frame_bytes(&f);
	}
	at[n] = pos;
	return n;
}

/* Hello, then three times names, operations, launches and a pulse, then Bye. */
static void make_stream(struct t_run *r)
{
	struct t_proc p;
	int i;

	t_run_begin(r);
	t_proc_begin(r, &p, 10, 0, US(0));
	for (i = 0; i < 3; i++) {
		t_launch(&p, US(100 * i + 10), US(100 * i + 20), US(100 * i + 90), (uint64_t)i + 1);
		t_flush(&p);
		t_pulse(&p, US(100 * i + 100), US(100 * i + 95));
	}
	t_proc_end(&p, US(400), true);
}

static void open_run(struct t_run *r)
{
	const char *why;

	REQUIRE(!view_trace_open(&r->trace, r->dir, &why));
}

static void test_a_whole_stream(void)
{
	struct t_run r;
	const struct view_stream *s;

	make_stream(&r);
	open_run(&r);
	EXPECT_UINT(r.trace->streams, 1);
	s = &r.trace->stream[0];
	EXPECT_UINT(s->blocks, 6);
	EXPECT_UINT(s->holes, 0);
	EXPECT_INT(s->hello->pid, 10);
	EXPECT(s->bye != NULL);
	EXPECT_INT(s->complete_ns, US(295));
	EXPECT_INT(s->last_pulse->t_ns, US(300));
	EXPECT_UINT(r.trace->notes, 0);
	t_run_end(&r);
}

/* The collector wrote the beginning, libprof spooled the rest and some of it again. */
static void test_spools(void)
{
	struct t_run r;
	uint8_t *bytes;
	size_t at[64], n, len;
	char path[300];

	make_stream(&r);
	run_path(&r, path, sizeof(path), "1.gst");
	len = slurp(path, &bytes);
	n = frames_of(bytes, len, at);
	put_file(path, bytes, at[5]);
	run_path(&r, path, sizeof(path), "1.0.spool");
	put_file(path, bytes + at[3], at[7] - at[3]);
	run_path(&r, path, sizeof(path), "1.1.spool");
	put_file(path, bytes + at[6], at[n] - at[6]);
	open_run(&r);
	EXPECT_UINT(r.trace->streams, 1);
	EXPECT_UINT(r.trace->stream[0].frames, n);
	EXPECT_UINT(r.trace->stream[0].blocks, 6);
	EXPECT_UINT(r.trace->stream[0].holes, 0);
	free(bytes);
	t_run_end(&r);
}

static void test_a_hole(void)
{
	struct t_run r;
	uint8_t *bytes;
	size_t at[64], n, len;
	char path[300];
	const struct view_hole *h;

	/* Frames: 1 Hello, 2 names, 3 and 4 blocks, 5 pulse, 6 and 7 blocks, 8 pulse, ... */
	make_stream(&r);
	run_path(&r, path, sizeof(path), "1.gst");
	len = slurp(path, &bytes);
	n = frames_of(bytes, len, at);
	EXPECT_UINT(n, 12);
	memmove(bytes + at[5], bytes + at[7], len - at[7]); /* without 6 and 7 */
	put_file(path, bytes, len - (at[7] - at[5]));
	open_run(&r);
	EXPECT_UINT(r.trace->stream[0].blocks, 4);
	EXPECT_UINT(r.trace->stream[0].holes, 1);
	h = &r.trace->stream[0].hole[0];
	EXPECT_UINT(h->first_seq, 6);
	EXPECT_UINT(h->last_seq, 7);
	EXPECT_INT(h->start_ns, US(95)); /* complete up to here before */
	EXPECT_INT(h->end_ns, US(200)); /* when the next frame was made */
	EXPECT(r.trace->notes == 1);
	free(bytes);
	t_run_end(&r);
}

static void test_damage(void)
{
	struct t_run r;
	uint8_t *bytes;
	size_t at[64], len;
	char path[300];

	make_stream(&r);
	run_path(&r, path, sizeof(path), "1.gst");
	len = slurp(path, &bytes);
	frames_of(bytes, len, at);
	bytes[at[3] + 70] ^= 1;
	put_file(path, bytes, len);
	open_run(&r);
	EXPECT_UINT(r.trace->damage_spans, 1);
	EXPECT_UINT(r.trace->damage_bytes, at[4] - at[3]);
	EXPECT_UINT(r.trace->stream[0].blocks, 5);
	EXPECT_UINT(r.trace->stream[0].holes, 1);
	EXPECT(strstr(r.trace->note[0], "1.gst") != NULL);
	free(bytes);
	t_run_end(&r);
}

static void test_a_single_file(void)
{
	struct t_run r;
	char path[300];
	const char *why;

	make_stream(&r);
	run_path(&r, path, sizeof(path), "1.gst");
	REQUIRE(!view_trace_open(&r.trace, path, &why));
	EXPECT_UINT(r.trace->stream[0].blocks, 6);
	t_run_end(&r);
}

static int open_error(const char *path)
{
	struct view_trace *t;
	const char *why = NULL;
	int err = view_trace_open(&t, path, &why);

	EXPECT(err && why && *why);
	if (!err)
		view_trace_close(t);
	return err;
}

static void test_no_run(void)
{
	struct t_run r;
	char path[300];

	t_run_begin(&r);
	EXPECT_INT(open_error(r.dir), -ENODATA);
	run_path(&r, path, sizeof(path), "absent");
	EXPECT_INT(open_error(path), -ENOENT);
	run_path(&r, path, sizeof(path), "empty.gst");
	put_file(path, "", 0);
	EXPECT_INT(open_error(path), -ENODATA);
	EXPECT_INT(open_error(r.dir), -ENODATA);
	run_path(&r, path, sizeof(path), "noise.gst");
	put_file(path, "this is not a trace, and never was", 34);
	EXPECT_INT(open_error(path), -EBADMSG);
	EXPECT_INT(open_error("/dev/null"), -EINVAL);
	t_run_end(&r);
}

static void test_run_json(void)
{
	static const char json[] =
		"{\"id\": \"run-1\", \"command\": [\"python\", \"train.py\", 3], "
		"\"start_unix_ns\": 1700000000000000001, \"wall_ns\": 5, \"exit_status\": 3, "
		"\"labels\": {\"team\": \"a\", \"bad\": 7}, \"exits\": [{\"host\": \"here\", "
		"\"pid\": 10, \"start_ns\": 1, \"end_ns\": 2, \"status\": 3}, {\"pid\": -1}]}";
	static const char more[] = "{\"exits\": [{\"host\": \"there\", \"pid\": 11, "
				   "\"start_ns\": 1, \"end_ns\": 9, \"status\": null}]}";
	struct t_run r;
	const struct view_run_info *i;
	char path[300];

	make_stream(&r);
	run_path(&r, path, sizeof(path), "run.json");
	put_file(path, json, strlen(json));
	run_path(&r, path, sizeof(path), "exit-2.json");
	put_file(path, more, strlen(more));
	run_path(&r, path, sizeof(path), "exit-3.json");
	put_file(path, "{\"exits\": [", 11);
	open_run(&r);
	i = &r.trace->run;
	EXPECT_STR(i->id, "run-1");
	EXPECT_UINT(i->commands, 2);
	EXPECT_STR(i->command[1], "train.py");
	EXPECT_INT(i->start_unix_ns, INT64_C(1700000000000000001));
	EXPECT(i->has_exit_status && i->exit_status == 3);
	EXPECT_UINT(i->labels, 1);
	EXPECT_STR(i->label_value[0], "a");
	EXPECT_UINT(i->exits, 2);
	EXPECT_INT(i->exit[0].end_ns + i->exit[1].end_ns, 11);
	EXPECT_UINT(r.trace->notes, 1);
	EXPECT(strstr(r.trace->note[0], "exit-3.json") != NULL);
	t_run_end(&r);
}

static void put_clock(const char *path, const char *to, const char *readings)
{
	char text[512];

	snprintf(text, sizeof(text), "{\"to\": \"%s\", \"readings\": %s}", to, readings);
	put_file(path, text, strlen(text));
}

/* Forwarding collectors say how far nodes' clocks were from the central one's. */
static void test_clocks(void)
{
	struct t_run r;
	char path[300];

	make_stream(&r);
	run_path(&r, path, sizeof(path), "clock-a.json");
	put_clock(path, "C",
		  "[{\"offset_ns\": 1000000, \"error_ns\": 500000}, "
		  "{\"offset_ns\": 3000000, \"error_ns\": 1000000}]");
	open_run(&r);
	EXPECT_UINT(r.trace->notes, 0); /* one alone is apart from nobody */
	view_trace_close(r.trace);
	run_path(&r, path, sizeof(path), "clock-b.json");
	put_clock(path, "C", "[{\"offset_ns\": -6000000, \"error_ns\": 2000000}]");
	run_path(&r, path, sizeof(path), "clock-elsewhere.json");
	put_clock(path, "D", "[]");
	run_path(&r, path, sizeof(path), "clock-mad.json");
	put_clock(path, "C",
		  "[{\"offset_ns\": 9223372036854775807, \"error_ns\": 1}, {\"offset_ns\": 1, "
		  "\"error_ns\": -5}, 7, {\"offset_ns\": \"x\"}]");
	open_run(&r);
	REQUIRE(r.trace->notes == 1);
	/* 3 + 1 ms on one side, -6 - 2 ms on the other */
	EXPECT_STR(r.trace->note[0], "clocks of 2 nodes were at most 12.0 ms apart, by the answers "
				     "of the central collector");
	t_run_end(&r);
}

/* The collector sees that a process ends, the wrapper also how; their clocks start it apart. */
static void test_exits_twice(void)
{
	static const char *const file[] = {
		"{\"exits\": [{\"host\": \"h\", \"pid\": 10, \"start_ns\": 1003, \"end_ns\": 2001, "
		"\"status\": null}, {\"host\": \"h\", \"pid\": 10, \"start_ns\": 3000, \"end_ns\": "
		"4000, \"status\": null}, {\"host\": \"other\", \"pid\": 10, \"start_ns\": 1003, "
		"\"end_ns\": 2001}]}",
		"{\"exits\": [{\"host\": \"h\", \"pid\": 10, \"start_ns\": 1000, \"end_ns\": 2000, "
		"\"status\": 7}]}",
	};
	static const char *const name[2][2] = { { "run.json", "exit-coll-1.json" },
						{ "exit-coll-1.json", "run.json" } };

	for (int order = 0; order < 2; order++) {
		const struct view_run_info *i;
		struct t_run r;
		char path[300];

		make_stream(&r);
		for (int k = 0; k < 2; k++) {
			run_path(&r, path, sizeof(path), name[order][k]);
			put_file(path, file[k], strlen(file[k]));
		}
		open_run(&r);
		i = &r.trace->run;
		REQUIRE(i->exits == 3);
		EXPECT(i->exit[0].has_status && i->exit[0].status == 7);
		EXPECT_INT(i->exit[0].end_ns, 2000);
		EXPECT_INT(i->exit[1].end_ns + i->exit[2].end_ns, 6001);
		EXPECT(!i->exit[1].has_status && !i->exit[2].has_status);
		t_run_end(&r);
	}
}

static void test_unsorted_blocks(void)
{
	struct t_run r;
	struct t_proc p;
	struct wire_scratch *scratch = wire_scratch_new();
	struct wire_event *ev = NULL;
	uint64_t rnd = t_seed(9);
	size_t room = 0, n, i, rounds;

	for (rounds = 0; rounds < 20; rounds++) {
		t_run_begin(&r);
		t_proc_begin(&r, &p, 10, 0, US(0));
		for (i = 0; i < 3000; i++) {
			/* from nearly sorted to not at all */
			int64_t at = US(rounds < 10 ? (int64_t)i : 0) +
				     (int64_t)(t_random(&rnd) % (rounds < 10 ? 5000 : 300)) * 10;

			t_kernel(&p, at, at + 50, i + 1)->stream = (uint32_t)(t_random(&rnd) % 4);
		}
		t_proc_end(&p, US(100000), true);
		open_run(&r);
		EXPECT_INT(view_trace_block(r.trace, &r.trace->stream[0].block[0], scratch, &ev,
					    &room, &n),
			   0);
		EXPECT_UINT(n, 3000);
		for (i = 1; i < n; i++) {
			const struct wire_event *a = &ev[i - 1], *b = &ev[i];

			EXPECT(a->start_ns < b->start_ns ||
			       (a->start_ns == b->start_ns &&
				(a->stream < b->stream ||
				 (a->stream == b->stream && a->corr < b->corr))));
		}
		t_run_end(&r);
	}
	free(ev);
	wire_scratch_free(scratch);
}

int main(void)
{
	return RUN(test_a_whole_stream, test_spools, test_a_hole, test_damage, test_a_single_file,
		   test_no_run, test_run_json, test_clocks, test_exits_twice, test_unsorted_blocks);
}
