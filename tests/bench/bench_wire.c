/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the format costs: time to make columns, to compress and to decode, and bytes on disk, for
 * made-up training steps and for public traces where they are there.
 *
 *	bench_wire [--level N] [--block EVENTS] [FILE...]
 *
 * FILE is a flat file of dump_events.py; without one, those of ../shared/traces are dumped first
 * (skipped with a message if absent). Best of several rounds, one core.
 */
#include "cost.h"

#include <getopt.h>
#include <glob.h>
#include "unit/wire/events.h"
#include "wire/encoder.h"
#include "wire/reader.h"

#define ROUNDS (getenv("GS_BIG") ? 7 : 3)
#define NS_LIMIT 200000000 /* a round stops early after so long */

struct opts {
	int level;
	size_t block;
};

struct result {
	double columns_ns, frame_ns, decode_ns, load_ns; /* per event */
	double raw, stored; /* bytes per event */
};

static double better(double best, int64_t ns, size_t n)
{
	double per = (double)ns / (double)n;

	return best == 0 || per < best ? per : best;
}

static size_t part(const struct opts *o, size_t n, size_t at)
{
	return n - at < o->block ? n - at : o->block;
}

static void time_columns(const struct opts *o, const struct wire_event *ev, size_t n,
			 struct result *r)
{
	struct wire_event *back = malloc(o->block * sizeof(*back));
	struct wire_buf out = { 0 };
	int64_t encode = 0, decode = 0;
	size_t at, len = 0, raw = 0;

	memset(back, 0, o->block * sizeof(*back));
	for (at = 0; at < n; at += len) {
		int64_t t0 = b_now_ns(), t1;

		len = part(o, n, at);
		out.len = 0;
		REQUIRE(!wire_block_encode(ev->kind, ev + at, len, &out));
		t1 = b_now_ns();
		REQUIRE(!wire_block_decode(ev->kind, (uint32_t)len, out.data, out.len, back, NULL));
		encode += t1 - t0;
		decode += b_now_ns() - t1;
		raw += out.len;
		REQUIRE(!memcmp(back, ev + at, len * sizeof(*ev)));
	}
	r->columns_ns = better(r->columns_ns, encode, n);
	r->decode_ns = better(r->decode_ns, decode, n);
	r->raw = (double)raw / (double)n;
	wire_buf_fini(&out);
	free(back);
}

static void time_frames(const struct opts *o, const struct wire_event *ev, size_t n,
			struct result *r, struct wire_buf *out)
{
	static const uint8_t stream[WIRE_STREAM_ID_BYTES] = "bench";
	struct wire_encoder *e = wire_encoder_new(stream, o->level);
	int64_t t0, first = 0;
	size_t at, len;

	REQUIRE(e);
	/* The first block makes the scratch memory; a stream has many. */
	out->len = 0;
	len = part(o, n, 0);
	REQUIRE(!wire_encoder_block(e, ev, len, NULL, 0, out));
	out->len = 0;
	t0 = b_now_ns();
	for (at = 0; at < n; at += len) {
		len = part(o, n, at);
		REQUIRE(!wire_encoder_block(e, ev + at, len, NULL, 0, out));
	}
	r->frame_ns = better(r->frame_ns, b_now_ns() - t0 - first, n);
	r->stored = (double)out->len / (double)n;
	wire_encoder_free(e);
}

