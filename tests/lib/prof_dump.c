/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prof_dump [--frames] FILE...: the frames of stream and spool files as JSON lines, for tests:
 * merged by stream and sequence number, duplicates dropped, names resolved. Damage goes to stderr
 * and makes it exit 1.
 * --frames: without events, samples and batches.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/reader.h"
#include "wire/session.pb-c.h"
#include "wire/strtab.h"

struct item {
	struct wire_entry e;
	struct wire_file *file;
};

static struct item *items;
static size_t count, room;
static struct wire_scratch *scratch;
static struct wire_strtab *names;

static void text(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			putchar('\\');
		if ((unsigned char)*s < 0x20)
			printf("\\u%04x", *s);
		else
			putchar(*s);
	}
	putchar('"');
}

static int read_file(const char *path)
{
	const struct wire_damage *damage;
	struct wire_file *file;
	struct wire_entry e;
	size_t n, i;

	if (wire_file_open(&file, path)) {
		fprintf(stderr, "%s: cannot be opened\n", path);
		return 1;
	}
	while (wire_file_next(file, &e) > 0) {
		if (count == room) {
			room = room ? 2 * room : 1024;
			items = realloc(items, room * sizeof(*items));
		}
		items[count].e = e;
		items[count++].file = file;
	}
	damage = wire_file_damage(file, &n);
	for (i = 0; i < n; i++)
		fprintf(stderr, "%s: damage at %" PRIu64 ", %" PRIu64 " bytes\n", path,
			damage[i].offset, damage[i].bytes);
	return n > 0;
}

