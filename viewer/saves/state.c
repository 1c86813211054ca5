/* SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include <errno.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "base/units.h"

#define LESS_PARTS 2

const char *const saves_small_names[LIVE_SMALLS] = { "", "little", "others", "memory" };

const char *const saves_small_words[LIVE_SMALLS] = {
	[LIVE_SMALL_LITTLE] = "little for a training that needs a GPU",
	[LIVE_SMALL_OTHERS] = "less than a tenth of another one that was saved",
	[LIVE_SMALL_MEMORY] = "less than a thousandth of a GPU's memory that is in use",
};

/* Of all files of each checkpoint, whatever is in them. NULL: no memory. */
static uint64_t *all_bytes(const struct saves_input *in, const struct live_checkpoints *c)
{
	uint64_t *bytes = calloc(c->checkpoints + 1, sizeof(*bytes));

	for (size_t i = 0; bytes && i < in->saves; i++) {
		uint32_t of = c->of_save[i];

		if (of != LIVE_NO_CHECKPOINT)
			bytes[of] = live_bytes_sum(bytes[of], in->save[i].file.size);
	}
	return bytes;
}

/* Weights are a half of what momentum makes of them, or a third of Adam's. */
static int find_most(struct saves_state *s, const struct saves_input *in,
		     const struct live_checkpoints *c, size_t checkpoint)
{
	uint64_t *bytes = all_bytes(in, c);

	if (!bytes)
		return -ENOMEM;
	for (size_t i = 0; i < checkpoint; i++)
		if (c->checkpoint[i].there_ns != LIVE_NEVER && live_is_sure(&c->checkpoint[i]))
			s->most_bytes = base_max(s->most_bytes, bytes[i]);
	if (!bytes[checkpoint] || s->most_bytes / LESS_PARTS < bytes[checkpoint])
		s->most_bytes = 0;
	free(bytes);
	return 0;
}

int saves_state_of(struct saves_state *s, const struct saves_input *in,
		   const struct live_checkpoints *c, size_t checkpoint)
{
	uint64_t *bytes = live_state_bytes(c, in->save, in->saves), largest = 0;

	if (!bytes)
		return -ENOMEM;
	for (size_t i = 0; i < in->saves; i++)
		if (in->save[i].state && in->save[i].whole_ns != LIVE_NEVER)
			largest = base_max(largest, in->save[i].file.size);
	s->bytes = bytes[checkpoint];
	s->small = live_small_of(s->bytes, largest, in->memory_bytes);
	free(bytes);
	return find_most(s, in, c, checkpoint);
}

const char *saves_state_words(uint64_t bytes, struct base_arena *mem)
{
	base_unit text;

	if (!bytes)
		return "a state was saved";
	return base_arena_printf(mem, "a state of %s was saved", base_bytes(text, bytes));
}

const char *saves_caveat_words(const struct saves_state *s, struct base_arena *mem)
{
	const char *less = "";
	base_unit most;

	if (s->most_bytes)
		less = base_arena_printf(mem, "; a checkpoint before it has %s, " SAVES_STATE_LESS,
					 base_bytes(most, s->most_bytes));
	return base_arena_printf(mem, SAVES_STATE_BEFORE "%s%s%s%s; " SAVES_STATE_AFTER,
				 saves_state_words(s->bytes, mem), s->small ? ", which is " : "",
				 s->small ? saves_small_words[s->small] : "", less);
}
