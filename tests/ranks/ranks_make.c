/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the streams of a run of many ranks from lines on stdin: one word, then numbers, then a name
 * to the end of the line where a row has one. Times are those of the rank's own host.
 *
 *	stream RANK WORLD PID START HOST		begins a stream, <RANK>.gst
 *	env NAME VALUE					of the streams that follow
 *	op START END CORR STREAM NAME			a kernel on the rank's GPU
 *	api START END CORR TID NAME
 *	wait START STREAM				the stream was told to wait (a SYNC record)
 *	range OP START END TID FLAGS NAME		OP: enum wire_range
 *	sample T TID ROLE STATE WAIT STACK		'~' ends a frame, '|' a field
 *	pulse T						the process was alive
 *	bye T						ends the stream as a process that exits does
 *	cut						ends it as a killed one does
 *
 *	ranks_make FOLDER
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "wire/encoder.h"
#include "wire/session.pb-c.h"

#define CHUNK 4096
#define VARIABLES 16
#define SAMPLE_CHUNK 1000

struct rows {
	struct wire_event *ev;
	size_t n, room, done;
};

struct make {
	const char *folder;
	FILE *out; /* of the stream that is being made, NULL: none is */
	struct wire_encoder *encoder;
	struct wire_strtab *names;
	struct wire_buf buf;
	struct rows rows[WIRE_KIND_MAX];
	struct wire_sample *sample;
	size_t samples, sample_room;
	int64_t *pulse;
	size_t pulses, pulse_room;
	uint64_t rank, world, pid;
	int64_t start;
	char host[256];
	Wire__Hello__EnvironmentEntry env[VARIABLES], *envs[VARIABLES];
	size_t variables;
};

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "ranks_make: %s\n", what);
	exit(1);
}

static void *grown(void *old, size_t n, size_t *room, size_t size)
{
	if (n < *room)
		return old;
	*room = *room ? 2 * *room : 1024;
	old = realloc(old, *room * size);
	check(old != NULL, "no memory");
	return old;
}

