/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples and batches as text.
 */
#include "dump_rows.h"

#include <inttypes.h>
#include <string.h>
#include "core/wrap.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

static const char *const roles[] = {
	[WIRE_ROLE_OTHER] = "other",
	[WIRE_ROLE_SUBMITTER] = "submitter",
	[WIRE_ROLE_WORKER] = "worker",
	[WIRE_ROLE_PIN] = "pin",
	[WIRE_ROLE_WORKER_OTHER] = "worker-other",
	[WIRE_ROLE_PRODUCER] = "producer",
	[WIRE_ROLE_FEEDER] = "feeder",
};

static const char *const states[] = {
	[WIRE_STATE_UNKNOWN] = "unknown",   [WIRE_STATE_RUNNING] = "running",
	[WIRE_STATE_SLEEPING] = "sleeping", [WIRE_STATE_DISK] = "disk",
	[WIRE_STATE_STOPPED] = "stopped",   [WIRE_STATE_GONE] = "gone",
};

static const char *const waits[] = {
#define WAIT(symbol, word, ...) [WIRE_WAIT_##symbol] = (word),
#include "facts/waits.def"
};

static const char *const batches[] = {
	[WIRE_BATCH_OPEN] = "batch-open",   [WIRE_BATCH_FETCH] = "batch-fetch",
	[WIRE_BATCH_TAKE] = "batch-take",   [WIRE_BATCH_PIN] = "batch-pin",
	[WIRE_BATCH_CLOSE] = "batch-close",
};

static const char *const flags[] = { "torn",	  "no-python", "steady", "gil",
				     "by-parent", "census",    "gc" };

const char *view_role_word(uint8_t role)
{
	return role < LENGTH(roles) ? roles[role] : NULL;
}

const char *view_state_word(uint8_t state)
{
	return state < LENGTH(states) ? states[state] : NULL;
}

const char *view_wait_word(uint8_t wait)
{
	return wait < LENGTH(waits) ? waits[wait] : NULL;
}

const char *view_batch_word(uint8_t what)
{
	return what < LENGTH(batches) ? batches[what] : NULL;
}

/* @seps[0] goes between a frame's first two parts, @seps[1] before those behind. */
static void put_frames(FILE *f, const char *text, const char *seps)
{
	const char *between = "";

	while (*text) {
		size_t line = strcspn(text, "\n"), part = 0;

		fputs(between, f);
		between = " < ";
		for (const char *p = text, *end = text + line; p < end; part++) {
			size_t len = strcspn(p, "\t\n");

			if (part && len)
				fputc(seps[part > 1], f);
			view_put_tame_part(f, p, len);
			p += len + (p + len < end);
		}
		text += line + (text[line] == '\n');
	}
}

void view_put_stack(FILE *f, const char *text)
{
	put_frames(f, text, " :");
}

void view_put_native(FILE *f, const char *text)
{
	put_frames(f, text, "+@");
}

static void put_word(FILE *f, const char *word, unsigned int number)
{
	if (word)
		fprintf(f, "\t%s", word);
	else
		fprintf(f, "\t%u", number);
}

static void put_flags(FILE *f, uint8_t set)
{
	const char *between = "\t";

	if (!set)
		fputc('\t', f);
	for (unsigned int i = 0; i < 8; i++) {
		if (!(set >> i & 1))
			continue;
		if (i < LENGTH(flags))
			fprintf(f, "%s%s", between, flags[i]);
		else
			fprintf(f, "%s%u", between, i);
		between = ",";
	}
}

static void put_syscall(FILE *f, uint16_t number)
{
	if (number == WIRE_SYSCALL_UNKNOWN)
		fputc('\t', f);
	else if (number == WIRE_SYSCALL_NONE)
		fputs("\tnone", f);
	else
		fprintf(f, "\t%d", number - 1);
}

static const char *text_of(const struct view_stream *s, uint32_t id)
{
	return wire_strtab_get(s->strings, id, NULL);
}

static void put_string(FILE *f, const struct view_stream *s, uint32_t id)
{
	fputc('\t', f);
	view_put_tame(f, text_of(s, id));
}

void view_put_sample(FILE *f, const char *stream, const struct view_stream *s,
		     const struct wire_sample *r)
{
	fprintf(f, "%s\tsample\t%" PRId64 "\t%" PRIu32 "\t%" PRIu32 ".%" PRIu32, stream, r->t_ns,
		r->period_ns, r->pid, r->tid);
	put_word(f, view_role_word(r->role), r->role);
	put_word(f, view_state_word(r->state), r->state);
	put_word(f, view_wait_word(r->wait), r->wait);
	put_syscall(f, r->syscall);
	fprintf(f, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, r->cpu_ns, r->delay_ns, r->throttled_ns);
	put_flags(f, r->flags);
	put_string(f, s, r->target);
	put_string(f, s, r->fs);
	fputc('\t', f);
	view_put_stack(f, text_of(s, r->stack));
	fputc('\t', f);
	view_put_native(f, text_of(s, r->native));
	put_string(f, s, r->links);
	fprintf(f, "\t%" PRIu64 "\n", r->rchar_bytes);
}

void view_put_batch(FILE *f, const char *stream, const struct view_stream *s,
		    const struct wire_batch *r)
{
	const char *word = view_batch_word(r->what);

	if (word)
		fprintf(f, "%s\t%s", stream, word);
	else
		fprintf(f, "%s\tbatch-%u", stream, r->what);
	fprintf(f, "\t%" PRId64 "\t%" PRId64 "\t%" PRIu32 ".%" PRIu32, r->start_ns,
		(int64_t)((uint64_t)r->end_ns - (uint64_t)r->start_ns), r->pid, r->tid);
	fprintf(f, "\t%" PRIu32 "\t", r->loader);
	if (r->worker)
		fprintf(f, "%" PRIu32, r->worker - 1);
	fprintf(f, "\t%" PRIu64 "\t%" PRIu32 "\t%" PRIu64 "\t%" PRIu64, r->batch, r->samples,
		r->cpu_ns, r->delay_ns);
	fprintf(f, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, r->rchar_bytes, r->read_bytes,
		r->major_faults);
	put_string(f, s, r->text);
	fputc('\n', f);
}
