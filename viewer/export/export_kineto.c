/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kineto's JSON, as torch.profiler writes it, for HTA, TensorBoard, chrome://tracing and our own
 * import. Times are microseconds with three decimals from integers; args.process names the host
 * process of a GPU's row, so that launches of several processes stay apart. args.gpustarve tells
 * our import what Kineto has no word for: kind and flags of a range, 0 for a step that it finds
 * itself. Rows of category gpustarve are the pieces of idle time; they reach from the begin to the
 * end of the time that a GPU was held, so that an import has the same window.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "export.h"

#define EXACT_NS (INT64_C(1) << 53) /* a double holds microseconds with decimals up to here */
#define SECOND_NS INT64_C(1000000000)
#define WHY_TID 1000000 /* beside the streams of a GPU: why it was idle */

struct page {
	struct view_export *x;
	struct view_out *o;
	size_t source;
	struct view_export_source *s;
	int64_t base;
	bool any;
	size_t only; /* the process whose file it is; ALL: one file for the whole run */
};

#define ALL SIZE_MAX

static bool skips(const struct page *p, size_t source)
{
	return p->only != ALL && p->only != source;
}

/* A GPU that several processes use is told of in the file of the first. */
static bool skips_gpu(const struct page *p, size_t gpu)
{
	return skips(p, p->x->plan.device[gpu].source);
}

