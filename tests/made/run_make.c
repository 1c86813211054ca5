/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a run from lines on stdin: any number of processes, hosts, ranks, GPUs and names, so that
 * tests can make up what takes hours or hardware. A line is words separated by single spaces; a
 * text is one word, %XX for a byte, "-" for none. Times are ns. T: text, all else are numbers.
 *
 *	stream HOST:T PID START END RANK WORLD ROLE:T COMMAND:T
 *		begins the stream of one process. END -1: it was killed, there is no Bye; RANK -1: none
 *	device ORDINAL UUID NAME:T		before the first event. UUID: its first bytes
 *	label KEY:T VALUE:T			before the first event, too
 *	kernel START END CORR STREAM DEVICE NAME:T
 *	graph START END CORR STREAM DEVICE
 *	copy START END CORR STREAM DEVICE BYTES COPY SRC DST	enum wire_copy, wire_mem
 *	api START END CORR TID NAME:T
 *	sync OP START END CORR STREAM DEVICE	OP: enum wire_sync
 *	range OP START END TID FLAGS NAME:T	OP: enum wire_range
 *	sample T PID TID ROLE STATE WAIT FLAGS CPU DELAY STACK:T TARGET:T FS:T NATIVE:T [SYSCALL [PERIOD]]
 *	links TEXT:T				of the samples that follow (wire/evidence.h)
 *	batch WHAT START END PID TID LOADER WORKER BATCH CPU DELAY RCHAR READ SAMPLES TEXT:T
 *	loss REASON START END COUNT
 *	facts T DEVICE USED TOTAL PERCENT OTHERS
 *	pulse T COMPLETE OWN_CPU
 *	meter T DEVICE AGE_US SPAN_US BUSY TENSOR SOURCE	a pulse with it; all are known of the first two
 *	cost T LIMIT STEP WORST SPENT		a pulse with it: what was given up (PulseCost)
 *	save STATE NUMBER START END BYTES INODE PATH:T		STATE: SaveState of wire/session.proto
 *	clock T					the job's own clock is the system's
 *	missing N				so many frames got lost here
 *
 *	run_make FOLDER [STREAMS]	as if so many had been made before: runs of a job have none in common
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "made.h"

#define WORDS_MAX 16
#define DEVICES_MAX 1024
#define SPILL_ROWS 20000

struct make {
	const char *folder;
	char *word[WORDS_MAX];
	int words, streams;
	/* the stream that is being written */
	struct made_stream s;
	struct wire_sample *sample; /* those that have gathered */
	struct wire_batch *batch;
	size_t samples, batches;
	Wire__Hello hello;
	Wire__Device device[DEVICES_MAX], *devices[DEVICES_MAX];
	uint8_t uuid[DEVICES_MAX][16];
	Wire__Label **label;
	size_t label_room;
	char **kept; /* texts of the Hello */
	size_t keeps, keep_room;
	uint32_t links;
	char *command[1];
	int64_t end;
	bool begun;
};

/* ---- words ----------------------------------------------------------------------------------- */

static void split(struct make *m, char *line)
{
	char *p = line;

	line[strcspn(line, "\n")] = '\0';
	for (m->words = 0; p && m->words < WORDS_MAX; m->words++)
		m->word[m->words] = strsep(&p, " ");
	made_need(!p, "too many words");
}

static int64_t number(const struct make *m, int at)
{
	char *stop;
	int64_t v;

	made_need(at < m->words, "a word is missing");
	errno = 0;
	v = strtoll(m->word[at], &stop, 10);
	made_need(stop > m->word[at] && !*stop && !errno, m->word[at]);
	return v;
}

static uint64_t u64(const struct make *m, int at)
{
	return (uint64_t)number(m, at);
}

static uint32_t u32(const struct make *m, int at)
{
	return (uint32_t)number(m, at);
}

static uint8_t u8(const struct make *m, int at)
{
	return (uint8_t)number(m, at);
}

static int hex(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *p = c ? strchr(digits, c) : NULL;

	made_need(p != NULL, "a text has a bad escape");
	return (int)(p - digits);
}

/* Decoded in place. */
static char *text(struct make *m, int at, size_t *len)
{
	char *from, *to;

	made_need(at < m->words, "a text is missing");
	from = to = m->word[at];
	if (!strcmp(from, "-"))
		*from = '\0';
	while (*from) {
		if (*from != '%') {
			*to++ = *from++;
			continue;
		}
		made_need(from[1] && from[2], "a text has a bad escape");
		*to++ = (char)(hex(from[1]) * 16 + hex(from[2]));
		from += 3;
	}
	*to = '\0';
	*len = (size_t)(to - m->word[at]);
	return m->word[at];
}

static uint32_t name(struct make *m, int at)
{
	size_t len;
	const char *t = text(m, at, &len);

	return made_name(&m->s, t, len);
}

