/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine over any run. The first byte says how: bit 0 makes checksums good first, bit 1 takes
 * window device, and what it builds has a meter's word, bit 2 streams imports, bit 3 makes an
 * import of what bit 4 builds: a run out of events that are the other bytes as they are, or, with
 * bit 5, a third of them each events, samples and batches; with bit 6 it has no end; bit 7 asks for
 * no series, and there is a meter's word, too. Whatever they say, the classes must sum to the held
 * time, busy, idle, empty and queued time must add up, no class may have more hotspots than time,
 * and the page's data block stays small.
 */
#include "fuzz.h"

#include <inttypes.h>
#include <sys/mman.h>
#include "harness.h"
#include "analysis/series/series.h"
#include "report/data/data.h"
#include "trace/trace.h"
#include "unit/wire/events.h"
#include "wire/encoder.h"
#include "wire/session.pb-c.h"

#define EVENTS 60
#define NAMES 10 /* ids that events and rows may name; 9 do not exist */

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

/* Hotspots of a class sum to at most the class (which is cut at INT64_MAX over several GPUs). */
static void check_sites(const struct ana_result *r)
{
	__int128 sum[ANA_CLASSES] = { 0 };
	size_t i;
	int c;

	for (i = 0; i < r->hotspots; i++) {
		if (r->hotspot[i].ns < 0 || (unsigned int)r->hotspot[i].class >= ANA_CLASSES)
			abort();
		sum[r->hotspot[i].class] += r->hotspot[i].ns;
	}
	for (c = 0; c < ANA_CLASSES; c++)
		if (sum[c] > r->classes[c] && r->classes[c] < INT64_MAX)
			abort();
}

static void check_meters(const struct ana_metered *m)
{
	if (m->busy_ns < 0 || m->gpm_ns < 0 || m->busy_ns > m->known_ns || m->gpm_ns > m->known_ns)
		abort();
}

/* Its parts sum to the whole, each within its range. */
static void check_estimate(const struct ana_estimated *e)
{
	__int128 sum = (__int128)e->busy.ns + e->unknown_ns;

	for (int c = 0; c < ANA_CLASSES; c++) {
		const struct ana_estimated_part *p = &e->classes[c];

		sum += p->ns;
		if (p->ns < 0 || p->low_ns < 0 || p->low_ns > p->ns || p->high_ns < p->ns)
			abort();
	}
	if ((sum != e->of_ns && e->of_ns < INT64_MAX / 4) || e->unknown_ns < 0 || e->busy.ns < 0)
		abort();
}

