/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two buffers: one is filled while the sender empties the other. A buffer numbers its texts on its
 * own; the sender gives them the trace's ids.
 */
#include "evidence.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "stream/stream.h"
#include "wire/strtab.h"

#define SAMPLES_MAX 8192u /* between two flushes: 16 threads at 200 Hz for 2.5 s */
#define BATCHES_MAX 8192u
#define TEXT_BYTES_MAX ((size_t)4 << 20) /* of one buffer */
#define NAME_BYTES_MAX ((size_t)16 << 20) /* of texts that evidence may add to the trace */
#define LAST_SLOTS 256u /* threads whose last row is known; a power of two */

struct buffer {
	struct wire_sample *sample;
	struct wire_batch *batch;
	uint32_t samples, sample_room, batches, batch_room;
	struct wire_strtab *texts; /* NULL until the first one */
	uint32_t last[LAST_SLOTS]; /* by thread: its last row plus 1 */
};

static struct {
	pthread_mutex_t lock; /* everything but full; held around no call but malloc */
	struct buffer buffer[2];
	struct buffer *filling;
	struct prof_evidence_stats sum;
	size_t name_bytes; /* sender: of texts that were new to the trace */
} ev = { .lock = PTHREAD_MUTEX_INITIALIZER, .filling = &ev.buffer[0] };

/*
 * ---- in ---------------------------------------------------------------------------------------
 */

/* Makes room for one more row; false: there is none. */
static bool grow(void **rows, uint32_t *room, uint32_t count, uint32_t most, size_t bytes)
{
	uint32_t want = *room ? *room * 2 : 256;
	void *more;

	if (count < *room)
		return true;
	if (want > most)
		return false;
	more = realloc(*rows, want * bytes);
	if (!more)
		return false;
	*rows = more;
	*room = want;
	return true;
}

/* What a string of the trace can hold of a stack: whole frames, the innermost ones. */
static size_t fitting(const char *text)
{
	size_t len = strnlen(text, WIRE_STRING_BYTES_MAX + 1);

	if (len <= WIRE_STRING_BYTES_MAX)
		return len;
	for (len = WIRE_STRING_BYTES_MAX; len && text[len] != '\n'; len--)
		;
	return len;
}

static uint32_t intern(struct buffer *b, const char *text)
{
	uint32_t id = 0;

	if (!text || !*text)
		return 0;
	if (!b->texts)
		b->texts = wire_strtab_new();
	if (b->texts && wire_strtab_bytes(b->texts) < TEXT_BYTES_MAX)
		id = wire_strtab_intern(b->texts, text, fitting(text));
	ev.sum.nameless += !id;
	return id;
}

static uint32_t *last_of(struct buffer *b, const struct wire_sample *s)
{
	return &b->last[prof_hash_thread(s->pid, s->tid) & (LAST_SLOTS - 1)];
}

/* The row before it was to stand for the time until the next look, which is now. */
static void shorten(struct buffer *b, const struct wire_sample *s)
{
	uint32_t last = *last_of(b, s);
	struct wire_sample *before = last ? &b->sample[last - 1] : NULL;

	if (!before || before->tid != s->tid || before->pid != s->pid || s->t_ns <= before->t_ns)
		return;
	if (s->t_ns - before->t_ns < before->period_ns)
		before->period_ns = (uint32_t)(s->t_ns - before->t_ns);
}

/* @s is the row that comes next. */
static void put_row(struct buffer *b, struct wire_sample *s)
{
	b->samples++;
	shorten(b, s);
	*last_of(b, s) = b->samples;
	ev.sum.samples++;
}

static void put_sample(struct buffer *b, const struct prof_thread_sample *l)
{
	struct wire_sample *s = &b->sample[b->samples];

	*s = l->s;
	s->stack = intern(b, l->stack);
	s->native = intern(b, l->native);
	s->target = intern(b, l->target);
	s->fs = intern(b, l->fs);
	s->links = intern(b, l->links);
	put_row(b, s);
}

static bool grow_samples(struct buffer *b)
{
	return grow((void **)&b->sample, &b->sample_room, b->samples, SAMPLES_MAX,
		    sizeof(*b->sample));
}

int prof_evidence_sample(const struct prof_thread_sample *l)
{
	struct buffer *b;
	int err = 0;

	pthread_mutex_lock(&ev.lock);
	b = ev.filling;
	if (grow_samples(b)) {
		put_sample(b, l);
	} else {
		ev.sum.dropped++;
		err = -ENOBUFS;
	}
	pthread_mutex_unlock(&ev.lock);
	return err;
}

