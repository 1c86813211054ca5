/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an analysis has kept of an earlier one (.digest-parts), which is as hostile as all of a run.
 * Bit 0 of the first byte takes the others as the file, with the right head by bit 1 and right
 * sums by bit 2; else they are what was kept of a component, or of the first amid its walk, which
 * the other bits choose, of just this trace. It may be wrong, but all that is made of it can be
 * made.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "harness.h"
#include "base/files.h"
#include "cost/rates.h"
#include "fleet/digest.h"
#include "made/made.h"
#include "summary/parts_file.h"
#include "trace/trace.h"
#include "wire/bytes.h"

#define COMPONENTS 3
#define KINDS (COMPONENTS + 1) /* the last: the first of them, amid its walk */
#define FILE_HEAD 32
#define RECORD_HEAD 24
#define AT_LEN 8
#define AT_CRC 16
#define IDENTITY 8 /* of the trace, before all that was kept */
#define IDENTITY_AMID 72
#define EVERY 100 /* operations after which a walk is kept */

static char run[200];
static struct view_trace *trace;
static struct part {
	uint8_t *bytes;
	size_t len;
} good[KINDS], given[KINDS];
static uint8_t *file; /* as it is kept */
static size_t file_len;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void clean_up(void)
{
	view_trace_close(trace);
	for (int i = 0; i < KINDS; i++)
		free(good[i].bytes);
	free(file);
	nftw(run, remove_one, 4, FTW_DEPTH | FTW_PHYS);
}

/* KINDS: none. */
static uint32_t kind_of(uint32_t component)
{
	if (component == ANA_KEPT_AMID)
		return COMPONENTS;
	return component < COMPONENTS ? component : KINDS;
}

static int get(void *arg, uint32_t component, uint8_t **bytes, size_t *len)
{
	const struct part *p = arg;

	component = kind_of(component);
	if (component == KINDS || !p[component].bytes)
		return -1;
	*len = p[component].len;
	*bytes = malloc(*len + 1);
	if (!*bytes)
		return -1;
	memcpy(*bytes, p[component].bytes, *len);
	return 0;
}

static void put(void *arg, uint32_t component, const uint8_t *bytes, size_t len)
{
	struct part *p = arg;

	component = kind_of(component);
	if (p != good || component == KINDS)
		return;
	free(p[component].bytes);
	REQUIRE(p[component].bytes = malloc(len));
	memcpy(p[component].bytes, bytes, len);
	p[component].len = len;
}

static struct ana_result *analyse(const struct ana_keeper *keeper)
{
	struct ana_options o = {
		.threads = 1,
		.timeline_buckets = 20,
		.top_gaps = 3,
		.keeper = keeper,
		.keep_every = EVERY,
	};
	struct ana_result *r;

	return ana_run(trace, &o, &r) ? NULL : r;
}

static void copy(const char *demo, const char *stream)
{
	char from[500], to[500], *bytes;
	size_t len;

	snprintf(from, sizeof(from), TESTS_DIR "/../docs/demo/%s.gst/%s.gst", demo, stream);
	snprintf(to, sizeof(to), "%s/%s.gst", run, stream);
	REQUIRE(!base_file_read(from, &bytes, &len) && !base_file_write(to, bytes, len));
	free(bytes);
}

static void kernel(struct made_stream *s, int64_t start, int64_t end, const char *name)
{
	struct wire_event *e = made_event(s, WIRE_KIND_OP, start, end);

	e->op = WIRE_OP_KERNEL;
	e->context = 1;
	e->stream = 7;
	e->corr = (uint64_t)start;
	e->name = made_name(s, name, strlen(name));
	e = made_event(s, WIRE_KIND_API, start - 5000, start - 1000);
	e->op = WIRE_DOMAIN_RUNTIME;
	e->tid = 9;
	e->corr = (uint64_t)start;
	e->name = made_name(s, "cudaLaunchKernel", 16);
}

/* Of two that meet in each step, one of them late now and then. */
static void rank(uint8_t r)
{
	const int64_t base = INT64_C(1780000000000000000), ms = 1000000;
	uint8_t id[16] = { 3, r };
	struct made_stream s;
	struct made_hello h;
	char path[300];

	snprintf(path, sizeof(path), "%s/%d.gst", run, r);
	made_open(&s, path, id);
	made_hello_init(&h, "here", 100 + r, base, "NVIDIA H100 80GB HBM3");
	h.uuid[0] = (uint8_t)(10 + r);
	h.device.context_ns = base;
	h.m.role = (char *)"trainer";
	h.m.rank = r;
	h.m.has_rank = true;
	h.m.world_size = 2;
	made_message(&s, WIRE_FRAME_HELLO, &h.m.base, base);
	for (int64_t k = 1; k < 40; k++) {
		int64_t t = base + k * 10 * ms + (k % 7 == r ? 3 * ms : r * 1000);

		kernel(&s, t, t + 2 * ms, "gemm");
		kernel(&s, t + 2 * ms + 1000, base + k * 10 * ms + 7 * ms,
		       "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
	}
	made_sort(&s, WIRE_KIND_OP);
	made_flush(&s, base + 420 * ms);
	made_bye(&s, base + 420 * ms, base + 420 * ms);
	made_close(&s);
}

static void keep_file(void)
{
	struct view_parts_file *p = view_parts_file_open(run);
	char path[300];

	REQUIRE(p);
	for (uint32_t i = 0; i < COMPONENTS; i++) {
		const struct ana_keeper *k = view_parts_file_keeper(p);

		k->put(k->arg, i, good[i].bytes, good[i].len);
	}
	view_parts_file_close(p);
	snprintf(path, sizeof(path), "%s/" VIEW_PARTS_FILE, run);
	REQUIRE(!base_file_read(path, (char **)&file, &file_len) && file_len > FILE_HEAD);
}

/* A program with samples and loaders, and two ranks that meet. */
static void begin(void)
{
	const struct ana_keeper keeper = { get, put, good };
	const char *why;

	if (run[0])
		return;
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 1);
	t_tempdir(run, sizeof(run));
	copy("storage", "5e192515a8630cfa6ba9c0d5c72f1ab0");
	rank(0);
	rank(1);
	REQUIRE(!view_trace_open(&trace, run, &why));
	atexit(clean_up);
	ana_result_free(analyse(&keeper));
	REQUIRE(good[0].bytes && good[1].bytes && good[2].bytes && good[COMPONENTS].bytes);
	keep_file();
}