static int by_sequence(const void *a, const void *b)
{
	const struct wire_frame *x = &((const struct item *)a)->e.frame;
	const struct wire_frame *y = &((const struct item *)b)->e.frame;
	int order = memcmp(x->stream, y->stream, sizeof(x->stream));

	if (order)
		return order;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static void hello(const Wire__Hello *m)
{
	size_t i, j;

	printf("\"host\":");
	text(m->host);
	printf(",\"pid\":%" PRId64 ",\"start\":%" PRId64 ",\"armed\":%" PRId64 ",\"run\":", m->pid,
	       m->process_start_ns, m->armed_ns);
	text(m->run_id);
	printf(",\"rank\":%d,\"has_rank\":%d,\"local_rank\":%d,\"world\":%u", m->rank, m->has_rank,
	       m->local_rank, m->world_size);
	printf(",\"level\":\"%s\",\"graphs\":\"%s\",\"cupti\":%u,\"driver\":%u,\"clock\":\"%s\"",
	       m->level, m->graphs, m->cupti_version, m->driver_version, m->clock);
	printf(",\"torch\":\"%s\"", m->torch_version);
	printf(",\"command\":[");
	for (i = 0; i < m->n_command; i++) {
		printf(i ? "," : "");
		text(m->command[i]);
	}
	printf("],\"notes\":[");
	for (i = 0; i < m->n_notes; i++) {
		printf(i ? "," : "");
		text(m->notes[i]);
	}
	printf("],\"labels\":{");
	for (i = 0; i < m->n_labels; i++) {
		printf(i ? "," : "");
		text(m->labels[i]->key);
		putchar(':');
		text(m->labels[i]->value);
	}
	printf("},\"devices\":[");
	for (i = 0; i < m->n_devices; i++) {
		printf("%s{\"ordinal\":%u,\"uuid\":\"", i ? "," : "", m->devices[i]->ordinal);
		for (j = 0; j < m->devices[i]->uuid.len; j++)
			printf("%02x", m->devices[i]->uuid.data[j]);
		printf("\",\"name\":");
		text(m->devices[i]->name);
		printf(",\"memory\":%" PRIu64 ",\"nvml\":%d,\"mig\":\"%s\",\"slices\":%u}",
		       m->devices[i]->memory_total_bytes, m->devices[i]->nvml_index,
		       m->devices[i]->mig_profile, m->devices[i]->mig_slices);
	}
	putchar(']');
}

static void pulse_device(const Wire__PulseDevice *d, const char *before)
{
	const Wire__PulseMeter *m = d->meter;

	printf("%s{\"ordinal\":%u,\"busy\":%" PRIu64 ",\"ops\":%" PRIu64, before, d->ordinal,
	       d->busy_ns, d->ops);
	if (m)
		printf(",\"meter\":{\"source\":%u,\"known\":%u,\"age_us\":%" PRIu64
		       ",\"span_us\":%" PRIu64
		       ",\"busy\":%u,\"sm\":%u,\"occupancy\":%u,\"tensor\":%u,\"dram\":%u,"
		       "\"pcie_tx\":%u,\"pcie_rx\":%u,\"bytes\":%zu}",
		       m->source, m->known, m->age_us, m->span_us, m->busy, m->sm, m->occupancy,
		       m->tensor, m->dram, m->pcie_tx_mib, m->pcie_rx_mib,
		       wire__pulse_meter__get_packed_size(m) + 2);
	putchar('}');
}

static void pulse_cost(const Wire__PulseCost *m)
{
	size_t i;

	printf(",\"cost\":{\"limit\":%u,\"step\":%u,\"deepest\":%u,\"worst\":%u,\"spent\":%" PRIu64
	       ",\"learnt\":%u,\"left\":%u,\"passed\":%u,\"launch\":[",
	       m->limit, m->step, m->deepest, m->worst, m->spent_ns, m->learnt, m->left_ns,
	       m->passed);
	for (i = 0; i < m->n_launch_ns; i++)
		printf("%s%u", i ? "," : "", m->launch_ns[i]);
	printf("]}");
}

static void pulse(const Wire__Pulse *m)
{
	size_t i;

	printf("\"t\":%" PRId64 ",\"complete\":%" PRId64 ",\"loader_wait\":%" PRIu64
	       ",\"launches\":%" PRIu64 ",\"dropped\":%" PRIu64 ",\"cpu\":%" PRIu64
	       ",\"events\":%" PRIu64 ",\"frames_dropped\":%" PRIu64 ",\"memory\":%" PRIu64
	       ",\"invalid\":%" PRIu64 ",\"saves_told\":%" PRIu64 ",\"level\":\"%s\",\"devices\":[",
	       m->t_ns, m->complete_ns, m->loader_wait_ns, m->launches, m->dropped, m->own_cpu_ns,
	       m->events, m->frames_dropped, m->memory_bytes, m->invalid, m->saves_told, m->level);
	for (i = 0; i < m->n_devices; i++)
		pulse_device(m->devices[i], i ? "," : "");
	putchar(']');
	if (m->cost)
		pulse_cost(m->cost);
}

static void bye(const Wire__Bye *m)
{
	size_t i;

	printf("\"t\":%" PRId64 ",\"reason\":\"%s\",\"frames\":%" PRIu64 ",\"notes\":[", m->t_ns,
	       m->reason, m->frames);
	for (i = 0; i < m->n_notes; i++) {
		printf(i ? "," : "");
		text(m->notes[i]);
	}
	printf("],\"last\":{");
	if (m->last)
		pulse(m->last);
	putchar('}');
}

static void loss(const Wire__Loss *m)
{
	size_t i;

	printf("\"spans\":[");
	for (i = 0; i < m->n_spans; i++) {
		const Wire__LossSpan *s = m->spans[i];

		printf("%s{\"reason\":%d,\"start\":%" PRId64 ",\"end\":%" PRId64
		       ",\"count\":%" PRIu64 ",\"device\":%d,\"stream\":%u,\"corr\":%" PRIu64 "}",
		       i ? "," : "", s->reason, s->start_ns, s->end_ns, s->count,
		       s->has_device ? (int)s->device : -1, s->stream, s->correlation);
	}
	putchar(']');
}

static void clocks(const Wire__Clock *m)
{
	size_t i;

	printf("\"triplets\":[");
	for (i = 0; i < m->n_triplets; i++)
		printf("%s[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "]", i ? "," : "",
		       m->triplets[i]->monotonic_before_ns, m->triplets[i]->cupti_ns,
		       m->triplets[i]->monotonic_after_ns, m->triplets[i]->realtime_ns);
	putchar(']');
}

