/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a run of one live process from lines on stdin, so that tests can make up what hosts did:
 * one word, then numbers, then names to the end of the line where a row has one.
 *
 *	process PID START END
 *	op START END CORR STREAM			a kernel on GPU 0
 *	copy START END CORR STREAM DIR BYTES		a copy; DIR: 1 host to device, 2 device to host
 *	api START END CORR TID NAME
 *	range OP START END TID FLAGS NAME		OP: enum wire_range
 *	sample T PID TID ROLE STATE WAIT FLAGS CPU DELAY THROTTLED STACK	'~' ends a frame, '|' a field
 *	batch WHAT START END PID TID LOADER WORKER BATCH CPU DELAY TEXT
 *	file FS PATH					what the samples that follow wait for, if they wait
 *	links [TEXT]					of the samples that follow (wire/evidence.h)
 *	native [STACK]					the same
 *	bytes RCHAR READ				of the batches and samples that follow
 *	sync OP START END				the host waited for GPU 0; OP: enum wire_sync
 *	loss REASON START END				REASON: LossReason of wire/session.proto
 *	meter START END BUSY SOURCE [SM]		whole us; BUSY, SM: hundredths of a percent
 *
 *	evidence_make FOLDER [ROWS]	ROWS: of evidence in a frame
 */
#include <stdlib.h>
#include <string.h>
#include "lines.h"
#include "made.h"

#define ROWS_MAX 60000 /* of evidence */
#define LOSSES_MAX 1000

struct make {
	struct made_stream s;
	struct wire_sample *sample;
	struct wire_batch *batch;
	struct meter {
		int64_t start, end;
		uint32_t busy, source, sm;
		bool has_sm;
	} * meter;
	Wire__LossSpan *loss;
	size_t samples, batches, meters, losses, per_frame;
	int64_t pid, start, end;
	uint32_t fs, path, links, native;
	uint64_t rchar, read;
	uint32_t period;
};

static void take_op(struct make *m, char *p)
{
	struct wire_event *e;
	uint64_t v[4];

	made_numbers(p, v, 4);
	e = made_event(&m->s, WIRE_KIND_OP, (int64_t)v[0], (int64_t)v[1]);
	e->op = WIRE_OP_KERNEL;
	e->name = made_name(&m->s, "kernel", 6);
	e->context = 1;
	e->corr = v[2];
	e->stream = (uint32_t)v[3];
}

static void take_copy(struct make *m, char *p)
{
	struct wire_event *e;
	uint64_t v[6];

	made_numbers(p, v, 6);
	e = made_event(&m->s, WIRE_KIND_OP, (int64_t)v[0], (int64_t)v[1]);
	e->op = WIRE_OP_COPY;
	e->context = 1;
	e->corr = v[2];
	e->stream = (uint32_t)v[3];
	e->copy = (uint8_t)v[4];
	e->bytes = v[5];
}

static void take_api(struct make *m, char *p)
{
	made_api(&m->s, p);
}

static void take_range(struct make *m, char *p)
{
	made_range(&m->s, p);
}

static void take_sample(struct make *m, char *p)
{
	struct wire_sample *s = &m->sample[m->samples++];
	uint64_t v[10];

	made_need(m->samples <= ROWS_MAX, "too many samples");
	p = made_numbers(p, v, 10);
	*s = (struct wire_sample){ .t_ns = (int64_t)v[0],
				   .pid = (uint32_t)v[1],
				   .tid = (uint32_t)v[2],
				   .role = (uint8_t)v[3],
				   .state = (uint8_t)v[4],
				   .wait = (uint8_t)v[5],
				   .flags = (uint8_t)v[6],
				   .cpu_ns = v[7],
				   .delay_ns = v[8],
				   .throttled_ns = v[9],
				   .rchar_bytes = m->rchar,
				   .period_ns = m->period,
				   .stack = made_rest(&m->s, p),
				   .native = m->native,
				   .links = m->links };
	if (s->wait) {
		s->target = m->path;
		s->fs = m->fs;
	}
}

static void take_file(struct make *m, char *p)
{
	size_t len;

	p += strspn(p, " ");
	len = strcspn(p, " \n");
	m->fs = made_name(&m->s, p, len);
	m->path = made_rest(&m->s, p + len);
}

static void take_links(struct make *m, char *p)
{
	m->links = p[strspn(p, " ")] ? made_rest(&m->s, p) : 0;
}

static void take_native(struct make *m, char *p)
{
	m->native = p[strspn(p, " ")] ? made_rest(&m->s, p) : 0;
}

static void take_bytes(struct make *m, char *p)
{
	uint64_t v[2];

	made_numbers(p, v, 2);
	m->rchar = v[0];
	m->read = v[1];
}

static void take_period(struct make *m, char *p)
{
	uint64_t v[1];

	made_numbers(p, v, 1);
	m->period = (uint32_t)v[0];
}

static void take_batch(struct make *m, char *p)
{
	struct wire_batch *b = &m->batch[m->batches++];
	uint64_t v[10];

	made_need(m->batches <= ROWS_MAX, "too many batches");
	p = made_numbers(p, v, 10);
	*b = (struct wire_batch){ .what = (uint8_t)v[0],
				  .start_ns = (int64_t)v[1],
				  .end_ns = (int64_t)v[2],
				  .pid = (uint32_t)v[3],
				  .tid = (uint32_t)v[4],
				  .loader = (uint32_t)v[5],
				  .worker = (uint32_t)v[6],
				  .batch = v[7],
				  .cpu_ns = v[8],
				  .delay_ns = v[9],
				  .rchar_bytes = m->rchar,
				  .read_bytes = m->read,
				  .text = made_rest(&m->s, p) };
}

