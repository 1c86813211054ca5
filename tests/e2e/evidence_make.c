/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a run of one live process from lines on stdin, so that tests can make up what hosts did:
 * one word, then numbers, then names to the end of the line where a row has one.
 *
 *	process PID START END
 *	op START END CORR STREAM			a kernel on GPU 0
 *	api START END CORR TID NAME
 *	range OP START END TID FLAGS NAME		OP: enum wire_range
 *	sample T PID TID ROLE STATE WAIT FLAGS CPU DELAY THROTTLED STACK	'~' ends a frame, '|' a field
 *	batch WHAT START END PID TID LOADER WORKER BATCH CPU DELAY TEXT
 *	file FS PATH					what the samples that follow wait for, if they wait
 *	bytes RCHAR READ				of the batches that follow
 *
 *	evidence_make FOLDER [ROWS]	ROWS: of evidence in a frame
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "wire/encoder.h"
#include "wire/session.pb-c.h"

#define ROWS_MAX 60000

struct make {
	FILE *out;
	struct wire_encoder *encoder;
	struct wire_strtab *names;
	struct wire_buf buf;
	struct wire_event *ev[WIRE_KIND_MAX];
	size_t events[WIRE_KIND_MAX];
	struct wire_sample *sample;
	struct wire_batch *batch;
	size_t samples, batches, per_frame;
	int64_t pid, start, end;
	uint32_t fs, path;
	uint64_t rchar, read;
};

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "evidence_make: %s\n", what);
	exit(1);
}

static void spill(struct make *m)
{
	check(fwrite(m->buf.data, 1, m->buf.len, m->out) == m->buf.len, "cannot write");
	m->buf.len = 0;
}

static uint32_t name(struct make *m, char *text)
{
	char *p;

	text[strcspn(text, "\n")] = '\0';
	while (*text == ' ')
		text++;
	for (p = text; *p; p++)
		*p = (char)(*p == '|' ? '\t' : *p == '~' ? '\n' : *p);
	return *text ? wire_strtab_intern(m->names, text, strlen(text)) : 0;
}

/* @n numbers; returns what follows them. */
static char *numbers(char *p, uint64_t *v, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		char *stop;

		errno = 0;
		v[i] = *p && p[strspn(p, " ")] == '-' ? (uint64_t)strtoll(p, &stop, 10)
						      : strtoull(p, &stop, 10);
		check(stop > p && !errno, "a number is missing");
		p = stop;
	}
	return p;
}

static struct wire_event *event(struct make *m, int kind, int64_t start, int64_t end)
{
	struct wire_event *e = &m->ev[kind][m->events[kind]++];

	check(m->events[kind] <= ROWS_MAX, "too many rows");
	e->kind = (uint8_t)kind;
	e->start_ns = start;
	e->end_ns = end;
	return e;
}

static void take_op(struct make *m, char *p)
{
	struct wire_event *e;
	uint64_t v[4];

	numbers(p, v, 4);
	e = event(m, WIRE_KIND_OP, (int64_t)v[0], (int64_t)v[1]);
	e->op = WIRE_OP_KERNEL;
	e->name = wire_strtab_intern(m->names, "kernel", 6);
	e->context = 1;
	e->corr = v[2];
	e->stream = (uint32_t)v[3];
}

static void take_api(struct make *m, char *p)
{
	struct wire_event *e;
	uint64_t v[4];

	p = numbers(p, v, 4);
	e = event(m, WIRE_KIND_API, (int64_t)v[0], (int64_t)v[1]);
	e->op = WIRE_DOMAIN_RUNTIME;
	e->corr = v[2];
	e->tid = (uint32_t)v[3];
	e->name = name(m, p);
}

static void take_range(struct make *m, char *p)
{
	struct wire_event *e;
	uint64_t v[5];

	p = numbers(p, v, 5);
	e = event(m, WIRE_KIND_RANGE, (int64_t)v[1], (int64_t)v[2]);
	e->op = (uint8_t)v[0];
	e->tid = (uint32_t)v[3];
	e->flags = (uint8_t)v[4];
	e->name = name(m, p);
}

static void take_sample(struct make *m, char *p)
{
	struct wire_sample *s = &m->sample[m->samples++];
	uint64_t v[10];

	check(m->samples <= ROWS_MAX, "too many samples");
	p = numbers(p, v, 10);
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
				   .stack = name(m, p) };
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
	m->fs = len ? wire_strtab_intern(m->names, p, len) : 0;
	m->path = name(m, p + len);
}

static void take_bytes(struct make *m, char *p)
{
	uint64_t v[2];

	numbers(p, v, 2);
	m->rchar = v[0];
	m->read = v[1];
}

