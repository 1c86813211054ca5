/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A resolved trace as wire streams: one file per process, events of each kind in order of start.
 */
#include "import.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include "sort.h"
#include "wire/encoder.h"
#include "wire/session.pb-c.h"

#define ZSTD_LEVEL 3
#define BLOCK_EVENTS 16384u /* a reader decodes a block at a time: 1 MB */
#define LOSS_SPANS 4096u
#define FLUSH_BYTES (1u << 20)

struct order { /* the events of one kind by (process, start), and how far they are written */
	struct view_import_key *key;
	size_t n, at;
};

struct writer {
	const struct view_import_trace *t;
	struct view_import_job *job;
	struct order order[WIRE_KIND_MAX];
	struct wire_event *block;
	uint32_t *name; /* by number in t->texts: number in the stream's strings, 0: not yet */
	uint32_t names;
	/* the stream that is being written */
	uint32_t process;
	int fd;
	struct wire_encoder *encoder;
	struct wire_strtab *strings;
	uint32_t next_string;
	struct wire_buf out;
	uint64_t bytes;
};

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int flush(struct writer *w)
{
	const uint8_t *p = w->out.data;
	size_t left = w->out.len;

	while (left) {
		ssize_t n = write(w->fd, p, left);

		if (n < 0 && errno != EINTR)
			return -errno;
		p += n > 0 ? n : 0;
		left -= n > 0 ? (size_t)n : 0;
	}
	w->bytes += w->out.len;
	w->out.len = 0;
	return 0;
}

/* --- Hello --- */

/* What the file says of a device of this process; NULL: nothing. */
static const struct view_import_device *describe(const struct writer *w, uint32_t ordinal)
{
	const struct view_import_process *p = &w->t->process[w->process];
	const struct view_import_device *found = NULL;
	size_t i;

	for (i = 0; i < w->t->devices; i++) {
		const struct view_import_device *d = &w->t->device[i];

		if (d->ordinal != (int64_t)ordinal)
			continue;
		if (!d->any_process && p->id != VIEW_IMPORT_NO_PROCESS && d->pid == p->pid)
			return d;
		if (d->any_process)
			found = d;
	}
	return found;
}

struct device_list {
	Wire__Device **device;
	size_t n;
};

static void free_devices(struct device_list *l)
{
	while (l->n)
		free(l->device[--l->n]);
	free(l->device);
}

static int add_device(const struct writer *w, struct device_list *l, uint32_t ordinal)
{
	const struct view_import_device *from = describe(w, ordinal);
	Wire__Device *d = calloc(1, sizeof(*d)), **list;

	list = realloc(l->device, (l->n + 1) * sizeof(*list));
	if (list)
		l->device = list;
	if (!list || !d) {
		free(d);
		return -ENOMEM;
	}
	wire__device__init(d);
	d->ordinal = ordinal;
	d->nvml_index = -1;
	if (from) {
		d->name = (char *)from->name;
		d->memory_total_bytes = from->memory_bytes;
		d->pci_bus_id = (char *)from->bus;
	}
	if (from && from->has_uuid) {
		d->uuid.data = (uint8_t *)from->uuid;
		d->uuid.len = sizeof(from->uuid);
	}
	l->device[l->n++] = d;
	return 0;
}

static int by_ordinal(const void *a, const void *b)
{
	const Wire__Device *x = *(Wire__Device *const *)a, *y = *(Wire__Device *const *)b;

	return x->ordinal < y->ordinal ? -1 : x->ordinal > y->ordinal;
}

static int list_device(const struct writer *w, struct device_list *l, uint32_t ordinal)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->device[i]->ordinal == ordinal)
			return 0;
	return add_device(w, l, ordinal);
}

static bool has_ops(const struct writer *w, uint32_t device)
{
	const struct view_import_table *ops = &w->t->table[WIRE_KIND_OP];
	size_t i;

	for (i = 0; i < ops->n; i++)
		if (ops->ev[i].device == device)
			return true;
	return false;
}

/*
 * The devices that this process's operations ran on; of those with bad ones only, the devices on
 * which any process's ran.
 */
static int list_devices(const struct writer *w, struct device_list *l)
{
	const struct view_import_table *ops = &w->t->table[WIRE_KIND_OP], *bad = &w->t->table[0];
	const struct order *o = &w->order[WIRE_KIND_OP];
	uint32_t last = UINT32_MAX;
	size_t i;
	int err = 0;

	for (i = o->at; !err && i < o->n && o->key[i].process == w->process; i++) {
		uint32_t device = ops->ev[o->key[i].index].device;

		if (!l->n || device != last)
			err = list_device(w, l, device);
		last = device;
	}
	for (i = 0; !err && i < bad->n; i++)
		if (bad->process[i] == w->process && has_ops(w, bad->ev[i].device))
			err = list_device(w, l, bad->ev[i].device);
	if (l->n)
		qsort(l->device, l->n, sizeof(*l->device), by_ordinal);
	return err;
}