/* Stamps may be anything; what cannot be subtracted wraps. */
static int64_t less(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static void put_us(struct view_out *o, int64_t ns)
{
	uint64_t u = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	unsigned int rest = (unsigned int)(u % 1000);
	char *p;

	if (ns < 0)
		view_out_char(o, '-');
	view_out_uint(o, u / 1000);
	if (!rest)
		return;
	p = view_out_room(o, 4);
	p[0] = '.';
	p[1] = (char)('0' + rest / 100);
	p[2] = (char)('0' + rest / 10 % 10);
	p[3] = (char)('0' + rest % 10);
	o->len += 4;
}

static void key_uint(struct view_out *o, const char *key, uint64_t v)
{
	view_out_text(o, key);
	view_out_uint(o, v);
}

static void key_int(struct view_out *o, const char *key, int64_t v)
{
	view_out_text(o, key);
	view_out_int(o, v);
}

/* {"ph":"X","cat":...,"name":...,"pid":...,"tid":...,"ts":...,"dur":...,"args":{ */
static void begin_row(struct page *p, const char *cat, const char *name, size_t len, int64_t pid,
		      int64_t tid)
{
	view_out_text(p->o, p->any ? ",\n{\"ph\":\"X\",\"cat\":\"" : "\n{\"ph\":\"X\",\"cat\":\"");
	p->any = true;
	view_out_text(p->o, cat);
	view_out_text(p->o, "\",\"name\":");
	view_out_json(p->o, name, len);
	key_int(p->o, ",\"pid\":", pid);
	key_int(p->o, ",\"tid\":", tid);
	p->x->rows++;
}

static void put_time(struct page *p, int64_t start, int64_t end)
{
	view_out_text(p->o, ",\"ts\":");
	put_us(p->o, less(start, p->base));
	view_out_text(p->o, ",\"dur\":");
	put_us(p->o, less(end, start));
	view_out_text(p->o, ",\"args\":{");
}

static void put_corr(struct page *p, uint64_t corr)
{
	if (corr)
		key_uint(p->o, ",\"correlation\":", corr);
}

/* The arrow from a launch to its operation. */
static void put_flow(struct page *p, const char *end, uint64_t corr, int64_t pid, int64_t tid,
		     int64_t at)
{
	if (!corr)
		return;
	view_out_text(p->o, ",\n{\"ph\":\"");
	view_out_text(p->o, end);
	key_uint(p->o, ",\"id\":", view_export_flow(p->source, corr));
	key_int(p->o, ",\"pid\":", pid);
	key_int(p->o, ",\"tid\":", tid);
	view_out_text(p->o, ",\"ts\":");
	put_us(p->o, less(at, p->base));
	view_out_text(p->o, ",\"cat\":\"ac2g\",\"name\":\"ac2g\"}");
}

/* --- operations --- */

/* Imports whose operations name no process stay so: it is one rule that gives them theirs. */
static bool process_known(const struct page *p)
{
	return !p->s->s->unknown;
}

static uint32_t device_of(struct page *p, uint32_t ordinal)
{
	uint32_t gpu = view_export_gpu(p->s, ordinal);

	return gpu == ANA_MAP_NONE ? ordinal : view_export_gpu_number(p->x, gpu);
}

static void put_place(struct page *p, const struct wire_event *e, uint32_t device)
{
	key_uint(p->o, "\"device\":", device);
	key_uint(p->o, ",\"context\":", e->context);
	if (e->kind == WIRE_KIND_OP || e->stream)
		key_int(p->o, ",\"stream\":", (int32_t)e->stream);
	put_corr(p, e->corr);
	if (process_known(p))
		key_int(p->o, ",\"process\":", p->s->pid);
}

static const char *op_cat(const struct wire_event *e)
{
	return e->op == WIRE_OP_COPY	 ? "gpu_memcpy"
	       : e->op == WIRE_OP_MEMSET ? "gpu_memset"
					 : "kernel";
}

static const char *op_name(struct page *p, const struct wire_event *e, size_t *len,
			   char copy[VIEW_EXPORT_COPY_BYTES])
{
	const char *name = view_export_name(p->s, e->name, len);

	if (*len && (e->op != WIRE_OP_COPY || !strncmp(name, "Memcpy", 6)))
		return name;
	name = e->op == WIRE_OP_COPY ? view_export_copy_name(copy, e) : view_export_op_name(e);
	*len = strlen(name);
	return name;
}

static int put_op(void *arg, const struct wire_event *e)
{
	struct page *p = arg;
	uint32_t device = device_of(p, e->device);
	char copy[VIEW_EXPORT_COPY_BYTES];
	size_t len;
	const char *name = op_name(p, e, &len, copy);

	begin_row(p, op_cat(e), name, len, device, (int32_t)e->stream);
	put_time(p, e->start_ns, e->end_ns);
	put_place(p, e, device);
	if (e->bytes)
		key_uint(p->o, ",\"bytes\":", e->bytes);
	if (e->graph)
		key_uint(p->o, ",\"graph id\":", e->graph);
	if (e->peer)
		key_uint(p->o, ",\"toDevice\":", device_of(p, e->peer - 1u));
	view_out_text(p->o, "}}");
	put_flow(p, "f\",\"bp\":\"e\"", e->corr, device, (int32_t)e->stream, e->start_ns);
	return p->o->err;
}

/* An import left these out and counted them; they are rows that end before they begin. */
static void put_bad_ops(struct page *p)
{
	const struct view_stream *s = p->s->s->s;
	size_t i;

	for (i = 0; p->s->s->imported && i < s->losses; i++) {
		const Wire__LossSpan *l = s->loss[i];
		uint32_t device = device_of(p, l->device);
		struct wire_event e = { .kind = WIRE_KIND_OP,
					.stream = l->stream,
					.context = l->context,
					.corr = l->correlation };

		if (l->reason != WIRE__LOSS_REASON__LOSS_BAD_STAMP)
			continue;
		begin_row(p, "kernel", "bad stamp", 9, device, (int32_t)e.stream);
		put_time(p, l->start_ns, less(l->start_ns, 1));
		put_place(p, &e, device);
		view_out_text(p->o, "}}");
	}
}

static int put_sync(void *arg, const struct wire_event *e)
{
	static const char *const names[] = { "Synchronize", "Event Sync",   "Stream Wait Event",
					     "Stream Sync", "Context Sync", "Host Function" };
	struct page *p = arg;
	const char *name = names[e->op < sizeof(names) / sizeof(names[0]) ? e->op : 0];
	uint32_t device = device_of(p, view_export_sync_device(p->s, e));

	begin_row(p, "cuda_sync", name, strlen(name), device, (int32_t)e->stream);
	put_time(p, e->start_ns, e->end_ns);
	put_place(p, e, device);
	view_out_text(p->o, "}}");
	return p->o->err;
}

/* --- what the host did --- */

static int put_call(void *arg, const struct wire_event *e)
{
	struct page *p = arg;
	size_t len;
	const char *name = view_export_name(p->s, e->name, &len);

	begin_row(p, e->op == WIRE_DOMAIN_DRIVER ? "cuda_driver" : "cuda_runtime", name, len,
		  p->s->pid, e->tid);
	put_time(p, e->start_ns, e->end_ns);
	if (e->corr)
		key_uint(p->o, "\"correlation\":", e->corr);
	view_out_text(p->o, "}}");
	put_flow(p, "s\"", e->corr, p->s->pid, e->tid, e->start_ns);
	return p->o->err;
}

static int put_range(void *arg, const struct wire_event *e)
{
	struct page *p = arg;
	bool operator_row = e->op == WIRE_RANGE_OPERATOR || e->flags & WIRE_EV_FL_OPERATOR;
	size_t len;
	const char *name = view_export_name(p->s, e->name, &len);

	begin_row(p, operator_row ? "cpu_op" : "user_annotation", name, len, p->s->pid, e->tid);
	put_time(p, e->start_ns, e->end_ns);
	key_uint(p->o, "\"gpustarve\":", e->op | (unsigned int)e->flags << 8);
	view_out_text(p->o, "}}");
	return p->o->err;
}

/*
 * A step that no range of the program's marks: HTA and TensorBoard look for these names. Our import
 * leaves out what has "gpustarve":0 and finds the steps again from the same records.
 */
static int put_step(void *arg, const struct ana_step *s)
{
	struct page *p = arg;
	struct view_export_source *own = &p->x->source[s->process];
	char name[48];

	if (skips(p, s->process) || own->s->has_step)
		return 0;
	snprintf(name, sizeof(name), "ProfilerStep#%" PRIu64, own->steps++);
	begin_row(p, "user_annotation", name, strlen(name), own->pid, own->pid);
	put_time(p, s->start_ns, s->end_ns);
	view_out_text(p->o, "\"gpustarve\":0}}");
	return p->o->err;
}

/* --- why GPUs were idle --- */

static int put_piece(void *arg, const struct ana_piece *q)
{
	struct page *p = arg;
	const char *name = ana_class_names[q->class];

	if (skips_gpu(p, q->gpu))
		return 0;
	begin_row(p, "gpustarve", name, strlen(name), view_export_gpu_number(p->x, q->gpu),
		  WHY_TID);
	put_time(p, q->start_ns, q->end_ns);
	view_out_printf(p->o, "\"state\":\"%s\",\"confidence\":\"%s\"}}",
			!q->gap	    ? "outside"
			: q->queued ? "queued"
				    : "empty",
			ana_confidence_names[q->confidence]);
	return p->o->err;
}

/* --- what stands around the rows --- */

static void put_devices(struct page *p)
{
	const struct ana_result *r = p->x->summary->result;
	bool any = false;
	size_t i;

	view_out_text(p->o, "\"deviceProperties\": [");
	for (i = 0; i < r->gpus; i++) {
		const struct ana_gpu *g = &r->gpu[i];

		if (skips_gpu(p, i))
			continue;
		view_out_text(p->o, any ? ",\n" : "\n");
		any = true;
		key_uint(p->o, "  {\"id\": ", view_export_gpu_number(p->x, i));
		if (strcmp(g->name, "unknown GPU") != 0) {
			view_out_text(p->o, ", \"name\": ");
			view_out_json(p->o, g->name, strlen(g->name));
		}
		key_uint(p->o, ", \"totalGlobalMem\": ", g->memory_total_bytes);
		view_out_char(p->o, '}');
	}
	view_out_text(p->o, "\n],\n");
}

/* One rank tells which it is; a file of several has no one. */
static void put_rank(struct page *p)
{
	const Wire__Hello *found = NULL;
	size_t i;

	for (i = 0; i < p->x->plan.sources; i++) {
		const Wire__Hello *h = p->x->plan.source[i].hello;

		if (!h || !h->has_rank || skips(p, i))
			continue;
		if (found && found->rank != h->rank)
			return;
		found = h;
	}
	if (found)
		view_out_printf(p->o,
				"\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %d, "
				"\"world_size\": %u},\n",
				found->rank, found->world_size);
}

static void put_caveat(void *arg, const char *text)
{
	struct page *p = arg;

	view_out_text(p->o, p->any ? ", " : "");
	p->any = true;
	view_out_json(p->o, text, strlen(text));
}

static void put_run(struct page *p)
{
	const struct view_summary *s = p->x->summary;

	view_out_text(p->o, "\"gpustarve\": {\"run\": ");
	view_out_json(p->o, s->id ? s->id : "", s->id ? strlen(s->id) : 0);
	view_out_printf(p->o,
			", \"verdict\": \"%s\", \"simulated\": %s, \"starved_ns\": %lld, "
			"\"gpu_ns\": %lld, \"notes\": [",
			ana_verdict_names[s->result->judgement.verdict],
			s->result->simulated ? "true" : "false", (long long)s->starved_ns,
			(long long)s->result->gpu_ns);
	view_export_caveats(p->x, put_caveat, p);
	p->any = false;
	view_out_text(p->o, "]},\n");
}

static void put_head(struct page *p)
{
	const Wire__Hello *h = p->only == ALL ? NULL : p->x->plan.source[p->only].hello;
	const char *host = h ? h->host : p->x->summary->hosts ? p->x->summary->host[0] : "";

	view_out_text(p->o, "{\n\"schemaVersion\": 1,\n");
	put_devices(p);
	put_rank(p);
	if (*host) {
		view_out_text(p->o, "\"host_name\": ");
		view_out_json(p->o, host, strlen(host));
		view_out_text(p->o, ",\n");
	}
	put_run(p);
	view_out_text(p->o, "\"displayTimeUnit\": \"ms\",\n");
	key_int(p->o, "\"baseTimeNanoseconds\": ", p->base);
	view_out_text(p->o, ",\n\"traceEvents\": [");
}

static void put_label(struct page *p, const char *what, int64_t pid, int64_t tid, const char *text)
{
	view_out_text(p->o, p->any ? ",\n" : "\n");
	p->any = true;
	view_out_printf(
		p->o,
		"{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%lld,\"tid\":%lld,\"args\":{\"name\":", what,
		(long long)pid, (long long)tid);
	view_out_json(p->o, text, strlen(text));
	view_out_text(p->o, "}}");
}

static void put_labels(struct page *p)
{
	const struct ana_result *r = p->x->summary->result;
	char text[300];
	size_t i;

	for (i = 0; i < r->gpus; i++) {
		uint32_t n = view_export_gpu_number(p->x, i);

		if (skips_gpu(p, i))
			continue;
		snprintf(text, sizeof(text), "GPU %u: %.200s", n, r->gpu[i].name);
		put_label(p, "process_name", n, 0, text);
		put_label(p, "thread_name", n, WHY_TID, "why it was idle (gpustarve)");
	}
	for (i = 0; i < p->x->plan.sources; i++) {
		const Wire__Hello *h = p->x->plan.source[i].hello;

		if (skips(p, i))
			continue;
		if (h && h->has_rank)
			snprintf(text, sizeof(text), "rank %d on %.200s", h->rank, h->host);
		else
			snprintf(text, sizeof(text), "process on %.200s", h ? h->host : "");
		put_label(p, "process_name", p->x->source[i].pid, 0, text);
	}
}

/* Whole seconds to subtract from all times, so that doubles keep their nanoseconds; 0: none. */
static int64_t base_of(const struct view_export *x)
{
	const struct ana_result *r = x->summary->result;
	int64_t least = INT64_MAX;
	size_t i;

	for (i = 0; i < r->gpus; i++)
		if (r->gpu[i].held_start_ns < least)
			least = r->gpu[i].held_start_ns;
	if (!r->gpus || (least > -EXACT_NS && least < EXACT_NS))
		return 0;
	return least / SECOND_NS * SECOND_NS;
}

static int put_source(struct page *p, size_t i)
{
	static const struct view_export_kind kinds[] = {
		{ WIRE_KIND_OP, put_op },
		{ WIRE_KIND_API, put_call },
		{ WIRE_KIND_SYNC, put_sync },
		{ WIRE_KIND_RANGE, put_range },
	};
	int err;

	p->source = i;
	p->s = &p->x->source[i];
	err = view_export_events(p->x, i, kinds, sizeof(kinds) / sizeof(kinds[0]), p);
	if (!err)
		put_bad_ops(p);
	return err;
}

static int put_file(struct view_export *x, size_t only)
{
	struct page p = { .x = x, .o = &x->out, .base = base_of(x), .only = only };
	size_t i;
	int err = 0;

	put_head(&p);
	put_labels(&p);
	for (i = 0; i < x->plan.sources && !err; i++)
		if (!skips(&p, i))
			err = put_source(&p, i);
	if (!err)
		err = view_export_pieces(x, put_piece, put_step, &p);
	view_out_text(p.o, "\n],\n\"traceName\": ");
	view_out_json(p.o, x->summary->id ? x->summary->id : "",
		      x->summary->id ? strlen(x->summary->id) : 0);
	view_out_text(p.o, "\n}\n");
	return err;
}

/* rank3.node7.4711.pt.trace.json: as TensorBoard wants it; a host's name is other people's. */
static char *file_name(const struct view_export *x, size_t i)
{
	const Wire__Hello *h = x->plan.source[i].hello;
	char host[64] = "host", rank[32] = "", *name, *p;

	if (h && *h->host)
		snprintf(host, sizeof(host), "%.60s", h->host);
	for (p = host; *p; p++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-", *p))
			*p = '_';
	if (h && h->has_rank)
		snprintf(rank, sizeof(rank), "rank%d.", h->rank);
	return asprintf(&name, "%s/%s%s.%lld.pt.trace.json", x->file, rank, host,
			(long long)x->source[i].pid) < 0
		       ? NULL
		       : name;
}

static int put_one_of(struct view_export *x, size_t i)
{
	char *name = file_name(x, i);
	int err = name ? view_out_open(&x->out, name, false) : -ENOMEM, end;

	if (!err) {
		err = put_file(x, i);
		end = view_out_close(&x->out, !err);
		err = err ? err : end;
	}
	free(name);
	return err;
}

int view_export_kineto(struct view_export *x)
{
	size_t i;
	int err = 0;

	if (!x->folder)
		return put_file(x, ALL);
	for (i = 0; i < x->plan.sources && !err; i++)
		if (x->plan.source[i].ops)
			err = put_one_of(x, i);
	return err;
}
