/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the streams of a run of many ranks from lines on stdin: one word, then numbers, then a
 * name to the end of the line where a row has one. Times are those of the rank's own host.
 *
 *	stream RANK WORLD PID START HOST		begins a stream, <RANK>.gst
 *	env NAME VALUE					of the streams that follow
 *	run ID						of the streams that follow
 *	op START END CORR STREAM NAME			a kernel on the rank's GPU
 *	api START END CORR TID NAME
 *	wait START STREAM				the stream was told to wait (a SYNC record)
 *	range OP START END TID FLAGS NAME		OP: enum wire_range
 *	nccl START END TID COMM NAME			a range of NCCL's; COMM: 0: of no communicator
 *	sample T TID ROLE STATE WAIT STACK		'~' ends a frame, '|' a field
 *	links [TEXT]					of the samples that follow (wire/evidence.h)
 *	pulse T						the process was alive
 *	bye T						ends the stream as a process that exits does
 *	cut						ends it as a killed one does
 *
 *	ranks_make FOLDER
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "lines.h"
#include "made.h"

#define CHUNK 4096
#define VARIABLES 16
#define SAMPLE_CHUNK 1000

struct make {
	const char *folder;
	struct made_stream s; /* file NULL: none is being made */
	struct wire_sample *sample;
	size_t samples, sample_room;
	uint32_t links;
	int64_t *pulse;
	size_t pulses, pulse_room;
	uint64_t rank, world, pid;
	int64_t start;
	char host[256], run[256];
	Wire__Hello__EnvironmentEntry env[VARIABLES], *envs[VARIABLES];
	size_t variables;
};

static void *grown(void *old, size_t n, size_t *room, size_t size)
{
	if (n < *room)
		return old;
	*room = *room ? 2 * *room : 1024;
	old = realloc(old, *room * size);
	made_need(old != NULL, "no memory");
	return old;
}

static struct wire_event *event(struct make *m, int kind, uint64_t start, uint64_t end)
{
	return made_event(&m->s, kind, (int64_t)start, (int64_t)end);
}

static void take_op(struct make *m, char *p)
{
	struct wire_event *e;
	uint64_t v[4];

	p = made_numbers(p, v, 4);
	e = event(m, WIRE_KIND_OP, v[0], v[1]);
	e->op = WIRE_OP_KERNEL;
	e->context = 1;
	e->corr = v[2];
	e->stream = (uint32_t)v[3];
	e->name = made_rest(&m->s, p);
}

static void take_api(struct make *m, char *p)
{
	made_api(&m->s, p);
}

static void take_wait(struct make *m, char *p)
{
	struct wire_event *e;
	uint64_t v[2];

	made_numbers(p, v, 2);
	e = event(m, WIRE_KIND_SYNC, v[0], v[0] + 300);
	e->op = WIRE_SYNC_STREAM_WAIT;
	e->context = 1;
	e->stream = (uint32_t)v[1];
}

static void take_range(struct make *m, char *p)
{
	made_range(&m->s, p);
}

static void take_nccl(struct make *m, char *p)
{
	struct wire_event *e;
	uint64_t v[4];

	p = made_numbers(p, v, 4);
	e = event(m, WIRE_KIND_RANGE, v[0], v[1]);
	e->op = WIRE_RANGE_USER;
	e->tid = (uint32_t)v[2];
	e->bytes = v[3];
	e->name = made_rest(&m->s, p);
}

static void take_sample(struct make *m, char *p)
{
	uint64_t v[5];

	p = made_numbers(p, v, 5);
	made_unfold(p);
	m->sample = grown(m->sample, m->samples, &m->sample_room, sizeof(*m->sample));
	m->sample[m->samples++] = (struct wire_sample){ .t_ns = (int64_t)v[0],
							.pid = (uint32_t)m->pid,
							.tid = (uint32_t)v[1],
							.role = (uint8_t)v[2],
							.state = (uint8_t)v[3],
							.wait = (uint8_t)v[4],
							.period_ns = 5000000,
							.stack = made_rest(&m->s, p),
							.links = m->links };
}

static void take_links(struct make *m, char *p)
{
	m->links = p[strspn(p, " ")] ? made_rest(&m->s, p) : 0;
}

static void take_pulse(struct make *m, char *p)
{
	uint64_t v;

	made_numbers(p, &v, 1);
	m->pulse = grown(m->pulse, m->pulses, &m->pulse_room, sizeof(*m->pulse));
	m->pulse[m->pulses++] = (int64_t)v;
}