static void time_file(const struct wire_buf *b, size_t n, struct result *r)
{
	char dir[256], path[300];
	struct wire_scratch *s = wire_scratch_new();
	struct wire_event *ev = NULL;
	struct wire_block_head head;
	struct wire_file *f;
	struct wire_entry e;
	size_t room = 0;
	int64_t t0;
	FILE *out;

	t_tempdir(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/a.gst", dir);
	out = fopen(path, "w");
	REQUIRE(out && fwrite(b->data, 1, b->len, out) == b->len);
	fclose(out);
	t0 = b_now_ns();
	REQUIRE(!wire_file_open(&f, path));
	while (wire_file_next(f, &e) == 1)
		REQUIRE(!wire_file_block(f, s, &e, &head, &ev, &room, NULL));
	r->load_ns = better(r->load_ns, b_now_ns() - t0, n);
	wire_file_close(f);
	wire_scratch_free(s);
	free(ev);
	unlink(path);
	rmdir(dir);
}

static void measure(const struct opts *o, const char *what, const struct wire_event *ev, size_t n)
{
	struct result r = { 0 };
	struct wire_buf out = { 0 };
	int64_t begin = b_now_ns();
	int round;

	if (!n)
		return;
	for (round = 0; round < ROUNDS && (!round || b_now_ns() - begin < NS_LIMIT * 5); round++) {
		time_columns(o, ev, n, &r);
		time_frames(o, ev, n, &r, &out);
		time_file(&out, n, &r);
	}
	printf("%-44s %8zu %6.1f %6.1f %6.1f %7.1f %7.1f %6.2f %6.2f\n", what, n, r.columns_ns,
	       r.frame_ns - r.columns_ns, r.frame_ns, 1000 / r.decode_ns, 1000 / r.load_ns, r.raw,
	       r.stored);
	wire_buf_fini(&out);
}

static void made_up(const struct opts *o)
{
	size_t n = 1 << 18, i;
	struct wire_event *op = malloc(n * sizeof(*op)), *api = malloc(n * sizeof(*api));
	uint32_t streams;

	for (streams = 1; streams <= 4; streams += 3) {
		struct t_job j = t_job_begin(1, streams), host = t_job_begin(2, 1);
		char what[64];

		for (i = 0; i < n; i++) {
			op[i] = t_job_op(&j);
			api[i] = t_job_api(&host, &op[i]);
		}
		snprintf(what, sizeof(what), "made up, %u stream%s: ops", streams,
			 streams > 1 ? "s" : "");
		measure(o, what, op, n);
		if (streams == 1)
			measure(o, "made up: launches", api, n);
	}
	free(op);
	free(api);
}

static void trace(const struct opts *o, const char *path)
{
	static const char *const kinds[] = { "", "ops", "launches", "syncs", "ranges" };
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	FILE *f = fopen(path, "r");
	struct wire_event *ev;
	char what[64];
	size_t n, at, end;

	if (!f) {
		printf("%s: cannot be opened\n", path);
		return;
	}
	fseek(f, 0, SEEK_END);
	n = (size_t)ftell(f) / sizeof(*ev);
	rewind(f);
	ev = malloc(n * sizeof(*ev) + 1);
	REQUIRE(fread(ev, sizeof(*ev), n, f) == n);
	fclose(f);
	for (at = 0; at < n; at = end) {
		for (end = at; end < n && ev[end].kind == ev[at].kind; end++)
			;
		snprintf(what, sizeof(what), "%.30s: %s", name,
			 ev[at].kind < WIRE_KIND_MAX ? kinds[ev[at].kind] : "?");
		measure(o, what, ev + at, end - at);
	}
	free(ev);
}

static void shared_traces(const struct opts *o)
{
	char dir[256], command[1024];
	glob_t found;
	size_t i;

	if (glob(TESTS_DIR "/../../shared/traces/*.gz", 0, NULL, &found)) {
		printf("no ../shared/traces here: public traces skipped\n");
		return;
	}
	t_tempdir(dir, sizeof(dir));
	for (i = 0; i < found.gl_pathc; i++) {
		const char *name = strrchr(found.gl_pathv[i], '/') + 1;
		char path[600];

		snprintf(path, sizeof(path), "%s/%.20s", dir, name);
		snprintf(command, sizeof(command),
			 "python3 '" TESTS_DIR "/bench/dump_events.py' '%s' '%s'",
			 found.gl_pathv[i], path);
		if (system(command))
			printf("%s: not dumped\n", name);
		else
			trace(o, path);
		unlink(path);
	}
	rmdir(dir);
	globfree(&found);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "level", required_argument, NULL, 'l' },
		{ "block", required_argument, NULL, 'b' },
		{ 0 },
	};
	struct opts o = { .level = 3, .block = 16384 };
	int c;

	while ((c = getopt_long(argc, argv, "l:b:", options, NULL)) != -1) {
		if (c == 'l')
			o.level = atoi(optarg);
		else if (c == 'b')
			o.block = strtoul(optarg, NULL, 0);
		else
			return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("zstd level %d, blocks of %zu events; ns per event, M events/s, bytes per event\n",
	       o.level, o.block);
	printf("%-44s %8s %6s %6s %6s %7s %7s %6s %6s\n", "", "events", "column", "zstd", "both",
	       "M/s dec", "M/s file", "raw", "stored");
	if (optind == argc) {
		made_up(&o);
		shared_traces(&o);
	}
	for (; optind < argc; optind++)
		trace(&o, argv[optind]);
	return 0;
}