static char *keep(struct make *m, int at)
{
	size_t len;
	char *copy = strdup(text(m, at, &len));

	made_need(copy && base_vec_more(m->kept, m->keeps, m->keep_room), "no memory");
	return m->kept[m->keeps++] = copy;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static void message(struct make *m, enum wire_frame_type type, const ProtobufCMessage *msg)
{
	made_message(&m->s, type, msg, m->hello.armed_ns);
}

static void begin_frames(struct make *m)
{
	if (m->begun)
		return;
	m->begun = true;
	message(m, WIRE_FRAME_HELLO, &m->hello.base);
}

/* Writes the rows that have gathered, behind the names that they use. */
static void flush(struct make *m)
{
	int64_t now = m->hello.armed_ns;

	begin_frames(m);
	made_names(&m->s, now);
	made_flush(&m->s, now);
	made_samples(&m->s, m->sample, m->samples, SPILL_ROWS, now);
	made_batches(&m->s, m->batch, m->batches, SPILL_ROWS, now);
	m->samples = m->batches = 0;
}

static void end_stream(struct make *m)
{
	if (!m->s.file)
		return;
	flush(m);
	if (m->end >= 0)
		made_bye(&m->s, m->end, m->hello.armed_ns);
	made_close(&m->s);
	while (m->keeps)
		free(m->kept[--m->keeps]);
	while (m->hello.n_labels)
		free(m->label[--m->hello.n_labels]);
}

static void open_stream(struct make *m)
{
	uint8_t id[16] = "made up run";
	char path[4096];

	m->streams++;
	memcpy(id + 12, &m->streams, sizeof(m->streams));
	snprintf(path, sizeof(path), "%s/%d.gst", m->folder, m->streams);
	made_open(&m->s, path, id);
	m->begun = false;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void take_stream(struct make *m)
{
	Wire__Hello *h = &m->hello;

	end_stream(m);
	open_stream(m);
	wire__hello__init(h);
	h->host = keep(m, 1);
	h->pid = number(m, 2);
	h->process_start_ns = h->armed_ns = number(m, 3);
	m->end = number(m, 4);
	h->has_rank = number(m, 5) >= 0;
	h->rank = h->local_rank = h->has_rank ? (int32_t)number(m, 5) : 0;
	h->world_size = u32(m, 6);
	h->role = keep(m, 7);
	m->command[0] = keep(m, 8);
	h->command = m->command;
	h->n_command = 1;
	h->clock = (char *)"realtime";
	h->level = (char *)"1";
	h->cpus = 16;
	h->devices = m->devices;
	m->links = 0;
}

static void take_label(struct make *m)
{
	Wire__Hello *h = &m->hello;
	Wire__Label *l = malloc(sizeof(*l));

	made_need(m->s.file && !m->begun, "too late");
	made_need(l && base_vec_more(m->label, h->n_labels, m->label_room), "no memory");
	wire__label__init(l);
	l->key = keep(m, 1);
	l->value = keep(m, 2);
	m->label[h->n_labels++] = l;
	h->labels = m->label;
}

static void take_device(struct make *m)
{
	size_t n = m->hello.n_devices++;
	Wire__Device *d = &m->device[n];
	uint32_t uuid = u32(m, 2);

	made_need(m->s.file && n < DEVICES_MAX && !m->begun, "too many devices, or too late");
	m->devices[n] = d;
	wire__device__init(d);
	memset(m->uuid[n], 0, sizeof(m->uuid[n]));
	memcpy(m->uuid[n], &uuid, sizeof(uuid));
	m->uuid[n][15] = 1;
	d->ordinal = u32(m, 1);
	d->uuid.data = m->uuid[n];
	d->uuid.len = sizeof(m->uuid[n]);
	d->name = keep(m, 3);
	d->context_ns = m->hello.armed_ns + 1;
}

static struct wire_event *event(struct make *m, int kind, int at)
{
	if (m->s.rows[kind].n == SPILL_ROWS)
		flush(m);
	return made_event(&m->s, kind, number(m, at), number(m, at + 1));
}

static struct wire_event *op(struct make *m, enum wire_op what)
{
	struct wire_event *e = event(m, WIRE_KIND_OP, 1);

	e->op = (uint8_t)what;
	e->corr = u64(m, 3);
	e->stream = u32(m, 4);
	e->device = u32(m, 5);
	e->context = e->device + 1;
	return e;
}

static void take_kernel(struct make *m)
{
	op(m, WIRE_OP_KERNEL)->name = name(m, 6);
}

static void take_graph(struct make *m)
{
	op(m, WIRE_OP_GRAPH)->graph = 1;
}

static void take_copy(struct make *m)
{
	struct wire_event *e = op(m, WIRE_OP_COPY);

	e->bytes = u64(m, 6);
	e->copy = u8(m, 7);
	e->src = u8(m, 8);
	e->dst = u8(m, 9);
}

static void take_api(struct make *m)
{
	struct wire_event *e = event(m, WIRE_KIND_API, 1);

	e->op = WIRE_DOMAIN_RUNTIME;
	e->corr = u64(m, 3);
	e->tid = u32(m, 4);
	e->name = name(m, 5);
}

static void take_sync(struct make *m)
{
	struct wire_event *e = event(m, WIRE_KIND_SYNC, 2);

	e->op = u8(m, 1);
	e->corr = u64(m, 4);
	e->stream = u32(m, 5);
	e->device = u32(m, 6);
	e->context = e->device + 1;
}

static void take_range(struct make *m)
{
	struct wire_event *e = event(m, WIRE_KIND_RANGE, 2);

	e->op = u8(m, 1);
	e->tid = u32(m, 4);
	e->flags = u8(m, 5);
	e->name = name(m, 6);
}

static void take_sample(struct make *m)
{
	struct wire_sample *s;

	made_need(m->s.file, "no stream has begun");
	if (m->samples == SPILL_ROWS)
		flush(m);
	s = &m->sample[m->samples++];
	*s = (struct wire_sample){ .t_ns = number(m, 1),
				   .pid = u32(m, 2),
				   .tid = u32(m, 3),
				   .role = u8(m, 4),
				   .state = u8(m, 5),
				   .wait = u8(m, 6),
				   .flags = u8(m, 7),
				   .cpu_ns = u64(m, 8),
				   .delay_ns = u64(m, 9),
				   .stack = name(m, 10),
				   .target = name(m, 11),
				   .fs = name(m, 12),
				   .native = name(m, 13),
				   .links = m->links,
				   .syscall = m->words > 14 ? (uint16_t)u32(m, 14) : 0,
				   .period_ns = m->words > 15 ? u32(m, 15) : 0 };
}

static void take_links(struct make *m)
{
	m->links = name(m, 1);
}

static void take_batch(struct make *m)
{
	struct wire_batch *b;

	made_need(m->s.file, "no stream has begun");
	if (m->batches == SPILL_ROWS)
		flush(m);
	b = &m->batch[m->batches++];
	*b = (struct wire_batch){ .what = u8(m, 1),
				  .start_ns = number(m, 2),
				  .end_ns = number(m, 3),
				  .pid = u32(m, 4),
				  .tid = u32(m, 5),
				  .loader = u32(m, 6),
				  .worker = u32(m, 7),
				  .batch = u64(m, 8),
				  .cpu_ns = u64(m, 9),
				  .delay_ns = u64(m, 10),
				  .rchar_bytes = u64(m, 11),
				  .read_bytes = u64(m, 12),
				  .samples = u32(m, 13),
				  .text = name(m, 14) };
}

static void take_loss(struct make *m)
{
	Wire__Loss loss = WIRE__LOSS__INIT;
	Wire__LossSpan span = WIRE__LOSS_SPAN__INIT, *spans[1] = { &span };

	span.reason = (Wire__LossReason)number(m, 1);
	span.start_ns = number(m, 2);
	span.end_ns = number(m, 3);
	span.count = u64(m, 4);
	loss.n_spans = 1;
	loss.spans = spans;
	flush(m);
	message(m, WIRE_FRAME_LOSS, &loss.base);
}

static void take_facts(struct make *m)
{
	Wire__Facts facts = WIRE__FACTS__INIT;
	Wire__DeviceFacts d = WIRE__DEVICE_FACTS__INIT, *devices[1] = { &d };

	facts.t_ns = number(m, 1);
	d.ordinal = u32(m, 2);
	d.memory_used_bytes = u64(m, 3);
	d.memory_total_bytes = u64(m, 4);
	d.nvml_utilization_pct = u32(m, 5);
	d.has_utilization = true;
	d.other_processes = u32(m, 6);
	facts.n_devices = 1;
	facts.devices = devices;
	flush(m);
	message(m, WIRE_FRAME_FACTS, &facts.base);
}

static void take_pulse(struct make *m)
{
	Wire__Pulse pulse = WIRE__PULSE__INIT;

	pulse.t_ns = number(m, 1);
	pulse.complete_ns = number(m, 2);
	pulse.own_cpu_ns = u64(m, 3);
	pulse.level = (char *)"1";
	flush(m);
	message(m, WIRE_FRAME_PULSE, &pulse.base);
}

static void take_meter(struct make *m)
{
	Wire__Pulse pulse = WIRE__PULSE__INIT;
	Wire__PulseDevice d = WIRE__PULSE_DEVICE__INIT, *devices[1] = { &d };
	Wire__PulseMeter meter = WIRE__PULSE_METER__INIT;

	pulse.t_ns = pulse.complete_ns = number(m, 1);
	pulse.level = (char *)"1";
	pulse.n_devices = 1;
	pulse.devices = devices;
	d.ordinal = u32(m, 2);
	d.meter = &meter;
	meter.known = 1 | 8; /* busy, tensor */
	meter.age_us = u64(m, 3);
	meter.span_us = u64(m, 4);
	meter.busy = u32(m, 5);
	meter.tensor = u32(m, 6);
	meter.source = u32(m, 7);
	flush(m);
	message(m, WIRE_FRAME_PULSE, &pulse.base);
}

static void take_cost(struct make *m)
{
	Wire__Pulse pulse = WIRE__PULSE__INIT;
	Wire__PulseCost cost = WIRE__PULSE_COST__INIT;

	pulse.t_ns = pulse.complete_ns = number(m, 1);
	pulse.level = (char *)"1";
	pulse.cost = &cost;
	cost.limit = u32(m, 2);
	cost.step = cost.deepest = u32(m, 3);
	cost.worst = u32(m, 4);
	cost.spent_ns = u64(m, 5);
	flush(m);
	message(m, WIRE_FRAME_PULSE, &pulse.base);
}

static void take_save(struct make *m)
{
	Wire__Facts facts = WIRE__FACTS__INIT;
	Wire__Checkpoint c = WIRE__CHECKPOINT__INIT, *checkpoints[1] = { &c };
	size_t len;

	c.state = (Wire__SaveState)number(m, 1);
	c.number = u32(m, 2);
	c.start_ns = number(m, 3);
	c.end_ns = number(m, 4);
	c.bytes = c.size = u64(m, 5);
	c.inode = c.before_inode = u64(m, 6);
	c.path = text(m, 7, &len);
	c.saver = (char *)"torch.save";
	facts.t_ns = c.start_ns;
	facts.n_checkpoints = 1;
	facts.checkpoints = checkpoints;
	flush(m);
	message(m, WIRE_FRAME_FACTS, &facts.base);
}

static void take_clock(struct make *m)
{
	Wire__Clock c = WIRE__CLOCK__INIT;
	Wire__ClockTriplet t = WIRE__CLOCK_TRIPLET__INIT, *triplets[1] = { &t };

	t.monotonic_before_ns = t.cupti_ns = t.realtime_ns = number(m, 1);
	t.monotonic_after_ns = t.boottime_ns = t.realtime_ns;
	c.n_triplets = 1;
	c.triplets = triplets;
	flush(m);
	message(m, WIRE_FRAME_CLOCK, &c.base);
}

/* They are made, and go nowhere. */
static void take_missing(struct make *m)
{
	Wire__Facts none = WIRE__FACTS__INIT;
	struct wire_buf lost = { 0 };
	uint64_t n = u64(m, 1);

	flush(m);
	while (n--)
		made_need(!wire_encoder_message(m->s.encoder, WIRE_FRAME_FACTS, &none.base,
						m->hello.armed_ns, &lost),
			  "a frame cannot be made");
	wire_buf_fini(&lost);
}

static const struct {
	const char *word;
	void (*take)(struct make *);
} takers[] = {
	{ "stream", take_stream }, { "device", take_device },	{ "kernel", take_kernel },
	{ "graph", take_graph },   { "copy", take_copy },	{ "api", take_api },
	{ "sync", take_sync },	   { "range", take_range },	{ "sample", take_sample },
	{ "batch", take_batch },   { "loss", take_loss },	{ "facts", take_facts },
	{ "pulse", take_pulse },   { "label", take_label },	{ "links", take_links },
	{ "meter", take_meter },   { "cost", take_cost },	{ "save", take_save },
	{ "clock", take_clock },   { "missing", take_missing },
};

static void take_line(struct make *m, char *line)
{
	size_t i;

	split(m, line);
	for (i = 0; i < sizeof(takers) / sizeof(takers[0]); i++) {
		if (!strcmp(takers[i].word, m->word[0])) {
			takers[i].take(m);
			return;
		}
	}
	made_need(false, m->word[0]);
}

int main(int argc, char **argv)
{
	struct make m = { .folder = argc > 1 ? argv[1] : "" };
	char *line = NULL;
	size_t room = 0;

	made_need(argc == 2 || argc == 3, "run_make FOLDER [STREAMS]");
	m.streams = argc > 2 ? atoi(argv[2]) : 0;
	m.sample = calloc(SPILL_ROWS, sizeof(*m.sample));
	m.batch = calloc(SPILL_ROWS, sizeof(*m.batch));
	made_need(m.sample && m.batch, "no memory");
	while (getline(&line, &room, stdin) > 0)
		take_line(&m, line);
	end_stream(&m);
	free(m.sample);
	free(m.batch);
	free(m.kept);
	free(line);
	return 0;
}