/* All that people and machines get to see of it. */
static void show(struct ana_result *r)
{
	static struct fleet_digest d;
	struct view_summary_options so = { .window = ANA_WINDOW_JOB };
	struct view_rate_options ro = { .price = "2" };
	struct view_rate *rate = NULL;
	struct view_summary *s = NULL;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	REQUIRE(f && !view_rates_find(r, trace, &ro, &rate));
	REQUIRE(!view_summary_make(&s, r, trace, rate, &so));
	view_summary_write(s, f);
	if (fclose(f) || !len)
		abort();
	free(text);
	fleet_digest_make(&d, s, NULL, 1);
	text = fleet_digest_write(&d);
	if (!text || strlen(text) > FLEET_DIGEST_BYTES_MAX)
		abort();
	free(text);
	view_summary_free(s);
}

static size_t identity_of(unsigned int kind)
{
	return kind == COMPONENTS ? IDENTITY_AMID : IDENTITY;
}

static void as_part(const uint8_t *data, size_t len, unsigned int kind)
{
	const struct ana_keeper keeper = { get, put, given };
	struct part *p = &given[kind];
	size_t identity = identity_of(kind);
	struct ana_result *r;

	memcpy(given, good, sizeof(given));
	if (kind == COMPONENTS)
		given[0].bytes = NULL; /* it is walked */
	p->len = identity + len;
	REQUIRE(p->bytes = malloc(p->len));
	memcpy(p->bytes, good[kind].bytes, identity);
	memcpy(p->bytes + identity, data, len);
	r = analyse(&keeper);
	if (r)
		show(r);
	free(p->bytes);
}

/* Makes right what keeps the rest from being looked at. */
static void seal(uint8_t *bytes, size_t len, unsigned int how)
{
	if (how & 2 && len >= FILE_HEAD)
		memcpy(bytes, file, FILE_HEAD);
	for (size_t at = FILE_HEAD; how & 4 && at + RECORD_HEAD <= len;) {
		uint64_t n = wire_get64(bytes + at + AT_LEN);
		uint32_t crc = wire_crc32c(0, bytes + at, AT_CRC);

		if (n > len - at - RECORD_HEAD)
			return;
		crc = wire_crc32c(crc, bytes + at + RECORD_HEAD, n);
		wire_put32(bytes + at + AT_CRC, crc);
		at += RECORD_HEAD + n;
	}
}

static void as_file(const uint8_t *data, size_t len, unsigned int how)
{
	uint8_t *bytes = malloc(len + 1), *part;
	struct view_parts_file *p;
	char path[300];
	size_t n;

	REQUIRE(bytes);
	memcpy(bytes, data, len);
	seal(bytes, len, how);
	snprintf(path, sizeof(path), "%s/" VIEW_PARTS_FILE, run);
	REQUIRE(!base_file_write(path, (char *)bytes, len));
	p = view_parts_file_open(run);
	if (!p)
		abort(); /* begun anew, whatever is there */
	for (uint32_t i = 0; i < COMPONENTS + 1; i++) {
		const struct ana_keeper *k = view_parts_file_keeper(p);

		if (!k->get(k->arg, i, &part, &n)) {
			if (n > len)
				abort();
			free(part);
		}
		k->put(k->arg, i, (const uint8_t *)"more", 4);
		if (k->get(k->arg, i, &part, &n) || n != 4 || memcmp(part, "more", 4) != 0)
			abort();
		free(part);
	}
	view_parts_file_close(p);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (!len)
		return 0;
	begin();
	if (data[0] & 1)
		as_file(data + 1, len - 1, data[0]);
	else
		as_part(data + 1, len - 1, data[0] / 2u % KINDS);
	return 0;
}

/* What was kept, of each component, and the whole file. */
size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	const struct part *p = &good[number % KINDS];
	size_t len;

	begin();
	if (number > 2 * KINDS)
		return 0;
	len = number < KINDS ? p->len - identity_of(number) : file_len;
	REQUIRE(*data = malloc(len + 1));
	if (number < KINDS)
		memcpy(*data + 1, p->bytes + identity_of(number), len);
	else
		memcpy(*data + 1, file, len);
	(*data)[0] = (uint8_t)(number < KINDS ? 2 * number : 1 + 2 * (number - 1));
	return len + 1;
}