static uint32_t name(struct make *m, char *text)
{
	while (*text == ' ')
		text++;
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

static struct wire_event *event(struct make *m, int kind, uint64_t start, uint64_t end)
{
	struct rows *r = &m->rows[kind];
	struct wire_event *e;

	check(m->out != NULL, "a row before its stream");
	r->ev = grown(r->ev, r->n, &r->room, sizeof(*r->ev));
	e = &r->ev[r->n++];
	memset(e, 0, sizeof(*e));
	e->kind = (uint8_t)kind;
	e->start_ns = (int64_t)start;
	e->end_ns = (int64_t)end;
	return e;
}

static void take_op(struct make *m, char *p)
{
	struct wire_event *e;
	uint64_t v[4];

	p = numbers(p, v, 4);
	e = event(m, WIRE_KIND_OP, v[0], v[1]);
	e->op = WIRE_OP_KERNEL;
	e->context = 1;
	e->corr = v[2];
	e->stream = (uint32_t)v[3];
	e->name = name(m, p);
}

static void take_api(struct make *m, char *p)
{
	struct wire_event *e;
	uint64_t v[4];

	p = numbers(p, v, 4);
	e = event(m, WIRE_KIND_API, v[0], v[1]);
	e->op = WIRE_DOMAIN_RUNTIME;
	e->corr = v[2];
	e->tid = (uint32_t)v[3];
	e->name = name(m, p);
}

static void take_wait(struct make *m, char *p)
{
	struct wire_event *e;
	uint64_t v[2];

	numbers(p, v, 2);
	e = event(m, WIRE_KIND_SYNC, v[0], v[0] + 300);
	e->op = WIRE_SYNC_STREAM_WAIT;
	e->context = 1;
	e->stream = (uint32_t)v[1];
}

static void take_range(struct make *m, char *p)
{
	struct wire_event *e;
	uint64_t v[5];

	p = numbers(p, v, 5);
	e = event(m, WIRE_KIND_RANGE, v[1], v[2]);
	e->op = (uint8_t)v[0];
	e->tid = (uint32_t)v[3];
	e->flags = (uint8_t)v[4];
	e->name = name(m, p);
}

static void take_sample(struct make *m, char *p)
{
	uint64_t v[5];
	char *c;

	p = numbers(p, v, 5);
	for (c = p; *c; c++)
		*c = (char)(*c == '|' ? '\t' : *c == '~' ? '\n' : *c);
	m->sample = grown(m->sample, m->samples, &m->sample_room, sizeof(*m->sample));
	m->sample[m->samples++] = (struct wire_sample){ .t_ns = (int64_t)v[0],
							.pid = (uint32_t)m->pid,
							.tid = (uint32_t)v[1],
							.role = (uint8_t)v[2],
							.state = (uint8_t)v[3],
							.wait = (uint8_t)v[4],
							.period_ns = 5000000,
							.stack = name(m, p) };
}

static void take_pulse(struct make *m, char *p)
{
	uint64_t v;

	numbers(p, &v, 1);
	m->pulse = grown(m->pulse, m->pulses, &m->pulse_room, sizeof(*m->pulse));
	m->pulse[m->pulses++] = (int64_t)v;
}

static void write_hello(struct make *m)
{
	uint8_t uuid[16] = { 1, 2, (uint8_t)(m->rank >> 8), (uint8_t)m->rank };
	Wire__Hello hello = WIRE__HELLO__INIT;
	Wire__Device device = WIRE__DEVICE__INIT, *devices[1] = { &device };

	device.uuid.data = uuid;
	device.uuid.len = sizeof(uuid);
	device.name = (char *)"NVIDIA H100 80GB HBM3 (simulated)";
	device.context_ns = m->start;
	hello.host = m->host;
	hello.boot_id = m->host;
	hello.pid = (int64_t)m->pid;
	hello.process_start_ns = m->start;
	hello.armed_ns = m->start;
	hello.clock = (char *)"realtime";
	hello.level = (char *)"1";
	hello.role = (char *)"trainer";
	hello.rank = (int32_t)m->rank;
	hello.has_rank = true;
	hello.world_size = (uint32_t)m->world;
	hello.n_environment = m->variables;
	hello.environment = m->envs;
	hello.n_devices = 1;
	hello.devices = devices;
	check(!wire_encoder_message(m->encoder, WIRE_FRAME_HELLO, &hello.base, m->start, &m->buf),
	      "hello");
}

/* A variable told again takes the place of what it was. */
static void take_env(struct make *m, char *p)
{
	Wire__Hello__EnvironmentEntry *e;
	char *name = strdup(p + strspn(p, " ")), *value = name ? strchr(name, ' ') : NULL;
	size_t i;

	check(value != NULL, "env NAME VALUE");
	*value++ = '\0';
	for (i = 0; i < m->variables && strcmp(m->env[i].key, name) != 0; i++)
		;
	check(i < VARIABLES, "too many variables");
	e = &m->env[i];
	wire__hello__environment_entry__init(e);
	e->key = name;
	e->value = value;
	m->envs[i] = e;
	m->variables += i == m->variables;
}

static void take_stream(struct make *m, char *p)
{
	uint8_t id[16] = "made up ranks";
	uint64_t v[4];
	char path[4096];

	check(!m->out, "a stream within a stream");
	p = numbers(p, v, 4);
	m->rank = v[0];
	m->world = v[1];
	m->pid = v[2];
	m->start = (int64_t)v[3];
	snprintf(m->host, sizeof(m->host), "%s", p + strspn(p, " "));
	memcpy(id + 6, &m->pid, 4); /* a rank that was started again is another stream */
	id[14] = (uint8_t)(m->rank >> 8);
	id[15] = (uint8_t)m->rank;
	snprintf(path, sizeof(path), "%s/%04" PRIu64 ".gst", m->folder, m->rank);
	m->out = fopen(path, "wb");
	m->encoder = wire_encoder_new(id, 3);
	m->names = wire_strtab_new();
	check(m->out && m->encoder && m->names, path);
	write_hello(m);
}

static int by_end(const void *a, const void *b)
{
	const struct wire_event *x = a, *y = b;

	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

/* The kind whose next block ends first; 0: all are written. */
static int next_kind(const struct make *m)
{
	int64_t first = INT64_MAX;
	int kind, best = 0;

	for (kind = 1; kind < WIRE_KIND_MAX; kind++) {
		const struct rows *r = &m->rows[kind];
		size_t last = r->done + CHUNK < r->n ? r->done + CHUNK : r->n;

		if (r->done < r->n && r->ev[last - 1].end_ns < first) {
			first = r->ev[last - 1].end_ns;
			best = kind;
		}
	}
	return best;
}

static void write_events(struct make *m)
{
	int kind;

	for (kind = 1; kind < WIRE_KIND_MAX; kind++)
		if (m->rows[kind].n)
			qsort(m->rows[kind].ev, m->rows[kind].n, sizeof(struct wire_event), by_end);
	while ((kind = next_kind(m))) {
		struct rows *r = &m->rows[kind];
		size_t n = r->n - r->done < CHUNK ? r->n - r->done : CHUNK;

		check(!wire_encoder_block(m->encoder, r->ev + r->done, n, NULL,
					  r->ev[r->done + n - 1].end_ns, &m->buf),
		      "events");
		r->done += n;
	}
}

static void write_samples(struct make *m)
{
	size_t i, n;

	for (i = 0; i < m->samples; i += n) {
		n = m->samples - i < SAMPLE_CHUNK ? m->samples - i : SAMPLE_CHUNK;
		check(!wire_encoder_samples(m->encoder, m->sample + i, n, m->sample[i].t_ns,
					    &m->buf),
		      "samples");
	}
}

static void write_pulses(struct make *m)
{
	size_t i;

	for (i = 0; i < m->pulses; i++) {
		Wire__Pulse pulse = WIRE__PULSE__INIT;

		pulse.t_ns = m->pulse[i];
		pulse.complete_ns = m->pulse[i];
		pulse.level = (char *)"1";
		check(!wire_encoder_message(m->encoder, WIRE_FRAME_PULSE, &pulse.base, m->pulse[i],
					    &m->buf),
		      "pulse");
	}
}

static void finish(struct make *m)
{
	int kind;

	check(fwrite(m->buf.data, 1, m->buf.len, m->out) == m->buf.len, "cannot write");
	check(!fclose(m->out), "cannot write");
	wire_encoder_free(m->encoder);
	wire_strtab_free(m->names);
	m->out = NULL;
	m->buf.len = m->samples = m->pulses = 0;
	for (kind = 0; kind < WIRE_KIND_MAX; kind++)
		m->rows[kind].n = m->rows[kind].done = 0;
}

static void write_rows(struct make *m)
{
	uint32_t next = 1;

	check(m->out != NULL, "an end before its stream");
	while (next <= wire_strtab_count(m->names))
		check(!wire_encoder_strings(m->encoder, m->names, next, &next, m->start, &m->buf),
		      "names");
	write_events(m);
	write_samples(m);
	write_pulses(m);
}

static void take_bye(struct make *m, char *p)
{
	Wire__Bye bye = WIRE__BYE__INIT;
	uint64_t v;

	numbers(p, &v, 1);
	write_rows(m);
	bye.t_ns = (int64_t)v;
	bye.reason = (char *)"exit";
	check(!wire_encoder_message(m->encoder, WIRE_FRAME_BYE, &bye.base, bye.t_ns, &m->buf),
	      "bye");
	finish(m);
}

static void take_cut(struct make *m, char *p)
{
	(void)p;
	write_rows(m);
	finish(m);
}

static const struct {
	const char *word;
	void (*take)(struct make *, char *);
} takers[] = {
	{ "op ", take_op },	    { "api ", take_api },	{ "range ", take_range },
	{ "wait ", take_wait },	    { "sample ", take_sample }, { "pulse ", take_pulse },
	{ "stream ", take_stream }, { "bye ", take_bye },	{ "cut", take_cut },
	{ "env ", take_env },
};

static void take_line(struct make *m, char *line)
{
	size_t i, n;

	line[strcspn(line, "\n")] = '\0';
	for (i = 0; i < sizeof(takers) / sizeof(takers[0]); i++) {
		n = strlen(takers[i].word);
		if (!strncmp(line, takers[i].word, n)) {
			takers[i].take(m, line + n);
			return;
		}
	}
	check(false, line);
}

int main(int argc, char **argv)
{
	struct make m = { .folder = argv[1] };
	char line[8192];
	int kind;

	check(argc == 2, "ranks_make FOLDER");
	while (fgets(line, sizeof(line), stdin))
		take_line(&m, line);
	check(!m.out, "the last stream has no end");
	for (kind = 0; kind < WIRE_KIND_MAX; kind++)
		free(m.rows[kind].ev);
	free(m.sample);
	free(m.pulse);
	for (size_t i = 0; i < m.variables; i++)
		free(m.env[i].key); /* the value lies in it */
	wire_buf_fini(&m.buf);
	return 0;
}