static void take_sync(struct make *m, char *p)
{
	struct wire_event *e;
	uint64_t v[3];

	made_numbers(p, v, 3);
	e = made_event(&m->s, WIRE_KIND_SYNC, (int64_t)v[1], (int64_t)v[2]);
	e->op = (uint8_t)v[0];
	e->context = 1;
}

static void take_loss(struct make *m, char *p)
{
	Wire__LossSpan *l = &m->loss[m->losses++];
	uint64_t v[3];

	made_need(m->losses <= LOSSES_MAX, "too many losses");
	made_numbers(p, v, 3);
	wire__loss_span__init(l);
	l->reason = (Wire__LossReason)v[0];
	l->start_ns = (int64_t)v[1];
	l->end_ns = (int64_t)v[2];
}

static void take_meter(struct make *m, char *p)
{
	uint64_t v[5] = { 0 };
	bool has_sm;

	made_need(m->meters < ROWS_MAX, "too many meters");
	p = made_numbers(p, v, 4);
	has_sm = p[strspn(p, " ")];
	if (has_sm)
		made_numbers(p, v + 4, 1);
	m->meter[m->meters++] = (struct meter){ (int64_t)v[0],	(int64_t)v[1],	(uint32_t)v[2],
						(uint32_t)v[3], (uint32_t)v[4], has_sm };
}

static void take_process(struct make *m, char *p)
{
	uint64_t v[3];

	made_numbers(p, v, 3);
	m->pid = (int64_t)v[0];
	m->start = (int64_t)v[1];
	m->end = (int64_t)v[2];
}

static const struct {
	const char *word;
	void (*take)(struct make *, char *);
} takers[] = {
	{ "process ", take_process }, { "op ", take_op },	 { "copy ", take_copy },
	{ "api ", take_api },	      { "range ", take_range },	 { "sample ", take_sample },
	{ "batch ", take_batch },     { "file ", take_file },	 { "bytes ", take_bytes },
	{ "links", take_links },      { "native", take_native }, { "period ", take_period },
	{ "sync ", take_sync },	      { "loss ", take_loss },	 { "meter ", take_meter },
};

static void take_line(struct make *m, char *line)
{
	size_t i, n;

	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "links", 5) != 0) /* '~' is a mark there */
		made_unfold(line);
	for (i = 0; i < sizeof(takers) / sizeof(takers[0]); i++) {
		n = strlen(takers[i].word);
		if (!strncmp(line, takers[i].word, n)) {
			takers[i].take(m, line + n);
			return;
		}
	}
	made_need(false, line);
}

static void write_losses(struct make *m)
{
	Wire__LossSpan *list[LOSSES_MAX];
	Wire__Loss loss = WIRE__LOSS__INIT;

	for (size_t i = 0; i < m->losses; i++)
		list[i] = &m->loss[i];
	loss.spans = list;
	loss.n_spans = m->losses;
	if (m->losses)
		made_message(&m->s, WIRE_FRAME_LOSS, &loss.base, 2);
}

/* A pulse for each, at the end of its time. */
static void write_meters(struct make *m)
{
	for (size_t i = 0; i < m->meters; i++) {
		Wire__Pulse pulse = WIRE__PULSE__INIT;
		Wire__PulseDevice device = WIRE__PULSE_DEVICE__INIT, *devices[] = { &device };
		Wire__PulseMeter meter = WIRE__PULSE_METER__INIT;

		meter.known = m->meter[i].has_sm ? 3 : 1;
		meter.span_us = (uint64_t)(m->meter[i].end - m->meter[i].start) / 1000;
		meter.busy = m->meter[i].busy;
		meter.sm = m->meter[i].sm;
		meter.source = m->meter[i].source;
		device.meter = &meter;
		pulse.devices = devices;
		pulse.n_devices = 1;
		pulse.t_ns = pulse.complete_ns = m->meter[i].end;
		pulse.level = (char *)"1";
		made_message(&m->s, WIRE_FRAME_PULSE, &pulse.base, 2);
	}
}

static void write_all(struct make *m)
{
	struct made_hello h;

	made_hello_init(&h, "here", m->pid, m->start, "made-up GPU");
	h.uuid[0] = 1;
	made_message(&m->s, WIRE_FRAME_HELLO, &h.m.base, 1);
	made_flush(&m->s, 2);
	made_samples(&m->s, m->sample, m->samples, m->per_frame, 2);
	made_batches(&m->s, m->batch, m->batches, m->per_frame, 2);
	write_losses(m);
	write_meters(m);
	made_bye(&m->s, m->end, 3);
}

int main(int argc, char **argv)
{
	struct make m = { .per_frame = argc > 2 ? (size_t)atoi(argv[2]) : 1000 };
	char path[4096], line[8192];

	made_need(argc > 1 && m.per_frame, "evidence_make FOLDER [ROWS]");
	snprintf(path, sizeof(path), "%s/1.gst", argv[1]);
	made_open(&m.s, path, (const uint8_t *)"made up evidence");
	m.sample = calloc(ROWS_MAX + 1, sizeof(*m.sample));
	m.batch = calloc(ROWS_MAX + 1, sizeof(*m.batch));
	m.meter = calloc(ROWS_MAX, sizeof(*m.meter));
	m.loss = calloc(LOSSES_MAX + 1, sizeof(*m.loss));
	made_need(m.sample && m.batch && m.meter && m.loss, "no memory");
	while (fgets(line, sizeof(line), stdin))
		take_line(&m, line);
	write_all(&m);
	made_close(&m.s);
	free(m.sample);
	free(m.batch);
	free(m.meter);
	free(m.loss);
	return 0;
}