static void take_batch(struct make *m, char *p)
{
	struct wire_batch *b = &m->batch[m->batches++];
	uint64_t v[10];

	check(m->batches <= ROWS_MAX, "too many batches");
	p = numbers(p, v, 10);
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
				  .text = name(m, p) };
}

static void take_process(struct make *m, char *p)
{
	uint64_t v[3];

	numbers(p, v, 3);
	m->pid = (int64_t)v[0];
	m->start = (int64_t)v[1];
	m->end = (int64_t)v[2];
}

static const struct {
	const char *word;
	void (*take)(struct make *, char *);
} takers[] = {
	{ "process ", take_process }, { "op ", take_op },	  { "api ", take_api },
	{ "range ", take_range },     { "sample ", take_sample }, { "batch ", take_batch },
	{ "file ", take_file },	      { "bytes ", take_bytes },
};

static void take_line(struct make *m, char *line)
{
	size_t i, n;

	for (i = 0; i < sizeof(takers) / sizeof(takers[0]); i++) {
		n = strlen(takers[i].word);
		if (!strncmp(line, takers[i].word, n)) {
			takers[i].take(m, line + n);
			return;
		}
	}
	check(false, line);
}

static void write_hello(struct make *m)
{
	uint8_t uuid[16] = { 1 };
	Wire__Hello hello = WIRE__HELLO__INIT;
	Wire__Device device = WIRE__DEVICE__INIT, *devices[1] = { &device };

	device.uuid.data = uuid;
	device.uuid.len = sizeof(uuid);
	device.name = (char *)"made-up GPU";
	hello.host = (char *)"here";
	hello.pid = m->pid;
	hello.process_start_ns = m->start;
	hello.armed_ns = m->start;
	hello.clock = (char *)"realtime";
	hello.level = (char *)"1";
	hello.n_devices = 1;
	hello.devices = devices;
	check(!wire_encoder_message(m->encoder, WIRE_FRAME_HELLO, &hello.base, 1, &m->buf),
	      "hello");
}

static void write_rows(struct make *m)
{
	size_t i, n;

	for (i = 0; i < m->samples; i += n) {
		n = m->samples - i < m->per_frame ? m->samples - i : m->per_frame;
		check(!wire_encoder_samples(m->encoder, m->sample + i, n, 2, &m->buf), "samples");
	}
	for (i = 0; i < m->batches; i += n) {
		n = m->batches - i < m->per_frame ? m->batches - i : m->per_frame;
		check(!wire_encoder_batches(m->encoder, m->batch + i, n, 2, &m->buf), "batches");
	}
}

static void write_all(struct make *m)
{
	Wire__Bye bye = WIRE__BYE__INIT;
	uint32_t next = 1;
	int kind;

	write_hello(m);
	while (next <= wire_strtab_count(m->names))
		check(!wire_encoder_strings(m->encoder, m->names, next, &next, 2, &m->buf),
		      "names");
	for (kind = 1; kind < WIRE_KIND_MAX; kind++)
		if (m->events[kind])
			check(!wire_encoder_block(m->encoder, m->ev[kind], m->events[kind], NULL, 2,
						  &m->buf),
			      "events");
	write_rows(m);
	bye.t_ns = m->end;
	bye.reason = (char *)"exit";
	check(!wire_encoder_message(m->encoder, WIRE_FRAME_BYE, &bye.base, 3, &m->buf), "bye");
	spill(m);
}

int main(int argc, char **argv)
{
	struct make m = { .per_frame = argc > 2 ? (size_t)atoi(argv[2]) : 1000 };
	char path[4096], line[8192];
	int kind;

	check(argc > 1 && m.per_frame, "evidence_make FOLDER [ROWS]");
	snprintf(path, sizeof(path), "%s/1.gst", argv[1]);
	m.out = fopen(path, "wb");
	m.encoder = wire_encoder_new((const uint8_t *)"made up evidence", 3);
	m.names = wire_strtab_new();
	m.sample = calloc(ROWS_MAX + 1, sizeof(*m.sample));
	m.batch = calloc(ROWS_MAX + 1, sizeof(*m.batch));
	check(m.out && m.encoder && m.names && m.sample && m.batch, path);
	for (kind = 1; kind < WIRE_KIND_MAX; kind++)
		check((m.ev[kind] = calloc(ROWS_MAX + 1, sizeof(**m.ev))) != NULL, "no memory");
	while (fgets(line, sizeof(line), stdin))
		take_line(&m, line);
	write_all(&m);
	check(!fclose(m.out), "cannot write");
	for (kind = 1; kind < WIRE_KIND_MAX; kind++)
		free(m.ev[kind]);
	free(m.sample);
	free(m.batch);
	wire_encoder_free(m.encoder);
	wire_strtab_free(m.names);
	wire_buf_fini(&m.buf);
	return 0;
}
