/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine over any run. The first byte says how: bit 0 makes checksums good first, bit 1 takes
 * window device, bit 2 streams imports, bit 3 makes an import of what bit 4 builds: a run out of
 * events that are the other bytes as they are. Whatever they say, the classes must sum to the held
 * time, and busy, idle, empty and queued time must add up.
 */
#include "fuzz.h"

#include <inttypes.h>
#include <sys/mman.h>
#include "harness.h"
#include "analysis/ledger.h"
#include "trace.h"
#include "unit/events.h"
#include "wire/crc32c.h"
#include "wire/encoder.h"
#include "wire/session.pb-c.h"

#define EVENTS 60

static void put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Good checksums for everything that begins with the magic. */
static void seal(uint8_t *data, size_t len)
{
	size_t at;

	for (at = 0; at + WIRE_FRAME_HEADER_BYTES <= len; at++) {
		uint8_t *p = data + at;
		uint64_t payload;

		if (memcmp(p, WIRE_FRAME_MAGIC, 4))
			continue;
		payload = (uint64_t)get32(p + 12) + get32(p + 48);
		if (payload <= len - at - WIRE_FRAME_HEADER_BYTES)
			put32(p + 56, wire_crc32c(0, p + WIRE_FRAME_HEADER_BYTES, payload));
		put32(p + 60, wire_crc32c(0, p, 60));
	}
}

static void check_gpu(const struct ana_result *r, size_t i)
{
	const struct ana_gpu *g = &r->gpu[i];
	__int128 sum = 0;
	int c;

	for (c = 0; c < ANA_CLASSES; c++) {
		if (g->classes[c] < 0)
			abort();
		sum += g->classes[c];
	}
	if (sum != g->held_ns || g->busy_ns + g->idle_ns != g->span_ns ||
	    g->empty_ns + g->queued_ns != g->idle_ns)
		abort();
}

static void analyse(const char *path, uint8_t how)
{
	struct ana_options o = {
		.window = how & 2 ? ANA_WINDOW_DEVICE : ANA_WINDOW_JOB,
		.threads = 1,
		.timeline_buckets = 20,
		.top_gaps = 3,
		.exact_calls = how & 4 ? 1 : 0,
	};
	struct view_trace *t;
	struct ana_result *r;
	const char *why;
	size_t i;

	if (view_trace_open(&t, path, &why))
		return;
	if (!ana_run(t, &o, &r)) {
		for (i = 0; i < r->gpus; i++)
			check_gpu(r, i);
		ana_result_free(r);
	}
	view_trace_close(t);
}

struct maker {
	struct wire_encoder *e;
	struct wire_strtab *names;
	struct wire_buf out;
};

static void put_hello(struct maker *m, bool import)
{
	uint8_t uuid[16] = { 7 };
	Wire__Hello hello = WIRE__HELLO__INIT;
	Wire__Import im = WIRE__IMPORT__INIT;
	Wire__Device device = WIRE__DEVICE__INIT, *devices[1] = { &device };

	device.uuid.data = uuid;
	device.uuid.len = sizeof(uuid);
	device.context_ns = 1000;
	im.kind = (char *)"kineto";
	im.window_end = 3000000000;
	hello.pid = 5;
	hello.process_start_ns = 1000;
	hello.n_devices = 1;
	hello.devices = devices;
	hello.import = import ? &im : NULL;
	REQUIRE(!wire_encoder_message(m->e, WIRE_FRAME_HELLO, &hello.base, 1, &m->out));
}

static void put_loss(struct maker *m)
{
	Wire__LossSpan span = WIRE__LOSS_SPAN__INIT, *spans[1] = { &span };
	Wire__Loss loss = WIRE__LOSS__INIT;

	span.reason = WIRE__LOSS_REASON__LOSS_BAD_STAMP;
	span.start_ns = 5000;
	span.end_ns = 900000;
	span.correlation = 3;
	span.stream = 7;
	loss.n_spans = 1;
	loss.spans = spans;
	REQUIRE(!wire_encoder_message(m->e, WIRE_FRAME_LOSS, &loss.base, 1, &m->out));
}

