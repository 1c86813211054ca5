/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples and batches of a run: found beside the blocks and not among them, decoded in order of
 * time, refused where they are damaged, passed over where a later version wrote another kind.
 */
#include "engine_trace.h"

#include <errno.h>
#include "wire/crc32c.h"
#include "wire/frame.h"

#define US(n) (INT64_C(1000000000) + (n)*INT64_C(1000))
#define AT_KIND (WIRE_FRAME_HEADER_BYTES + 2)

/* Two threads, one after the other; the second has the earlier times. */
static void put_evidence(struct t_proc *p)
{
	struct wire_sample s[4] = {
		{ .t_ns = US(30), .pid = 1, .tid = 1, .cpu_ns = 5 },
		{ .t_ns = US(50), .pid = 1, .tid = 1, .cpu_ns = 9 },
		{ .t_ns = US(10), .pid = 2, .tid = 2 },
		{ .t_ns = US(30), .pid = 2, .tid = 2 },
	};
	struct wire_batch b[2] = {
		{ .start_ns = US(40), .end_ns = US(50), .what = WIRE_BATCH_TAKE },
		{ .start_ns = US(5), .end_ns = US(95), .what = WIRE_BATCH_FETCH },
	};

	s[1].stack = t_name(p, "load\tdata.py\t12\nstep\ttrain.py\t3");
	t_samples(p, s, 4);
	b[0].text = t_name(p, "workers=2");
	t_batches(p, b, 2);
}

/* A process with a kernel, evidence around it, and no last word: its stream ends with what is. */
static void make_run(struct t_run *r, bool bye)
{
	struct t_proc p;

	t_run_begin(r);
	t_proc_begin(r, &p, 10, 0, US(0));
	put_evidence(&p);
	t_launch(&p, US(10), US(20), US(90), 1);
	t_flush(&p);
	put_evidence(&p);
	t_proc_end(&p, US(400), bye);
}

static void open_run(struct t_run *r)
{
	const char *why;

	REQUIRE(!view_trace_open(&r->trace, r->dir, &why));
	REQUIRE(r->trace->streams == 1);
}

struct read {
	struct wire_scratch *scratch;
	struct wire_sample *sample;
	struct wire_batch *batch;
	size_t sample_room, batch_room, n;
};

static int read_samples(struct t_run *r, struct read *x, size_t at)
{
	const struct view_stream *s = &r->trace->stream[0];

	return view_trace_samples(r->trace, &s->evidence[at], x->scratch, &x->sample,
				  &x->sample_room, &x->n);
}

static int read_batches(struct t_run *r, struct read *x, size_t at)
{
	const struct view_stream *s = &r->trace->stream[0];

	return view_trace_batches(r->trace, &s->evidence[at], x->scratch, &x->batch, &x->batch_room,
				  &x->n);
}

static void read_end(struct read *x)
{
	wire_scratch_free(x->scratch);
	free(x->sample);
	free(x->batch);
}

static void test_found(void)
{
	struct read x = { .scratch = wire_scratch_new() };
	const struct view_stream *s;
	struct t_run r;

	make_run(&r, true);
	open_run(&r);
	s = &r.trace->stream[0];
	EXPECT_UINT(s->blocks, 2);
	REQUIRE(s->evidences == 4);
	EXPECT_UINT(s->evidence[0].head->kind, WIRE_KIND_SAMPLE);
	EXPECT_UINT(s->evidence[3].head->kind, WIRE_KIND_BATCH);
	EXPECT_INT(s->evidence[3].head->t1_ns, US(95));
	EXPECT_UINT(r.trace->notes, 0);
	EXPECT_INT(read_samples(&r, &x, 2), 0);
	REQUIRE(x.n == 4);
	EXPECT_UINT(x.sample[0].tid, 2);
	EXPECT_UINT(x.sample[1].tid, 1); /* of one instant: as they were written */
	EXPECT_UINT(x.sample[1].cpu_ns, 5);
	EXPECT_UINT(x.sample[2].tid, 2);
	EXPECT_INT(x.sample[3].t_ns, US(50));
	EXPECT_STR(wire_strtab_get(s->strings, x.sample[3].stack, NULL),
		   "load\tdata.py\t12\nstep\ttrain.py\t3");
	EXPECT_INT(read_batches(&r, &x, 1), 0);
	REQUIRE(x.n == 2);
	EXPECT_UINT(x.batch[0].what, WIRE_BATCH_FETCH);
	EXPECT_STR(wire_strtab_get(s->strings, x.batch[1].text, NULL), "workers=2");
	EXPECT_INT(read_batches(&r, &x, 0), -EINVAL);
	EXPECT_UINT(x.n, 0);
	EXPECT_INT(read_samples(&r, &x, 1), -EINVAL);
	read_end(&x);
	t_run_end(&r);
}