static void write_hello(struct make *m)
{
	struct made_hello h;

	made_hello_init(&h, m->host, (int64_t)m->pid, m->start,
			"NVIDIA H100 80GB HBM3 (simulated)");
	memcpy(h.uuid, (uint8_t[]){ 1, 2, (uint8_t)(m->rank >> 8), (uint8_t)m->rank }, 4);
	h.device.context_ns = m->start;
	h.m.boot_id = m->host;
	h.m.role = (char *)"trainer";
	if (m->run[0])
		h.m.run_id = m->run;
	h.m.rank = (int32_t)m->rank;
	h.m.has_rank = true;
	h.m.world_size = (uint32_t)m->world;
	h.m.n_environment = m->variables;
	h.m.environment = m->envs;
	made_message(&m->s, WIRE_FRAME_HELLO, &h.m.base, m->start);
}

/* A variable told again takes the place of what it was. */
static void take_env(struct make *m, char *p)
{
	Wire__Hello__EnvironmentEntry *e;
	char *name = strdup(p + strspn(p, " ")), *value = name ? strchr(name, ' ') : NULL;
	size_t i;

	made_need(value != NULL, "env NAME VALUE");
	*value++ = '\0';
	for (i = 0; i < m->variables && strcmp(m->env[i].key, name) != 0; i++)
		;
	made_need(i < VARIABLES, "too many variables");
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

	made_need(!m->s.file, "a stream within a stream");
	p = made_numbers(p, v, 4);
	m->rank = v[0];
	m->world = v[1];
	m->pid = v[2];
	m->start = (int64_t)v[3];
	snprintf(m->host, sizeof(m->host), "%s", p + strspn(p, " "));
	memcpy(id + 6, &m->pid, 4); /* a rank that was started again is another stream */
	id[14] = (uint8_t)(m->rank >> 8);
	id[15] = (uint8_t)m->rank;
	snprintf(path, sizeof(path), "%s/%04" PRIu64 ".gst", m->folder, m->rank);
	made_open(&m->s, path, id);
	write_hello(m);
}

/* The kind whose next block ends first; 0: all are written. */
static int next_kind(const struct made_stream *s, const size_t *done)
{
	int64_t first = INT64_MAX;
	int kind, best = 0;

	for (kind = 1; kind < WIRE_KIND_MAX; kind++) {
		size_t n = s->rows[kind].n, last = done[kind] + CHUNK < n ? done[kind] + CHUNK : n;

		if (done[kind] < n && s->rows[kind].ev[last - 1].end_ns < first) {
			first = s->rows[kind].ev[last - 1].end_ns;
			best = kind;
		}
	}
	return best;
}

static void write_events(struct made_stream *s)
{
	size_t done[WIRE_KIND_MAX] = { 0 }, n;
	int kind;

	for (kind = 1; kind < WIRE_KIND_MAX; kind++)
		made_sort(s, kind);
	while ((kind = next_kind(s, done))) {
		n = s->rows[kind].n - done[kind];
		n = n < CHUNK ? n : CHUNK;
		made_block(s, kind, done[kind], n, s->rows[kind].ev[done[kind] + n - 1].end_ns);
		done[kind] += n;
	}
}

static void write_samples(struct make *m)
{
	size_t i, n;

	for (i = 0; i < m->samples; i += n) {
		n = m->samples - i < SAMPLE_CHUNK ? m->samples - i : SAMPLE_CHUNK;
		made_samples(&m->s, m->sample + i, n, n, m->sample[i].t_ns);
	}
}

static void write_pulses(struct make *m)
{
	size_t i;

	for (i = 0; i < m->pulses; i++)
		made_pulse(&m->s, m->pulse[i], m->pulse[i]);
}

static void finish(struct make *m)
{
	made_close(&m->s);
	m->samples = m->pulses = 0;
}

static void write_rows(struct make *m)
{
	made_need(m->s.file != NULL, "an end before its stream");
	made_names(&m->s, m->start);
	write_events(&m->s);
	write_samples(m);
	write_pulses(m);
}

static void take_bye(struct make *m, char *p)
{
	uint64_t v;

	made_numbers(p, &v, 1);
	write_rows(m);
	made_bye(&m->s, (int64_t)v, (int64_t)v);
	finish(m);
}

static void take_run(struct make *m, char *p)
{
	snprintf(m->run, sizeof(m->run), "%s", p + strspn(p, " "));
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
	{ "env ", take_env },	    { "links", take_links },	{ "nccl ", take_nccl },
	{ "run ", take_run },
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
	made_need(false, line);
}

int main(int argc, char **argv)
{
	struct make m = { .folder = argv[1] };
	char line[8192];

	made_need(argc == 2, "ranks_make FOLDER");
	while (fgets(line, sizeof(line), stdin))
		take_line(&m, line);
	made_need(!m.s.file, "the last stream has no end");
	free(m.sample);
	free(m.pulse);
	for (size_t i = 0; i < m.variables; i++)
		free(m.env[i].key); /* the value lies in it */
	return 0;
}