static bool put_again(struct buffer *b, uint32_t pid, uint32_t tid, int64_t t_ns,
		      uint32_t period_ns)
{
	struct wire_sample key = { .pid = pid, .tid = tid }, *s;
	uint32_t last = *last_of(b, &key);

	if (!last || b->sample[last - 1].pid != pid || b->sample[last - 1].tid != tid ||
	    !grow_samples(b))
		return false;
	s = &b->sample[b->samples];
	*s = b->sample[last - 1];
	s->t_ns = t_ns;
	s->period_ns = period_ns;
	put_row(b, s);
	return true;
}

bool prof_evidence_again(uint32_t pid, uint32_t tid, int64_t t_ns, uint32_t period_ns)
{
	bool taken;

	pthread_mutex_lock(&ev.lock);
	taken = put_again(ev.filling, pid, tid, t_ns, period_ns);
	pthread_mutex_unlock(&ev.lock);
	return taken;
}

void prof_evidence_missed(uint64_t looks)
{
	pthread_mutex_lock(&ev.lock);
	ev.sum.dropped += looks;
	pthread_mutex_unlock(&ev.lock);
}

int prof_evidence_batch(const struct wire_batch *batch, const char *text)
{
	struct buffer *b;
	int err = 0;

	pthread_mutex_lock(&ev.lock);
	b = ev.filling;
	if (grow((void **)&b->batch, &b->batch_room, b->batches, BATCHES_MAX, sizeof(*b->batch))) {
		b->batch[b->batches] = *batch;
		b->batch[b->batches++].text = intern(b, text);
		ev.sum.batches++;
	} else {
		ev.sum.dropped++;
		err = -ENOBUFS;
	}
	pthread_mutex_unlock(&ev.lock);
	return err;
}

/*
 * ---- out, sender ------------------------------------------------------------------------------
 */

static size_t buffer_bytes(const struct buffer *b)
{
	return b->sample_room * sizeof(*b->sample) + b->batch_room * sizeof(*b->batch) +
	       (b->texts ? wire_strtab_bytes(b->texts) : 0);
}

/* Swaps the buffers; returns the one to empty. */
static struct buffer *take_full(void)
{
	struct buffer *full;

	pthread_mutex_lock(&ev.lock);
	full = ev.filling;
	ev.filling = full == &ev.buffer[0] ? &ev.buffer[1] : &ev.buffer[0];
	pthread_mutex_unlock(&ev.lock);
	return full;
}

/*
 * The trace's id of a buffer's text. Stacks of running threads could fill the table for ever: with
 * enough of them only those that are known get one.
 */
static uint32_t trace_id(const struct buffer *b, uint32_t id)
{
	struct wire_strtab *names = prof_stream_names();
	const char *text;
	uint32_t found;
	size_t len;

	if (!id)
		return 0;
	text = wire_strtab_get(b->texts, id, &len);
	found = wire_strtab_find(names, text, len);
	if (!found && ev.name_bytes + len <= NAME_BYTES_MAX) {
		found = wire_strtab_intern(names, text, len);
		ev.name_bytes += len;
	}
	if (!found) {
		pthread_mutex_lock(&ev.lock);
		ev.sum.nameless++;
		pthread_mutex_unlock(&ev.lock);
	}
	return found;
}

static void name_all(struct buffer *b)
{
	uint32_t i;

	for (i = 0; i < b->samples; i++) {
		struct wire_sample *s = &b->sample[i];

		s->stack = trace_id(b, s->stack);
		s->native = trace_id(b, s->native);
		s->target = trace_id(b, s->target);
		s->fs = trace_id(b, s->fs);
		s->links = trace_id(b, s->links);
	}
	for (i = 0; i < b->batches; i++)
		b->batch[i].text = trace_id(b, b->batch[i].text);
}

static void empty(struct buffer *b)
{
	b->samples = b->batches = 0;
	wire_strtab_free(b->texts);
	b->texts = NULL;
	memset(b->last, 0, sizeof(b->last));
}

void prof_evidence_flush(void)
{
	struct buffer *b = take_full();
	uint64_t lost = 0;

	if (b->samples || b->batches) {
		name_all(b);
		if (!prof_stream_samples(b->sample, b->samples))
			lost += b->samples;
		if (!prof_stream_batches(b->batch, b->batches))
			lost += b->batches;
	}
	empty(b);
	pthread_mutex_lock(&ev.lock);
	ev.sum.dropped += lost;
	pthread_mutex_unlock(&ev.lock);
}

void prof_evidence_stats(struct prof_evidence_stats *s)
{
	pthread_mutex_lock(&ev.lock);
	*s = ev.sum;
	s->memory = buffer_bytes(&ev.buffer[0]) + buffer_bytes(&ev.buffer[1]);
	pthread_mutex_unlock(&ev.lock);
}