static void put_names(struct maker *m)
{
	static const char *const names[] = { "cudaLaunchKernel", "cudaGraphLaunch", "ncclKernel",
					     "cudaMalloc", "save", "cudaStreamSynchronize" };
	uint32_t next = 1;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		wire_strtab_intern(m->names, names[i], strlen(names[i]));
	while (next <= wire_strtab_count(m->names))
		REQUIRE(!wire_encoder_strings(m->e, m->names, next, &next, 1, &m->out));
}

/* The bytes are 64-byte events; what the encoder refuses is left out. */
static void build(const uint8_t *data, size_t len, uint8_t how, struct wire_buf *out)
{
	uint8_t id[16] = { 1, 2, 3 };
	struct maker m = { wire_encoder_new(id, 1), wire_strtab_new(), { 0 } };
	struct wire_event *ev = calloc(len / sizeof(*ev) + 1, sizeof(*ev));
	size_t i, n;
	uint8_t kind;

	REQUIRE(m.e && m.names && ev);
	put_hello(&m, how & 8);
	put_names(&m);
	for (kind = 1; kind < WIRE_KIND_MAX; kind++) {
		for (i = n = 0; i + sizeof(*ev) <= len; i += sizeof(*ev)) {
			memcpy(&ev[n], data + i, sizeof(*ev));
			ev[n].name %= 8;
			n += ev[n].kind == kind;
		}
		if (n)
			wire_encoder_block(m.e, ev, n, NULL, 1, &m.out);
	}
	put_loss(&m);
	free(ev);
	wire_encoder_free(m.e);
	wire_strtab_free(m.names);
	*out = m.out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct wire_buf b = { 0 };
	char path[64];
	int fd;

	if (!len)
		return 0;
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	REQUIRE(fd >= 0);
	if (data[0] & 16)
		build(data + 1, len - 1, data[0], &b);
	else
		REQUIRE(!wire_buf_append(&b, data + 1, len - 1));
	if (data[0] & 1)
		seal(b.data, b.len);
	REQUIRE(write(fd, b.data, b.len) == (ssize_t)b.len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	analyse(path, data[0]);
	wire_buf_fini(&b);
	close(fd);
	return 0;
}

/* --- good inputs: a process that is alive, and one that was imported --- */

static void make_events(struct wire_event *ev, uint8_t kind, uint64_t seed)
{
	static const uint8_t ops[WIRE_KIND_MAX] = { 0, WIRE_OP_KERNEL, WIRE_DOMAIN_RUNTIME,
						    WIRE_SYNC_STREAM_WAIT, WIRE_RANGE_LOADER };
	bool device = kind == WIRE_KIND_OP || kind == WIRE_KIND_SYNC;
	size_t i;

	memset(ev, 0, EVENTS * sizeof(*ev));
	for (i = 0; i < EVENTS; i++) {
		ev[i].kind = kind;
		ev[i].start_ns = (int64_t)(i * 50000 + t_random(&seed) % 20000);
		ev[i].end_ns = ev[i].start_ns + (int64_t)(t_random(&seed) % 60000);
		ev[i].corr = kind == WIRE_KIND_OP || kind == WIRE_KIND_API ? i + 1 : 0;
		ev[i].name = (uint32_t)(1 + i % 6);
		ev[i].op = ops[kind];
		ev[i].stream = device ? 7 : 0;
		ev[i].context = device ? 1 : 0;
		ev[i].tid = device ? 0 : 9;
	}
}

/* One with bit 4 for each other combination of bits, and as many files. */
size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	struct wire_event ev[(WIRE_KIND_MAX - 1) * EVENTS];
	struct wire_buf b = { 0 }, file;
	uint8_t kind, how = (uint8_t)number;

	if (number >= 32)
		return 0;
	for (kind = 1; kind < WIRE_KIND_MAX; kind++)
		make_events(&ev[(kind - 1) * EVENTS], kind, number + kind);
	REQUIRE(!wire_buf_append(&b, &how, 1));
	if (number & 16) {
		REQUIRE(!wire_buf_append(&b, ev, sizeof(ev)));
	} else {
		build((const uint8_t *)ev, sizeof(ev), how, &file);
		REQUIRE(!wire_buf_append(&b, file.data, file.len));
		wire_buf_fini(&file);
	}
	*data = b.data;
	return b.len;
}