static void facts(const Wire__Facts *m)
{
	size_t i;

	printf("\"t\":%" PRId64 ",\"devices\":[", m->t_ns);
	for (i = 0; i < m->n_devices; i++)
		printf("%s{\"ordinal\":%u,\"used\":%" PRIu64 ",\"total\":%" PRIu64
		       ",\"utilization\":%u,\"others\":%u}",
		       i ? "," : "", m->devices[i]->ordinal, m->devices[i]->memory_used_bytes,
		       m->devices[i]->memory_total_bytes, m->devices[i]->nvml_utilization_pct,
		       m->devices[i]->other_processes);
	printf("],\"checkpoints\":[");
	for (i = 0; i < m->n_checkpoints; i++) {
		printf("%s{\"start\":%" PRId64 ",\"end\":%" PRId64 ",\"bytes\":%" PRIu64
		       ",\"path\":",
		       i ? "," : "", m->checkpoints[i]->start_ns, m->checkpoints[i]->end_ns,
		       m->checkpoints[i]->bytes);
		text(m->checkpoints[i]->path);
		printf(",\"saver\":");
		text(m->checkpoints[i]->saver);
		printf(",\"told\":%" PRIu64, m->checkpoints[i]->told);
		printf(",\"state\":%d,\"number\":%u,\"before\":%" PRIu64 ",\"inode\":%" PRIu64
		       ",\"size\":%" PRIu64 ",\"mtime\":%" PRId64 ",\"synced\":%d,\"content\":%d}",
		       (int)m->checkpoints[i]->state, m->checkpoints[i]->number,
		       m->checkpoints[i]->before_inode, m->checkpoints[i]->inode,
		       m->checkpoints[i]->size, m->checkpoints[i]->mtime_ns,
		       m->checkpoints[i]->synced, (int)m->checkpoints[i]->content);
	}
	putchar(']');
}

static void event(const struct wire_event *e)
{
	printf("{\"event\":%d,\"op\":%d,\"start\":%" PRId64 ",\"end\":%" PRId64 ",\"corr\":%" PRIu64
	       ",\"bytes\":%" PRIu64 ",\"device\":%u,\"context\":%u,\"stream\":%u,\"tid\":%u"
	       ",\"graph\":%u,\"copy\":%d,\"src\":%d,\"dst\":%d,\"flags\":%d,\"peer\":%d,\"name\":",
	       e->kind, e->op, e->start_ns, e->end_ns, e->corr, e->bytes, e->device, e->context,
	       e->stream, e->tid, e->graph, e->copy, e->src, e->dst, e->flags, e->peer);
	text(wire_strtab_get(names, e->name, NULL));
	printf("}\n");
}

static int block(const struct item *it)
{
	static struct wire_event *ev;
	static size_t ev_room;
	struct wire_block_head head;
	uint32_t i;

	if (wire_file_block(it->file, scratch, &it->e, &head, &ev, &ev_room, NULL)) {
		fprintf(stderr, "a block that cannot be decoded\n");
		return 1;
	}
	for (i = 0; i < head.count; i++)
		event(&ev[i]);
	return 0;
}

static void batch(const struct wire_batch *b)
{
	printf("{\"batch\":%d,\"start\":%" PRId64 ",\"end\":%" PRId64 ",\"pid\":%u,\"tid\":%u"
	       ",\"loader\":%u,\"worker\":%u,\"index\":%" PRId64 ",\"samples\":%u,\"cpu\":%" PRIu64
	       ",\"delay\":%" PRIu64 ",\"rchar\":%" PRIu64 ",\"read\":%" PRIu64
	       ",\"faults\":%" PRIu64 ",\"text\":",
	       b->what, b->start_ns, b->end_ns, b->pid, b->tid, b->loader, b->worker,
	       (int64_t)b->batch, b->samples, b->cpu_ns, b->delay_ns, b->rchar_bytes, b->read_bytes,
	       b->major_faults);
	text(b->text ? wire_strtab_get(names, b->text, NULL) : "");
	printf("}\n");
}

static int batches(const struct item *it)
{
	static struct wire_batch *b;
	static size_t b_room;
	struct wire_block_head head;
	uint32_t i;

	if (wire_file_batches(it->file, scratch, &it->e, &head, &b, &b_room)) {
		fprintf(stderr, "batches that cannot be decoded\n");
		return 1;
	}
	for (i = 0; i < head.count; i++)
		batch(&b[i]);
	return 0;
}

static void sample_text(const char *what, uint32_t id)
{
	printf(",\"%s\":", what);
	text(id ? wire_strtab_get(names, id, NULL) : "");
}

static void sample(const struct wire_sample *s)
{
	printf("{\"sample\":%" PRId64 ",\"pid\":%u,\"tid\":%u,\"period\":%u,\"cpu\":%" PRIu64
	       ",\"delay\":%" PRIu64 ",\"syscall\":%u,\"role\":%d,\"state\":%d,\"wait\":%d"
	       ",\"flags\":%d",
	       s->t_ns, s->pid, s->tid, s->period_ns, s->cpu_ns, s->delay_ns, s->syscall, s->role,
	       s->state, s->wait, s->flags);
	sample_text("stack", s->stack);
	sample_text("native", s->native);
	sample_text("target", s->target);
	sample_text("fs", s->fs);
	sample_text("links", s->links);
	printf("}\n");
}

