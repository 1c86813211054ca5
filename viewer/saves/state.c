/* SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include <errno.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "base/units.h"

const char *const saves_small_names[LIVE_SMALLS] = { "", "little", "others", "memory" };

const char *const saves_small_words[LIVE_SMALLS] = {
	[LIVE_SMALL_LITTLE] = "little for a training that needs a GPU",
	[LIVE_SMALL_OTHERS] = "less than a tenth of another one that was saved",
	[LIVE_SMALL_MEMORY] = "less than a thousandth of a GPU's memory that is in use",
};

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
	return 0;
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
	return base_arena_printf(mem, SAVES_STATE_BEFORE "%s%s%s; " SAVES_STATE_AFTER,
				 saves_state_words(s->bytes, mem), s->small ? ", which is " : "",
				 s->small ? saves_small_words[s->small] : "");
}