/* The engine's sums are those of a run without evidence. */
static void test_engine_undisturbed(void)
{
	struct t_run with, without;
	struct t_proc p;

	make_run(&with, true);
	t_analyse(&with, ANA_WINDOW_JOB);
	t_run_begin(&without);
	t_proc_begin(&without, &p, 10, 0, US(0));
	t_launch(&p, US(10), US(20), US(90), 1);
	t_proc_end(&p, US(400), true);
	t_analyse(&without, ANA_WINDOW_JOB);
	EXPECT_UINT(with.result->gpus, 1);
	EXPECT_INT(with.result->gpu[0].held_ns, without.result->gpu[0].held_ns);
	EXPECT_INT(with.result->gpu[0].busy_ns, without.result->gpu[0].busy_ns);
	t_run_end(&with);
	t_run_end(&without);
}

/* A look at the host is a sign of life of a process that never said good-bye. */
static void test_cut(void)
{
	struct t_run r;

	make_run(&r, false);
	open_run(&r);
	REQUIRE(r.trace->stream[0].holes == 1);
	EXPECT_INT(r.trace->stream[0].hole[0].end_ns, US(95));
	t_run_end(&r);
}

static void reseal(uint8_t *frame, const struct wire_frame *f)
{
	size_t payload = (size_t)wire_frame_bytes(f) - WIRE_FRAME_HEADER_BYTES;
	struct wire_frame made = *f;

	made.crc = wire_crc32c(0, frame + WIRE_FRAME_HEADER_BYTES, payload);
	wire_frame_header_put(&made, frame);
}

/* Changes one byte of the first frame of that type, and makes its checksums good. */
static void hurt(struct t_run *r, uint16_t type, size_t at, uint8_t value)
{
	static uint8_t bytes[1 << 16];
	size_t n, pos = 0, skip;
	struct wire_frame f;
	char path[300];
	FILE *file;

	snprintf(path, sizeof(path), "%s/1.gst", r->dir);
	REQUIRE(file = fopen(path, "r+b"));
	n = fread(bytes, 1, sizeof(bytes), file);
	while (wire_frame_scan(bytes + pos, n - pos, true, &f, &skip) == WIRE_SCAN_FRAME) {
		pos += skip;
		if (f.type == type)
			break;
		pos += wire_frame_bytes(&f);
	}
	REQUIRE(f.type == type);
	bytes[pos + at] = value;
	reseal(bytes + pos, &f);
	rewind(file);
	REQUIRE(fwrite(bytes, 1, n, file) == n && !fclose(file));
}

static void test_later_kind(void)
{
	struct t_run r;

	make_run(&r, true);
	hurt(&r, WIRE_FRAME_SAMPLES, AT_KIND, 200);
	hurt(&r, WIRE_FRAME_WORKERS, AT_KIND, 201);
	open_run(&r);
	EXPECT_UINT(r.trace->stream[0].evidences, 2);
	EXPECT_UINT(r.trace->stream[0].blocks, 2);
	EXPECT_UINT(r.trace->stream[0].holes, 0);
	EXPECT_UINT(r.trace->notes, 0);
	t_run_end(&r);
}

/* A head that lies about its rows, and one that cannot be. */
static void test_damage(void)
{
	struct read x = { .scratch = wire_scratch_new() };
	struct t_run r;

	make_run(&r, true);
	hurt(&r, WIRE_FRAME_SAMPLES, WIRE_FRAME_HEADER_BYTES + 32, 99); /* string_max */
	hurt(&r, WIRE_FRAME_WORKERS, WIRE_FRAME_HEADER_BYTES + 4, 0); /* count */
	open_run(&r);
	REQUIRE(r.trace->stream[0].evidences == 3);
	EXPECT_INT(read_samples(&r, &x, 0), -EBADMSG);
	EXPECT_UINT(x.n, 0);
	EXPECT_INT(read_samples(&r, &x, 1), 0);
	EXPECT_UINT(r.trace->notes, 1);
	read_end(&x);
	t_run_end(&r);
}

int main(void)
{
	return RUN(test_found, test_engine_undisturbed, test_cut, test_later_kind, test_damage);
}
