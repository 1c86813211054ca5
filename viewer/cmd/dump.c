/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpustarve dump: what a trace holds, as lines of tab-separated text. Streams through the blocks;
 * memory stays that of one block.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/options.h"
#include "analysis/ledger.h"
#include "cmd.h"
#include "core/log.h"
#include "trace/newest.h"
#include "trace/remote.h"
#include "trace/trace.h"
#include "trace/dump_rows.h"
#include "core/wrap.h"

enum what { /* bits, but the last two */
	STREAMS = 1,
	EVENTS = 2,
	SAMPLES = 4,
	BATCHES = 8,
	METERS = 16,
	ALL = STREAMS | EVENTS | SAMPLES | BATCHES | METERS,
	STEPS = 32,
	ESTIMATE = 64,
};

static void put_step(void *arg, const struct ana_step *s)
{
	(void)arg;
	printf("%" PRId64 "\t%" PRId64 "\t%" PRId64 "\n", s->start_ns, s->end_ns - s->start_ns,
	       s->exposed_ns);
}

/* ---- the estimate ---------------------------------------------------------------------------- */

static void put_estimated_part(const char *name, const struct ana_estimated_part *p)
{
	printf("\t%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\n", name, p->ns, p->low_ns, p->high_ns);
}

static void put_estimated(const struct ana_estimate_told *t)
{
	const struct ana_estimated *e = t->estimated;

	printf("gpu\t%" PRIu32 "\tof_ns %" PRId64 "\tmetered_ns %" PRId64 "\tspread_ns %" PRId64
	       "\tunknown_ns %" PRId64 "\tworked_ppm %" PRId64 "\tby_sm %d\n",
	       t->gpu, e->of_ns, e->metered_ns, t->spread_ns, e->unknown_ns, t->worked_ppm,
	       t->by_sm);
	printf("part\t%" PRIu32, t->gpu);
	put_estimated_part("busy", &e->busy);
	for (int c = 0; c < ANA_CLASSES; c++) {
		if (!e->classes[c].high_ns)
			continue;
		printf("part\t%" PRIu32, t->gpu);
		put_estimated_part(ana_class_names[c], &e->classes[c]);
	}
}

static void put_estimate_state(uint32_t gpu, const struct ana_estimate_state *s)
{
	printf("state\t%" PRIu32 "\t%s\tseen_ns %" PRId64 "\tidle_seen_ns %" PRId64
	       "\tof_ns %" PRId64 "\tmetered_ns %" PRId64 "\tidle_ns %" PRId64 "\tidle_ppm %" PRId64
	       "\t",
	       gpu, s->name, s->seen_ns, s->idle_seen_ns, s->of_ns, s->metered_ns, s->idle_ns,
	       s->idle_ppm);
	for (int c = 0, n = 0; c <= ANA_CLASSES; c++)
		if (s->part[c])
			printf("%s%s %" PRId64, n++ ? ", " : "",
			       c < ANA_CLASSES ? ana_class_names[c] : "unknown", s->part[c]);
	putchar('\t');
	if (s->line)
		view_put_tame(stdout, s->line);
	putchar('\n');
}

static void put_estimate_reading(uint32_t gpu, const struct ana_estimate_reading *r)
{
	static const char *const use[] = { "left-out", "tells", "corrects" };

	printf("reading\t%" PRIu32 "\t%" PRId64 "\t%" PRId64 "\t%s\t%s\tsaid_ns %" PRId64
	       "\trecorded_ns %" PRId64 "\tof_ns %" PRId64 "\tbusy_ns %" PRId64 "\n",
	       gpu, r->start_ns, r->end_ns - r->start_ns, r->gpm ? "gpm" : "samples", use[r->use],
	       r->said_ns, r->recorded_ns, r->of_ns, r->busy_ns);
}

static void put_estimate(void *arg, const struct ana_estimate_told *t)
{
	(void)arg;
	put_estimated(t);
	for (size_t i = 0; i < t->states; i++)
		put_estimate_state(t->gpu, &t->state[i]);
	for (size_t i = 0; i < t->readings; i++)
		put_estimate_reading(t->gpu, &t->reading[i]);
}

