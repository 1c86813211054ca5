/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights to a decision.
 */
#include "cause.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"

void ana_cause_begin(struct ana_cause *b, int64_t start, int64_t end, enum ana_class unknown,
		     enum ana_confidence record_confidence, bool limited)
{
	const struct ana_cause was = *b;

	*b = (struct ana_cause){ .start = start,
				 .end = end,
				 .unknown = unknown,
				 .record_confidence = record_confidence,
				 .limited = limited,
				 .vote = was.vote,
				 .vote_room = was.vote_room,
				 .chain = was.chain,
				 .owed = was.owed,
				 .owed_room = was.owed_room,
				 .path = was.path,
				 .path_room = was.path_room };
	ana_chain_forget(&b->chain);
}

void ana_cause_fini(struct ana_cause *b)
{
	free(b->vote);
	free(b->owed);
	free(b->path);
	ana_chain_fini(&b->chain);
	*b = (struct ana_cause){ 0 };
}

void ana_cause_add(struct ana_cause *b, int c, int64_t weight)
{
	ana_sum(&b->weight[c], weight);
}

void ana_cause_vote(struct ana_cause *b, const struct ana_thread_samples *thread, size_t sample,
		    enum ana_class c, bool producer, int64_t weight)
{
	if (!base_vec_more(b->vote, b->votes, b->vote_room)) {
		b->err = -ENOMEM;
		return;
	}
	b->vote[b->votes++] = (struct ana_vote){ thread, sample, c, producer, 0, weight };
	b->producers += producer && c != ANA_INPUT_CPU_STARVED; /* it votes for what it does, too */
}

/* Told by rows, these are exact without any sample. */
static bool exact_by_rows(const struct ana_cause *b, int c)
{
	if (c == ANA_INPUT_PIPELINE)
		return b->idle * (__int128)2 >= b->weight[c];
	return c == ANA_INPUT_PREP || c == ANA_INPUT_CPU_STARVED || c == ANA_INPUT_HANDOFF ||
	       c == ANA_INPUT_EPOCH;
}

static enum ana_confidence capped(const struct ana_cause *b, enum ana_confidence c)
{
	return b->limited && c < b->record_confidence ? b->record_confidence : c;
}

static enum ana_confidence confidence_of(const struct ana_cause *b, int c, bool split)
{
	bool sure = b->producers >= 3 || (b->rows && exact_by_rows(b, c));

	if (c == (int)b->unknown)
		return b->record_confidence;
	if (b->far && c != ANA_INPUT_CPU_STARVED)
		return ANA_LOW;
	if (b->chained && ana_class_is_input(c) && b->chain_confidence > ANA_MEDIUM)
		return b->chain_confidence;
	if (b->chained && ana_class_is_input(c) && b->chain_confidence > ANA_HIGH)
		sure = false;
	return capped(b, sure && !split ? ANA_HIGH : ANA_MEDIUM);
}

/* The class that has it all by being heavy enough; -1: none. */
static int heaviest(const struct ana_cause *b, __int128 total)
{
	int c, top = 0;
	int64_t second = 0;

	for (c = 1; c < ANA_CLASSES; c++)
		if (b->weight[c] > b->weight[top])
			top = c;
	for (c = 0; c < ANA_CLASSES; c++)
		if (c != top && b->weight[c] > second)
			second = b->weight[c];
	if ((__int128)5 * b->weight[top] < 2 * total ||
	    (__int128)2 * b->weight[top] < (__int128)3 * second)
		return -1;
	return top;
}

/*
 * Time without a CPU is counted by the kernel, not guessed: a tenth of the piece or more is taken
 * out as it is. What decides is the rest.
 */
static int64_t take_starved(struct ana_cause *b, __int128 *total)
{
	int64_t ns = b->end - b->start;
	int64_t given = 0;
	int c;

	for (c = 0; c < ANA_CLASSES; c++) {
		__int128 w = b->weight[c];

		if ((c != ANA_INPUT_CPU_STARVED && c != ANA_HOST_CPU_STARVED) || w * 10 < *total ||
		    !w)
			continue;
		b->ns[c] = (int64_t)((__int128)ns * w / *total);
		b->confidence[c] = confidence_of(b, c, false);
		given += b->ns[c];
		b->weight[c] = 0;
		*total -= w;
		break; /* never both */
	}
	return given;
}

void ana_cause_decide(struct ana_cause *b)
{
	int64_t left = b->end - b->start, part[ANA_CLASSES];
	__int128 total = 0;
	int c, winner;

	b->decided = true;
	for (c = 0; c < ANA_CLASSES; c++)
		total += b->weight[c];
	if (total)
		left -= take_starved(b, &total);
	if (!left)
		return;
	winner = !total				  ? (int)b->unknown
		 : 2 * (__int128)b->idle >= total ? (int)ANA_INPUT_PIPELINE
						  : heaviest(b, total);
	if (winner >= 0) {
		b->ns[winner] += left;
		b->confidence[winner] = confidence_of(b, winner, false);
		return;
	}
	ana_split(left, b->weight, ANA_CLASSES, part);
	for (c = 0; c < ANA_CLASSES; c++) {
		if (!part[c])
			continue;
		b->ns[c] += part[c];
		b->confidence[c] = confidence_of(b, c, true);
	}
}

void ana_cause_all(struct ana_cause *b, enum ana_class c, enum ana_confidence confidence)
{
	memset(b->ns, 0, sizeof(b->ns));
	b->decided = false;
	b->ns[c] = b->end - b->start;
	b->confidence[c] = capped(b, confidence);
}