static int put_hello(struct writer *w)
{
	const struct view_import_process *p = &w->t->process[w->process];
	struct device_list devices = { .n = 0 };
	char *path = strdup(w->job->path);
	Wire__Hello hello = WIRE__HELLO__INIT;
	Wire__Import import = WIRE__IMPORT__INIT;
	int err = -ENOMEM;

	if (!path)
		return -ENOMEM;
	err = list_devices(w, &devices);
	if (err)
		goto out;
	import.kind = (char *)w->t->kind;
	import.file = basename(path);
	import.file_index = w->job->file_index;
	import.window_start = w->t->window_start;
	import.window_end = w->t->window_end;
	import.process_unknown = p->id == VIEW_IMPORT_NO_PROCESS;
	import.bad_ops = p->bad_ops;
	import.rows = w->t->rows;
	hello.import = &import;
	hello.host = (char *)w->t->host;
	hello.user = (char *)w->t->user;
	hello.pid = p->pid;
	hello.rank = w->t->rank;
	hello.has_rank = w->t->has_rank;
	hello.world_size = w->t->world_size;
	hello.cupti_version = w->t->cupti_version;
	hello.driver_version = w->t->driver_version;
	hello.level = (char *)"import";
	hello.clock = (char *)"import";
	hello.libprof_version = (char *)GPUSTARVE_VERSION;
	hello.n_devices = devices.n;
	hello.devices = devices.device;
	err = wire_encoder_message(w->encoder, WIRE_FRAME_HELLO, &hello.base, now_ns(), &w->out);
out:
	free_devices(&devices);
	free(path);
	return err;
}

/* --- events --- */

/* The stream's own number of a name; the file's table holds the names of all processes. */
static int rename_in_stream(struct writer *w, struct wire_event *e)
{
	const char *text;
	size_t len;

	if (!e->name || w->name[e->name]) {
		e->name = w->name[e->name];
		return 0;
	}
	text = wire_strtab_get(w->t->texts, e->name, &len);
	w->name[e->name] = wire_strtab_intern(w->strings, text, len);
	e->name = w->name[e->name];
	return e->name ? 0 : -ENOMEM;
}

static int put_strings(struct writer *w)
{
	int err = 0;

	while (!err && w->next_string <= wire_strtab_count(w->strings))
		err = wire_encoder_strings(w->encoder, w->strings, w->next_string, &w->next_string,
					   now_ns(), &w->out);
	return err;
}

/* A block's head has room for so many devices; true if this one is among them or fits. */
static bool device_fits(uint32_t *device, size_t *devices, uint32_t d)
{
	size_t i;

	for (i = 0; i < *devices; i++)
		if (device[i] == d)
			return true;
	if (*devices == WIRE_BLOCK_DEVICES_MAX)
		return false;
	device[(*devices)++] = d;
	return true;
}

/* Takes the next events of a kind of this process. */
static int fill_block(struct writer *w, int kind, size_t *n)
{
	const struct view_import_table *table = &w->t->table[kind];
	struct order *o = &w->order[kind];
	uint32_t device[WIRE_BLOCK_DEVICES_MAX] = { 0 };
	size_t devices = 0;
	int err;

	for (*n = 0; *n < BLOCK_EVENTS; o->at++) {
		struct wire_event *e = &w->block[*n];

		if (o->at == o->n || o->key[o->at].process != w->process)
			break;
		*e = table->ev[o->key[o->at].index];
		if (kind == WIRE_KIND_OP && !device_fits(device, &devices, e->device))
			break;
		err = rename_in_stream(w, e);
		if (err)
			return err;
		++*n;
	}
	return 0;
}

static int put_events(struct writer *w, int kind)
{
	size_t n;
	int err;

	for (;;) {
		err = fill_block(w, kind, &n);
		if (err || !n)
			return err;
		err = view_import_progress(w->job, 1, w->t->rows);
		if (!err)
			err = put_strings(w);
		if (!err)
			err = wire_encoder_block(w->encoder, w->block, n, NULL, now_ns(), &w->out);
		if (!err && w->out.len >= FLUSH_BYTES)
			err = flush(w);
		if (err)
			return err;
	}
}

/* --- bad operations --- */

static int put_loss(struct writer *w)
{
	const struct view_import_table *bad = &w->t->table[0];
	Wire__LossSpan *span = calloc(LOSS_SPANS, sizeof(*span));
	Wire__LossSpan **spans = calloc(LOSS_SPANS, sizeof(*spans));
	Wire__Loss loss = WIRE__LOSS__INIT;
	size_t i;
	int err = span && spans ? 0 : -ENOMEM;

	loss.spans = spans;
	for (i = 0; !err && i < bad->n; i++) {
		const struct wire_event *e = &bad->ev[i];
		Wire__LossSpan *s = span ? &span[loss.n_spans] : NULL;

		if (bad->process[i] == w->process) {
			wire__loss_span__init(s);
			s->reason = WIRE__LOSS_REASON__LOSS_BAD_STAMP;
			s->start_ns = s->end_ns = e->start_ns;
			s->count = 1;
			s->has_device = true;
			s->device = e->device;
			s->stream = e->stream;
			s->context = e->context;
			s->correlation = e->corr;
			spans[loss.n_spans++] = s;
		}
		if (loss.n_spans == LOSS_SPANS || (i + 1 == bad->n && loss.n_spans)) {
			err = wire_encoder_message(w->encoder, WIRE_FRAME_LOSS, &loss.base,
						   now_ns(), &w->out);
			loss.n_spans = 0;
		}
	}
	free(span);
	free(spans);
	return err;
}