static int dump_walked(struct view_trace *t, unsigned int what)
{
	struct ana_options o = { .window = ANA_WINDOW_JOB,
				 .on_step = what == STEPS ? put_step : NULL,
				 .on_estimate = what == ESTIMATE ? put_estimate : NULL };
	struct ana_result *r = NULL;
	int err = ana_run(t, &o, &r);

	if (!err)
		ana_result_free(r);
	return err;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const char *op_name(uint8_t op)
{
	static const char *const name[] = { "op", "kernel", "copy", "memset", "graph" };

	return name[op < 5 ? op : 0];
}

static const char *range_name(uint8_t op)
{
	static const char *const name[] = { "range", "loader",	   "user",     "operator",
					    "step",  "optimizer",  "gc",       "checkpoint",
					    "iter",  "queue-full", "code-load" };

	return name[op < sizeof(name) / sizeof(name[0]) ? op : 0];
}

static const char *sync_name(uint8_t op)
{
	static const char *const name[] = { "sync",	   "sync-event",   "stream-wait",
					    "sync-stream", "sync-context", "host-function" };

	return name[op < sizeof(name) / sizeof(name[0]) ? op : 0];
}

static const char *copy_name(uint8_t copy)
{
	switch (copy) {
	case WIRE_COPY_H2D:
		return "copy-h2d";
	case WIRE_COPY_D2H:
		return "copy-d2h";
	case WIRE_COPY_D2D:
		return "copy-d2d";
	case WIRE_COPY_H2H:
		return "copy-h2h";
	case WIRE_COPY_P2P:
		return "copy-p2p";
	default:
		return "copy";
	}
}

static const char *kind_name(const struct wire_event *e)
{
	switch (e->kind) {
	case WIRE_KIND_OP:
		return e->op == WIRE_OP_COPY ? copy_name(e->copy) : op_name(e->op);
	case WIRE_KIND_API:
		return e->op == WIRE_DOMAIN_DRIVER ? "driver" : "runtime";
	case WIRE_KIND_SYNC:
		return sync_name(e->op);
	default:
		return range_name(e->op);
	}
}

static void put_place(const struct wire_event *e)
{
	if (e->kind == WIRE_KIND_OP || e->kind == WIRE_KIND_SYNC)
		printf("%" PRIu32 ".%" PRIu32 ".%" PRIu32, e->device, e->context, e->stream);
	else
		printf("%" PRIu32, e->tid);
}

static void put_event(const char *stream, const struct view_stream *s, const struct wire_event *e)
{
	size_t len;
	const char *name = wire_strtab_get(s->strings, e->name, &len);

	printf("%s\t%s\t%" PRId64 "\t%" PRId64 "\t", stream, kind_name(e), e->start_ns,
	       e->end_ns - e->start_ns);
	put_place(e);
	printf("\t%" PRIu64 "\t%" PRIu64 "\t", e->corr, e->bytes);
	view_put_tame(stdout, name);
	putchar('\n');
}

static void put_hello(const char *stream, const Wire__Hello *h)
{
	printf("# stream\t%s\thost %s\tpid %" PRId64 "\tstart_ns %" PRId64 "\tlevel %s", stream,
	       h->host, h->pid, h->process_start_ns, h->level);
	if (h->has_rank)
		printf("\trank %" PRId32 "/%" PRIu32, h->rank, h->world_size);
	if (h->import)
		printf("\timport %s", h->import->kind);
	if (h->cpus)
		printf("\tcpus %" PRIu32, h->cpus);
	fputs("\tcommand", stdout);
	for (size_t i = 0; i < h->n_command; i++) {
		putchar(' ');
		view_put_tame(stdout, h->command[i]);
	}
	putchar('\n');
	for (size_t i = 0; i < h->n_devices; i++) {
		const Wire__Device *d = h->devices[i];
		printf("# device\t%s\tordinal %" PRIu32 "\tuuid ", stream, d->ordinal);
		for (size_t k = 0; k < d->uuid.len; k++)
			printf("%02x", d->uuid.data[k]);
		fputs("\tname ", stdout);
		view_put_tame(stdout, d->name);
		putchar('\n');
	}
	for (size_t i = 0; i < h->n_notes; i++) {
		printf("# note\t%s\t", stream);
		view_put_tame(stdout, h->notes[i]);
		putchar('\n');
	}
}

static void put_losses(const char *stream, const struct view_stream *s)
{
	static const char *const reason[] = { "unspecified", "dropped",	  "bad-stamp",
					      "foreign",     "suspended", "clock-step",
					      "governor",    "detached",  "frames" };

	for (size_t i = 0; i < s->losses; i++) {
		const Wire__LossSpan *l = s->loss[i];
		unsigned r = (unsigned)l->reason;
		printf("# loss\t%s\t%s\t%" PRId64 "\t%" PRId64 "\tcount %" PRIu64 "\n", stream,
		       reason[r < 9 ? r : 0], l->start_ns, l->end_ns - l->start_ns, l->count);
	}
	for (size_t i = 0; i < s->holes; i++)
		printf("# hole\t%s\t%" PRId64 "\t%" PRId64 "\tframes %" PRIu64 " to %" PRIu64 "\n",
		       stream, s->hole[i].start_ns, s->hole[i].end_ns - s->hole[i].start_ns,
		       s->hole[i].first_seq, s->hole[i].last_seq);
}

/* What became of the evidence on its way into the trace. */
static void put_evidence(const char *stream, const struct view_stream *s)
{
	const Wire__Pulse *p = s->bye && s->bye->last ? s->bye->last : s->last_pulse;

	if (p && (p->samples || p->batches || p->evidence_dropped || p->looks_left_out))
		printf("# evidence\t%s\tsamples %" PRIu64 "\tbatches %" PRIu64 "\tdropped %" PRIu64
		       "\tnameless %" PRIu64 "\tleft_out %" PRIu64 "\n",
		       stream, p->samples, p->batches, p->evidence_dropped, p->evidence_nameless,
		       p->looks_left_out);
}

/* What recording cost, where some of it was given up. */
static void put_cost(const char *stream, const struct view_stream *s)
{
	const Wire__Pulse *p = s->bye && s->bye->last ? s->bye->last : s->last_pulse;
	const Wire__PulseCost *c = p ? p->cost : NULL;

	if (!c)
		return;
	printf("# cost\t%s\tspent_ns %" PRIu64 "\tlimit %u\tworst %u\tstep %u\tdeepest %u"
	       "\tleft_ns %u\tpassed %u\tlearnt %u\tlaunch_ns",
	       stream, c->spent_ns, c->limit, c->worst, c->step, c->deepest, c->left_ns, c->passed,
	       c->learnt);
	for (size_t i = 0; i < c->n_launch_ns; i++)
		printf(" %u", c->launch_ns[i]);
	putchar('\n');
}

static void put_known_share(const char *name, uint32_t share, bool known)
{
	if (known)
		printf("\t%s %" PRIu32 ".%02" PRIu32, name, share / 100, share % 100);
}

/* What NVML said, one time per line: percent of it. */
static void put_meters(const char *stream, const struct view_stream *s)
{
	for (size_t i = 0; i < s->meters; i++) {
		const struct view_meter *m = &s->meter[i];

		printf("# meter\t%s\tordinal %" PRIu32 "\t%" PRId64 "\t%" PRId64 "\t%s", stream,
		       m->ordinal, m->start_ns, m->end_ns - m->start_ns,
		       m->gpm ? "gpm" : "samples");
		put_known_share("busy", m->busy, true);
		put_known_share("sm", m->sm, m->has_sm);
		put_known_share("tensor", m->tensor, m->has_tensor);
		put_known_share("dram", m->dram, m->has_dram);
		putchar('\n');
	}
}

static void stream_text(char out[2 * WIRE_STREAM_ID_BYTES + 1], const struct view_stream *s)
{
	for (int i = 0; i < WIRE_STREAM_ID_BYTES; i++)
		sprintf(out + 2 * i, "%02x", s->id[i]);
}

static void put_stream(const char *stream, const struct view_stream *s)
{
	if (s->hello)
		put_hello(stream, s->hello);
	else
		printf("# stream\t%s\tits first frame is lost\n", stream);
	printf("# frames\t%s\t%" PRIu64 "\tbytes %" PRIu64 "\tblocks %zu\tevidence %zu"
	       "\tcomplete_ns %" PRId64 "\tended %s\n",
	       stream, s->frames, s->bytes, s->blocks, s->evidences, s->complete_ns,
	       s->bye ? s->bye->reason : "without a last word");
	put_evidence(stream, s);
	put_cost(stream, s);
	put_losses(stream, s);
}

struct reading {
	int64_t since_ns; /* nothing that ended before */
	struct wire_scratch *scratch;
	struct wire_event *event;
	struct wire_sample *sample;
	struct wire_batch *batch;
	size_t event_room, sample_room, batch_room, unreadable;
};

static void note_unreadable(struct reading *r, const char *stream, const char *what, size_t number,
			    int err)
{
	printf("# damage\t%s\t%s %zu cannot be read: %s\n", stream, what, number, strerror(-err));
	r->unreadable++;
}

static void put_blocks(struct view_trace *t, const char *stream, const struct view_stream *s,
		       struct reading *r)
{
	for (size_t b = 0; b < s->blocks && !ferror(stdout); b++) {
		size_t count = 0;
		int err;

		if (s->block[b].head->t1_ns < r->since_ns)
			continue;
		err = view_trace_block(t, &s->block[b], r->scratch, &r->event, &r->event_room,
				       &count);
		if (err)
			note_unreadable(r, stream, "block", b, err);
		for (size_t i = 0; !err && i < count; i++)
			if (r->event[i].end_ns >= r->since_ns)
				put_event(stream, s, &r->event[i]);
	}
}

static void put_samples(struct view_trace *t, const char *stream, const struct view_stream *s,
			struct reading *r)
{
	for (size_t b = 0; b < s->evidences && !ferror(stdout); b++) {
		size_t count = 0;
		int err = 0;

		if (s->evidence[b].head->kind != WIRE_KIND_SAMPLE ||
		    s->evidence[b].head->t1_ns < r->since_ns)
			continue;
		err = view_trace_samples(t, &s->evidence[b], r->scratch, &r->sample,
					 &r->sample_room, &count);
		if (err)
			note_unreadable(r, stream, "evidence", b, err);
		for (size_t i = 0; i < count; i++)
			if (r->sample[i].t_ns >= r->since_ns)
				view_put_sample(stdout, stream, s, &r->sample[i]);
	}
}

static void put_batches(struct view_trace *t, const char *stream, const struct view_stream *s,
			struct reading *r)
{
	for (size_t b = 0; b < s->evidences && !ferror(stdout); b++) {
		size_t count = 0;
		int err = 0;

		if (s->evidence[b].head->kind != WIRE_KIND_BATCH ||
		    s->evidence[b].head->t1_ns < r->since_ns)
			continue;
		err = view_trace_batches(t, &s->evidence[b], r->scratch, &r->batch, &r->batch_room,
					 &count);
		if (err)
			note_unreadable(r, stream, "evidence", b, err);
		for (size_t i = 0; i < count; i++)
			if (r->batch[i].end_ns >= r->since_ns)
				view_put_batch(stdout, stream, s, &r->batch[i]);
	}
}

static void put_notes(const struct view_trace *t)
{
	for (size_t i = 0; i < t->notes; i++) {
		fputs("# note\t\t", stdout);
		view_put_tame(stdout, t->note[i]);
		putchar('\n');
	}
}

static int dump_rows(struct view_trace *t, unsigned int what, int64_t since_ns)
{
	struct reading r = { .since_ns = since_ns, .scratch = wire_scratch_new() };
	char stream[2 * WIRE_STREAM_ID_BYTES + 1];

	if (!r.scratch)
		return -ENOMEM;
	for (size_t i = 0; i < t->streams; i++) {
		const struct view_stream *s = &t->stream[i];

		stream_text(stream, s);
		if (what & STREAMS)
			put_stream(stream, s);
		if (what & EVENTS)
			put_blocks(t, stream, s, &r);
		if (what & SAMPLES)
			put_samples(t, stream, s, &r);
		if (what & BATCHES)
			put_batches(t, stream, s, &r);
		if (what & METERS)
			put_meters(stream, s);
	}
	if (what & STREAMS)
		put_notes(t);
	wire_scratch_free(r.scratch);
	free(r.event);
	free(r.sample);
	free(r.batch);
	return r.unreadable ? -EBADMSG : 0;
}

struct opts {
	int what;
	const char *since;
};

static bool is_moment(const char *value)
{
	size_t n = strlen(value);
	bool good = n && n < 20 && strspn(value, "0123456789") == n;

	if (!good)
		view_error("dump: --since %s: no moment; give nanoseconds since 1970, as "
			   "start_ns has them",
			   value);
	return good;
}

static const char usage[] =
	"usage: gpustarve dump RUN [--steps | --estimate | --streams | --samples | --batches]\n"
	"                      [--since NS]\n"
	"\n"
	"Prints what a trace holds, one event per line, tab-separated: stream, kind, start_ns,\n"
	"duration_ns, place (device.context.stream of an operation, tid of a call or range),\n"
	"correlation, bytes, name. Samples of the host's threads and batches of loaders follow,\n"
	"with columns of their own behind the place, pid.tid. Lines that begin with # tell of\n"
	"streams, losses and holes.\n"
	"\n";

static const struct base_opt opt[] = {
	{ "samples", 0, NULL, "the samples only", BASE_VALUE(struct opts, what, SAMPLES) },
	{ "batches", 0, NULL, "the batches only", BASE_VALUE(struct opts, what, BATCHES) },
	{ "steps", 0, NULL, "one step per line instead: start_ns, duration_ns, exposed_ns",
	  BASE_VALUE(struct opts, what, STEPS) },
	{ "estimate", 0, NULL,
	  "what ledger.estimated is made of: parts, states of the host, readings",
	  BASE_VALUE(struct opts, what, ESTIMATE) },
	{ "streams", 0, NULL, "the # lines only", BASE_VALUE(struct opts, what, STREAMS | METERS) },
	{ "since", 0, "NS", "nothing that ended before, in ns since 1970; steps are all shown",
	  BASE_TEXT(struct opts, since), .good = is_moment },
	{ BASE_HELP },
	{ 0 },
};

const struct base_options view_dump_options = {
	.command = "dump",
	.usage = usage,
	.column = 14,
	.opt = opt,
	.error = view_error,
};

/* 1: go on, 0: help was shown, -1: error. */
static int parse(int argc, char **argv, unsigned int *what, int64_t *since_ns)
{
	struct opts o = { .what = (int)*what };
	int go = base_options_parse(&view_dump_options, argc, argv, &o);

	*what = (unsigned int)o.what;
	*since_ns = o.since ? strtoll(o.since, NULL, 10) : INT64_MIN;
	if (go <= 0 || optind == argc - 1)
		return go;
	if (optind == argc)
		view_say_no_run("dump");
	else
		view_error("dump: name one run directory; see gpustarve dump --help");
	return -1;
}

int view_cmd_dump(int argc, char **argv)
{
	unsigned int what = ALL;
	struct view_trace *t = NULL;
	const char *why = NULL;
	int64_t since_ns;
	int go = parse(argc, argv, &what, &since_ns), err;

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	const char *run = argv[optind];
	err = view_trace_open(&t, run, &why);
	if (err) {
		view_error("%s: %s%s", run, why ? why : strerror(-err),
			   view_is_remote(run) ? "" : "; name a run directory");
		return VIEW_EXIT_ERROR;
	}
	err = what >= STEPS ? dump_walked(t, what) : dump_rows(t, what, since_ns);
	if (view_trace_trouble(t)) {
		view_error("%s: %s", run, view_trace_trouble(t));
		err = -EIO;
	}
	view_trace_close(t);
	if (fflush(stdout) || ferror(stdout))
		err = errno == EPIPE ? 0 : -EIO;
	if (err == -ENODATA)
		view_error(
			"%s: the job never touched a GPU, so there are neither steps nor an estimate",
			run);
	else if (err)
		view_error("%s: %s; what could be read is above", run, strerror(-err));
	return err ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
}
