/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of a state that was saved: that there is one, how large it is, and whether that is
 * little (LEDGER 9). That it is of what trains, and all that a restart needs, nobody knows: so
 * `job safe` and the report say the same of it.
 */
#ifndef VIEW_SAVES_STATE_H
#define VIEW_SAVES_STATE_H

#include "base/arena.h"
#include "save.h"

struct saves_state {
	uint64_t bytes; /* of the newest checkpoint that covers anything; 0: not known */
	enum live_small small; /* which then is a small one */
	uint64_t most_bytes; /* of one before, twice as large as it or more; 0: there is none */
};

/* Of the checkpoint of that number in @c, which is made of @in. 0 or -ENOMEM. */
int saves_state_of(struct saves_state *s, const struct saves_input *in,
		   const struct live_checkpoints *c, size_t checkpoint);

extern const char *const saves_small_names[LIVE_SMALLS]; /* "" little others memory */

/* "a state of 1.2 GB was saved"; behind "which is": "little for a training ..." */
const char *saves_state_words(uint64_t bytes, struct base_arena *mem);
extern const char *const saves_small_words[LIVE_SMALLS]; /* NULL: not small */

/* What is said of work that is durable behind it. */
#define SAVES_STATE_BEFORE "durable means that "
#define SAVES_STATE_AFTER "nobody knows whether it is of what trains, and all that a restart needs"
#define SAVES_STATE_LESS "so it may be weights alone, without an optimizer's state"
const char *saves_caveat_words(const struct saves_state *s, struct base_arena *mem);

#endif
