/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What evidence costs in a stream: bytes on disk and time to make and to read, for each sample and
 * each batch, by how many rows a frame has. Made-up rows: one trainer, eight workers, a new stack
 * every third look. Best of several rounds, one core.
 */
#include "cost.h"

#include "unit/wire/evidence.h"
#include "wire/encoder.h"
#include "wire/reader.h"

#define ROWS 50000u
#define ROUNDS 5

static struct wire_sample sample[ROWS];
static struct wire_batch batch[ROWS];

struct result {
	double bytes, encode_ns, decode_ns; /* per row */
};

static double better(double best, int64_t ns)
{
	double per = (double)ns / ROWS;

	return best == 0 || per < best ? per : best;
}

static void write_frames(bool batches, size_t rows, struct wire_buf *out, struct result *r)
{
	struct wire_encoder *e = wire_encoder_new((const uint8_t *)"stream to time..", 3);
	int64_t t0 = b_now_ns();
	size_t at, n;

	REQUIRE(e);
	for (at = 0; at < ROWS; at += n) {
		n = ROWS - at < rows ? ROWS - at : rows;
		REQUIRE(!(batches ? wire_encoder_batches(e, batch + at, n, 0, out)
				  : wire_encoder_samples(e, sample + at, n, 0, out)));
	}
	r->encode_ns = better(r->encode_ns, b_now_ns() - t0);
	r->bytes = (double)out->len / ROWS;
	wire_encoder_free(e);
}

static void read_frames(bool batches, const char *path, struct result *r)
{
	struct wire_scratch *scratch = wire_scratch_new();
	size_t got = 0, sample_room = 0, batch_room = 0;
	struct wire_sample *s = NULL;
	struct wire_batch *b = NULL;
	struct wire_block_head h;
	struct wire_file *f;
	struct wire_entry e;
	int64_t t0 = b_now_ns();

	REQUIRE(!wire_file_open(&f, path));
	while (wire_file_next(f, &e) == 1) {
		REQUIRE(!(batches ? wire_file_batches(f, scratch, &e, &h, &b, &batch_room)
				  : wire_file_samples(f, scratch, &e, &h, &s, &sample_room)));
		got += h.count;
	}
	r->decode_ns = better(r->decode_ns, b_now_ns() - t0);
	REQUIRE(got == ROWS);
	wire_file_close(f);
	wire_scratch_free(scratch);
	free(b);
	free(s);
}

static void time_rows(bool batches, size_t rows)
{
	char dir[256], path[300];
	struct wire_buf out = { 0 };
	struct result r = { 0 };
	FILE *f;
	int i;

	t_tempdir(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/a.gst", dir);
	for (i = 0; i < ROUNDS; i++) {
		out.len = 0;
		write_frames(batches, rows, &out, &r);
	}
	f = fopen(path, "w");
	REQUIRE(f && fwrite(out.data, 1, out.len, f) == out.len && !fclose(f));
	for (i = 0; i < ROUNDS; i++)
		read_frames(batches, path, &r);
	printf("%-8s %6zu a frame: %6.1f bytes, encode %6.0f ns, decode %6.0f ns each\n",
	       batches ? "batches" : "samples", rows, r.bytes, r.encode_ns, r.decode_ns);
	unlink(path);
	rmdir(dir);
	wire_buf_fini(&out);
}

int main(void)
{
	static const size_t rows[] = { 9, 90, 450, 5000, ROWS };
	struct t_host one = t_host_begin(1), two = one;
	size_t i;

	for (i = 0; i < ROWS; i++) {
		sample[i] = t_host_sample(&one);
		batch[i] = t_host_batch(&two);
	}
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		time_rows(false, rows[i]);
		time_rows(true, rows[i]);
	}
	return 0;
}