static int samples(const struct item *it)
{
	static struct wire_sample *s;
	static size_t s_room;
	struct wire_block_head head;
	uint32_t i;

	if (wire_file_samples(it->file, scratch, &it->e, &head, &s, &s_room)) {
		fprintf(stderr, "samples that cannot be decoded\n");
		return 1;
	}
	for (i = 0; i < head.count; i++)
		sample(&s[i]);
	return 0;
}

static void strings(const Wire__Strings *m)
{
	size_t i;

	for (i = 0; i < m->n_entries; i++)
		wire_strtab_set(names, m->entries[i]->id, (char *)m->entries[i]->text.data,
				m->entries[i]->text.len);
}

struct kind {
	int type;
	const char *name;
	const ProtobufCMessageDescriptor *descriptor;
	void (*print)(const void *);
};

#define PRINTER(fn) ((void (*)(const void *))(fn))

static const struct kind kinds[] = {
	{ WIRE_FRAME_HELLO, "hello", &wire__hello__descriptor, PRINTER(hello) },
	{ WIRE_FRAME_STRINGS, "strings", &wire__strings__descriptor, PRINTER(strings) },
	{ WIRE_FRAME_FACTS, "facts", &wire__facts__descriptor, PRINTER(facts) },
	{ WIRE_FRAME_CLOCK, "clock", &wire__clock__descriptor, PRINTER(clocks) },
	{ WIRE_FRAME_LOSS, "loss", &wire__loss__descriptor, PRINTER(loss) },
	{ WIRE_FRAME_PULSE, "pulse", &wire__pulse__descriptor, PRINTER(pulse) },
	{ WIRE_FRAME_BYE, "bye", &wire__bye__descriptor, PRINTER(bye) },
};

static int message(const struct item *it, const struct kind *k)
{
	ProtobufCMessage *m = wire_file_message(it->file, scratch, &it->e, k->descriptor);

	if (!m) {
		fprintf(stderr, "a %s that cannot be read\n", k->name);
		return 1;
	}
	printf("{\"frame\":\"%s\",\"seq\":%" PRIu64 ",", k->name, it->e.frame.seq);
	k->print(m);
	printf("%s}\n", k->type == WIRE_FRAME_STRINGS ? "\"strings\":1" : "");
	protobuf_c_message_free_unpacked(m, NULL);
	return 0;
}

static int frame(const struct item *it, bool rare)
{
	size_t i;

	if (rare && it->e.frame.type >= WIRE_FRAME_BLOCK && it->e.frame.type <= WIRE_FRAME_WORKERS)
		return 0;
	if (it->e.frame.type == WIRE_FRAME_BLOCK || it->e.frame.type == WIRE_FRAME_RANGES)
		return block(it);
	if (it->e.frame.type == WIRE_FRAME_SAMPLES)
		return samples(it);
	if (it->e.frame.type == WIRE_FRAME_WORKERS)
		return batches(it);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].type == it->e.frame.type)
			return message(it, &kinds[i]);
	fprintf(stderr, "frame of unknown type %d\n", it->e.frame.type);
	return 1;
}

static void new_stream(const uint8_t *id)
{
	int i;

	wire_strtab_free(names);
	names = wire_strtab_new();
	printf("{\"stream\":\"");
	for (i = 0; i < WIRE_STREAM_ID_BYTES; i++)
		printf("%02x", id[i]);
	printf("\"}\n");
}

int main(int argc, char **argv)
{
	const struct wire_frame *last = NULL;
	bool rare = argc > 1 && !strcmp(argv[1], "--frames");
	int bad = 0, i;
	size_t n;

	scratch = wire_scratch_new();
	for (i = rare ? 2 : 1; i < argc; i++)
		bad |= read_file(argv[i]);
	qsort(items, count, sizeof(*items), by_sequence);
	for (n = 0; n < count; n++) {
		const struct wire_frame *f = &items[n].e.frame;

		if (!last || memcmp(last->stream, f->stream, sizeof(f->stream))) {
			new_stream(f->stream);
		} else if (last->seq == f->seq) {
			continue;
		} else if (last->seq + 1 != f->seq) {
			fprintf(stderr, "frames %" PRIu64 " to %" PRIu64 " are missing\n",
				last->seq + 1, f->seq - 1);
			bad = 1;
		}
		last = f;
		bad |= frame(&items[n], rare);
	}
	return bad;
}
