/* SPDX-License-Identifier: Apache-2.0 */
#include "long_host.h"

#include <stdlib.h>
#include <string.h>
#include "wire/evidence.h"

/* From look to look, as the sampler of libprof paces itself: while it works, while it waits. */
#define WORK_NS 50000000
#define WAIT_NS 5000000
#define BATCH_NS 50000000 /* at most, that one takes to make */
#define FRAME_ROWS 4096

#define USER "main\t/home/me/train.py\t88"
static const char *const works[LONG_STACKS] = {
	"forward\t/home/me/model.py\t41\n" USER,
	"loss\t/home/me/model.py\t63\n" USER,
	"log\t/home/me/train.py\t24\n" USER,
	"step\t/usr/lib/python3/site-packages/torch/optim/adam.py\t210\n" USER,
	"backward\t/usr/lib/python3/site-packages/torch/_tensor.py\t626\n" USER,
	USER,
};
#define WAITS                                                                                  \
	"_try_get_data\t/usr/lib/python3/site-packages/torch/utils/data/dataloader.py\t1275\n" \
	"__next__\t/usr/lib/python3/site-packages/torch/utils/data/dataloader.py\t734\n" USER
#define MAKES                                                          \
	"load\t/usr/lib/python3/site-packages/PIL/ImageFile.py\t293\n" \
	"__getitem__\t/home/me/data.py\t17\n"                          \
	"fetch\t/usr/lib/python3/site-packages/torch/utils/data/_utils/fetch.py\t52"

static uint32_t roll(struct long_host *h, uint32_t n)
{
	h->random = h->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(h->random >> 33) % n;
}

static uint32_t name(struct made_stream *s, const char *text)
{
	return made_name(s, text, strlen(text));
}

void long_host_begin(struct long_host *h, struct made_stream *s, uint32_t pid, uint32_t tid,
		     int64_t start)
{
	int i;

	*h = (struct long_host){ .random = pid, .next = start, .pid = pid, .tid = tid };
	for (i = 0; i < LONG_STACKS; i++)
		h->stack[i] = name(s, works[i]);
	h->waits = name(s, WAITS);
	h->makes = name(s, MAKES);
	h->file = name(s, "ext4");
}

static struct wire_sample *look(struct long_host *h, uint32_t pid, uint32_t tid, int role,
				int64_t ns)
{
	if (h->samples == h->sample_room) {
		h->sample_room = h->sample_room ? 2 * h->sample_room : FRAME_ROWS;
		h->sample = reallocarray(h->sample, h->sample_room, sizeof(*h->sample));
		made_need(h->sample != NULL, "no memory");
	}
	h->sample[h->samples] = (struct wire_sample){ .t_ns = h->next,
						      .period_ns = (uint32_t)ns,
						      .pid = pid,
						      .tid = tid,
						      .role = (uint8_t)role,
						      .state = WIRE_STATE_RUNNING };
	return &h->sample[h->samples++];
}

/* Each worker mostly decodes, and now and then reads. */
static void look_at_workers(struct long_host *h, int64_t ns)
{
	struct wire_sample *s;
	uint32_t i;

	for (i = 1; i <= LONG_WORKERS; i++) {
		s = look(h, h->pid + 100000 * i, h->pid + 100000 * i, WIRE_ROLE_WORKER, ns);
		s->stack = h->makes;
		if (roll(h, 10)) {
			h->ran[i] += ns;
		} else {
			s->state = WIRE_STATE_DISK;
			s->wait = WIRE_WAIT_READ;
			s->fs = h->file;
		}
		s->cpu_ns = (uint64_t)h->ran[i];
	}
}

void long_host_work(struct long_host *h, int64_t t)
{
	struct wire_sample *s;

	for (; h->next < t; h->next += WORK_NS) {
		s = look(h, h->pid, h->tid, WIRE_ROLE_SUBMITTER, WORK_NS);
		s->stack = h->stack[roll(h, LONG_STACKS)];
		h->ran[0] += WORK_NS;
		s->cpu_ns = (uint64_t)h->ran[0];
		look_at_workers(h, WORK_NS);
	}
}

static struct wire_batch *row(struct long_host *h, int what, int64_t start, int64_t end)
{
	if (h->batches == h->batch_room) {
		h->batch_room = h->batch_room ? 2 * h->batch_room : FRAME_ROWS;
		h->batch = reallocarray(h->batch, h->batch_room, sizeof(*h->batch));
		made_need(h->batch != NULL, "no memory");
	}
	h->batch[h->batches] = (struct wire_batch){ .what = (uint8_t)what,
						    .start_ns = start,
						    .end_ns = end,
						    .batch = h->batches_ever,
						    .loader = 1,
						    .pid = h->pid,
						    .tid = h->tid };
	return &h->batch[h->batches++];
}

/* The batch that the wait ends with was made by one of the workers, until just before. */
static void make_batch(struct long_host *h, int64_t start, int64_t end)
{
	uint32_t i = 1 + (uint32_t)(h->batches_ever % LONG_WORKERS);
	struct wire_batch *b;

	if (start < h->fetched)
		start = h->fetched;
	b = row(h, WIRE_BATCH_FETCH, start, end < start ? start : end);
	b->worker = i;
	b->pid = b->tid = h->pid + 100000 * i;
	b->cpu_ns = (uint64_t)(b->end_ns - start) / 10 * 9;
	b->samples = 32;
	h->fetched = start;
}

void long_host_wait(struct long_host *h, int64_t start, int64_t end)
{
	struct wire_sample *s;

	long_host_work(h, start);
	if (h->next > start + WAIT_NS)
		h->next = start + WAIT_NS;
	for (; h->next < end; h->next += WAIT_NS) {
		s = look(h, h->pid, h->tid, WIRE_ROLE_SUBMITTER, WAIT_NS);
		s->stack = h->waits;
		s->state = WIRE_STATE_SLEEPING;
		s->wait = WIRE_WAIT_QUEUE;
		s->cpu_ns = (uint64_t)h->ran[0];
		look_at_workers(h, WAIT_NS);
	}
	make_batch(h, start - BATCH_NS, end - 20000);
	row(h, WIRE_BATCH_TAKE, start, end);
	h->batches_ever++;
}

void long_host_flush(struct long_host *h, struct made_stream *s, int64_t now)
{
	made_samples(s, h->sample, h->samples, FRAME_ROWS, now);
	made_batches(s, h->batch, h->batches, FRAME_ROWS, now);
	h->samples = h->batches = 0;
}

void long_host_end(struct long_host *h)
{
	free(h->sample);
	free(h->batch);
}