/* The page's data block of any trace is small, and its stacks are within their classes' time. */
static void check_series(struct ana_result *r)
{
	struct view_summary s = { .result = r };
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return;
	view_data_write(&s, f);
	if (!fclose(f) && (!len || len > VIEW_DATA_BYTES_MAX || memchr(text, '<', len)))
		abort();
	free(text);
	if (r->series && r->series->flame_sampled_ns > r->series->flame_total_ns)
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
		.series = !(how & 128),
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
		check_sites(r);
		check_series(r);
		check_meters(&r->quality.metered);
		check_estimate(&r->estimated);
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

/* The bytes are what a meter says, of times that are said to be unrecorded. */
static void put_meter(struct maker *m, const uint8_t *data, size_t len)
{
	struct {
		int64_t t_ns, lost_ns, lost_end_ns;
		uint64_t age_us, span_us;
		uint32_t busy, known, source, ordinal;
	} x;
	Wire__LossSpan span = WIRE__LOSS_SPAN__INIT, *spans[1] = { &span };
	Wire__Loss loss = WIRE__LOSS__INIT;
	Wire__PulseMeter meter = WIRE__PULSE_METER__INIT;
	Wire__PulseDevice device = WIRE__PULSE_DEVICE__INIT, *devices[1] = { &device };
	Wire__Pulse pulse = WIRE__PULSE__INIT;

	if (len < sizeof(x))
		return;
	memcpy(&x, data, sizeof(x));
	span.reason = WIRE__LOSS_REASON__LOSS_GOVERNOR;
	span.start_ns = x.lost_ns;
	span.end_ns = x.lost_end_ns;
	loss.n_spans = 1;
	loss.spans = spans;
	REQUIRE(!wire_encoder_message(m->e, WIRE_FRAME_LOSS, &loss.base, 1, &m->out));
	meter.known = x.known;
	meter.age_us = x.age_us;
	meter.span_us = x.span_us;
	meter.busy = x.busy;
	meter.source = x.source;
	device.ordinal = x.ordinal % 2;
	device.meter = &meter;
	pulse.t_ns = pulse.complete_ns = x.t_ns;
	pulse.n_devices = 1;
	pulse.devices = devices;
	REQUIRE(!wire_encoder_message(m->e, WIRE_FRAME_PULSE, &pulse.base, 1, &m->out));
}

/* The process says that all is there, and ends. */
static void put_bye(struct maker *m)
{
	Wire__Pulse pulse = WIRE__PULSE__INIT;
	Wire__Bye bye = WIRE__BYE__INIT;

	pulse.t_ns = pulse.complete_ns = 4000000000;
	bye.t_ns = pulse.t_ns;
	bye.last = &pulse;
	REQUIRE(!wire_encoder_message(m->e, WIRE_FRAME_BYE, &bye.base, 1, &m->out));
}

static void put_names(struct maker *m)
{
	static const char *const names[] = { "cudaLaunchKernel",
					     "cudaGraphLaunch",
					     "ncclKernel",
					     "cudaMalloc",
					     "save",
					     "cudaStreamSynchronize",
					     "load\td.py\t7\nf\td.py\t9",
					     "workers=2 batch=4" };
	uint32_t next = 1;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		wire_strtab_intern(m->names, names[i], strlen(names[i]));
	while (next <= wire_strtab_count(m->names))
		REQUIRE(!wire_encoder_strings(m->e, m->names, next, &next, 1, &m->out));
}

static void put_samples(struct maker *m, const uint8_t *data, size_t len)
{
	size_t n = len / sizeof(struct wire_sample), i;
	struct wire_sample *s = calloc(n + 1, sizeof(*s));

	REQUIRE(s);
	memcpy(s, data, n * sizeof(*s));
	for (i = 0; i < n; i++) {
		s[i].stack %= NAMES;
		s[i].native %= NAMES;
		s[i].target %= NAMES;
		s[i].fs %= NAMES;
	}
	wire_encoder_samples(m->e, s, n, 1, &m->out);
	free(s);
}

static void put_batches(struct maker *m, const uint8_t *data, size_t len)
{
	size_t n = len / sizeof(struct wire_batch), i;
	struct wire_batch *b = calloc(n + 1, sizeof(*b));

	REQUIRE(b);
	memcpy(b, data, n * sizeof(*b));
	for (i = 0; i < n; i++)
		b[i].text %= NAMES;
	wire_encoder_batches(m->e, b, n, 1, &m->out);
	free(b);
}

/* The bytes are rows as they lie; what the encoder refuses is left out. */
static void build(const uint8_t *data, size_t len, uint8_t how, struct wire_buf *out)
{
	uint8_t id[16] = { 1, 2, 3 };
	struct maker m = { wire_encoder_new(id, 1), wire_strtab_new(), { 0 } };
	struct wire_event *ev = calloc(len / sizeof(*ev) + 1, sizeof(*ev));
	size_t i, n;
	uint8_t kind;

	REQUIRE(m.e && m.names && ev);
	if (how & 32) {
		len /= 3;
		put_samples(&m, data + len, len);
		put_batches(&m, data + 2 * len, len);
	}
	put_hello(&m, how & 8);
	put_names(&m);
	for (kind = 1; kind < WIRE_KIND_MAX; kind++) {
		for (i = n = 0; i + sizeof(*ev) <= len; i += sizeof(*ev)) {
			memcpy(&ev[n], data + i, sizeof(*ev));
			ev[n].name %= NAMES;
			n += ev[n].kind == kind;
		}
		if (n)
			wire_encoder_block(m.e, ev, n, NULL, 1, &m.out);
	}
	put_loss(&m);
	if (how & (2 | 128))
		put_meter(&m, data, len);
	if (!(how & 64))
		put_bye(&m);
	free(ev);
	wire_encoder_free(m.e);
	wire_strtab_free(m.names);
	*out = m.out;
}

size_t fuzz_file(const uint8_t *data, size_t len, uint8_t **file)
{
	struct wire_buf b = { 0 };

	if (!len)
		return 0;
	if (data[0] & 16)
		build(data + 1, len - 1, data[0], &b);
	else
		REQUIRE(!wire_buf_append(&b, data + 1, len - 1));
	if (data[0] & 1)
		fuzz_seal(b.data, b.len);
	*file = b.data;
	return b.len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t *bytes = NULL;
	char path[64];
	int fd;

	if (!len)
		return 0;
	len = fuzz_file(data, len, &bytes);
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	REQUIRE(fd >= 0);
	REQUIRE(write(fd, bytes, len) == (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	analyse(path, data[0]);
	free(bytes);
	close(fd);
	return 0;
}

/* --- good inputs: a process that is alive, and one that was imported --- */

static void make_events(struct wire_event *ev, uint8_t kind, uint64_t seed, int64_t unit)
{
	static const uint8_t ops[WIRE_KIND_MAX] = { 0, WIRE_OP_KERNEL, WIRE_DOMAIN_RUNTIME,
						    WIRE_SYNC_STREAM_WAIT, WIRE_RANGE_LOADER };
	bool device = kind == WIRE_KIND_OP || kind == WIRE_KIND_SYNC;
	size_t i;

	memset(ev, 0, EVENTS * sizeof(*ev));
	for (i = 0; i < EVENTS; i++) {
		ev[i].kind = kind;
		ev[i].start_ns = (int64_t)(i * 50000 + t_random(&seed) % 20000) * unit;
		ev[i].end_ns = ev[i].start_ns + (int64_t)(t_random(&seed) % 60000) * unit;
		ev[i].corr = kind == WIRE_KIND_OP || kind == WIRE_KIND_API ? i + 1 : 0;
		ev[i].name = (uint32_t)(1 + i % 6);
		ev[i].op = ops[kind];
		ev[i].stream = device ? 7 : 0;
		ev[i].context = device ? 1 : 0;
		ev[i].tid = device ? 0 : 9;
	}
}

/* With samples everything takes a thousand times longer: they come every 42 ms. */
#define UNIT INT64_C(1000000)
#define PART ((WIRE_KIND_MAX - 1) * EVENTS * sizeof(struct wire_event))

/* Threads that wait for everything a thread can wait for, within the time of the events. */
static void make_samples(struct wire_sample *s, uint64_t seed)
{
	size_t n = PART / sizeof(*s), i;

	for (i = 0; i < n; i++) {
		uint64_t r = t_random(&seed);

		s[i].t_ns = (int64_t)(i * 14 * UNIT);
		s[i].period_ns = 42 * UNIT;
		s[i].cpu_ns = i * 10 * UNIT;
		s[i].delay_ns = i * 1 * UNIT;
		s[i].pid = 5 + i % 3;
		s[i].tid = i % 3 ? 5 + i % 3 : 9;
		s[i].stack = 7;
		s[i].target = s[i].fs = r >> 20 & 1 ? 5 : 0;
		s[i].role = i % 3 ? WIRE_ROLE_WORKER : WIRE_ROLE_SUBMITTER;
		s[i].wait = r >> 24 & 15;
		s[i].state = s[i].wait ? WIRE_STATE_SLEEPING : WIRE_STATE_RUNNING;
		s[i].flags = r >> 32 & r >> 40 & 0x7f;
	}
}

static void make_batches(struct wire_batch *b, uint64_t seed)
{
	size_t n = PART / sizeof(*b), i;

	for (i = 0; i < n; i++) {
		b[i].start_ns = (int64_t)(i * 18 * UNIT);
		b[i].end_ns = b[i].start_ns + (int64_t)(t_random(&seed) % (60 * UNIT));
		b[i].what = i ? (uint8_t)(WIRE_BATCH_FETCH + i % 3) : WIRE_BATCH_OPEN;
		b[i].batch = i / 3;
		b[i].loader = 1;
		b[i].pid = 5;
		b[i].tid = 9;
		b[i].cpu_ns = 9 * UNIT;
		b[i].samples = 4;
		b[i].text = i ? 0 : 8;
	}
}

/* Raw rows with bit 4, a file without, for each other combination of bits. */
size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	uint8_t *part = calloc(3, PART), kind, how = (uint8_t)number;
	struct wire_event *ev = (void *)part;
	struct wire_buf b = { 0 }, file;

	*data = NULL;
	if (number >= 64) {
		free(part);
		return 0;
	}
	for (kind = 1; kind < WIRE_KIND_MAX; kind++)
		make_events(&ev[(kind - 1) * EVENTS], kind, number + kind, number & 32 ? 1000 : 1);
	make_samples((void *)(part + PART), number);
	make_batches((void *)(part + 2 * PART), number);
	REQUIRE(!wire_buf_append(&b, &how, 1));
	if (number & 16) {
		REQUIRE(!wire_buf_append(&b, part, number & 32 ? 3 * PART : PART));
	} else {
		build(part, number & 32 ? 3 * PART : PART, how, &file);
		REQUIRE(!wire_buf_append(&b, file.data, file.len));
		wire_buf_fini(&file);
	}
	free(part);
	*data = b.data;
	return b.len;
}