static int put_bye(struct writer *w)
{
	Wire__Bye bye = WIRE__BYE__INIT;

	bye.t_ns = w->t->window_end;
	bye.reason = (char *)"exit";
	bye.frames = wire_encoder_seq(w->encoder) + 1;
	return wire_encoder_message(w->encoder, WIRE_FRAME_BYE, &bye.base, now_ns(), &w->out);
}

/* --- streams --- */

/* Files sort by name in the order of the files and processes; the rest is random. */
static int make_id(const struct writer *w, uint8_t id[WIRE_STREAM_ID_BYTES])
{
	uint32_t order[2] = { w->job->file_index, w->process };
	size_t i;

	if (getrandom(id, WIRE_STREAM_ID_BYTES, 0) != WIRE_STREAM_ID_BYTES)
		return -EIO;
	for (i = 0; i < sizeof(order); i++)
		id[i] = (uint8_t)(order[i / 4] >> (24 - i % 4 * 8));
	return 0;
}

static int open_stream(struct writer *w, int dirfd)
{
	uint8_t id[WIRE_STREAM_ID_BYTES];
	char name[WIRE_STREAM_ID_BYTES * 2 + sizeof(".gst")];
	size_t i;
	int err = make_id(w, id);

	if (err)
		return err;
	for (i = 0; i < sizeof(id); i++)
		sprintf(name + i * 2, "%02x", id[i]);
	memcpy(name + sizeof(id) * 2, ".gst", sizeof(".gst"));
	w->encoder = wire_encoder_new(id, ZSTD_LEVEL);
	w->strings = wire_strtab_new_guarded();
	w->next_string = 1;
	memset(w->name, 0, w->names * sizeof(*w->name));
	if (!w->encoder || !w->strings)
		return -ENOMEM;
	w->fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return w->fd < 0 ? -errno : 0;
}

static int close_stream(struct writer *w, int err)
{
	if (w->fd >= 0 && close(w->fd) && !err)
		err = -errno;
	w->fd = -1;
	wire_encoder_free(w->encoder);
	w->encoder = NULL;
	wire_strtab_free(w->strings);
	w->strings = NULL;
	return err;
}

static int write_stream(struct writer *w, int dirfd)
{
	int kind, err;

	w->fd = -1;
	err = open_stream(w, dirfd);
	if (!err)
		err = put_hello(w);
	for (kind = 1; !err && kind < WIRE_KIND_MAX; kind++)
		err = put_events(w, kind);
	if (!err)
		err = put_loss(w);
	if (!err)
		err = put_bye(w);
	if (!err)
		err = flush(w);
	return close_stream(w, err);
}

static int sort_kind(struct writer *w, int kind)
{
	const struct view_import_table *table = &w->t->table[kind];
	struct order *o = &w->order[kind];
	size_t i;

	o->n = table->n;
	if (!o->n)
		return 0;
	o->key = malloc(o->n * sizeof(*o->key));
	if (!o->key)
		return -ENOMEM;
	for (i = 0; i < o->n; i++)
		o->key[i] = (struct view_import_key){ table->ev[i].start_ns, table->process[i],
						      (uint32_t)i };
	return view_import_sort(o->key, o->n);
}

static void count(const struct view_import_trace *t, const struct writer *w,
		  struct view_import_stats *stats)
{
	stats->files++;
	stats->streams += t->processes;
	stats->ops += t->table[WIRE_KIND_OP].n;
	stats->api += t->table[WIRE_KIND_API].n;
	stats->ranges += t->table[WIRE_KIND_RANGE].n;
	stats->rows += t->rows;
	stats->skipped += t->skipped;
	stats->bad_ops += t->table[0].n;
	stats->bytes += w->bytes;
}

int view_import_write(struct view_import_job *job, const struct view_import_trace *t, int dirfd,
		      struct view_import_stats *stats)
{
	struct writer w = { .t = t, .job = job, .names = wire_strtab_count(t->texts) + 1 };
	int kind, err = 0;

	w.block = malloc(BLOCK_EVENTS * sizeof(*w.block));
	w.name = malloc(w.names * sizeof(*w.name));
	if (!w.block || !w.name)
		err = -ENOMEM;
	for (kind = 1; !err && kind < WIRE_KIND_MAX; kind++)
		err = sort_kind(&w, kind);
	for (; !err && w.process < t->processes; w.process++)
		err = write_stream(&w, dirfd);
	if (!err)
		count(t, &w, stats);
	for (kind = 0; kind < WIRE_KIND_MAX; kind++)
		free(w.order[kind].key);
	wire_buf_fini(&w.out);
	free(w.block);
	free(w.name);
	return err;
}
