/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From saves to checkpoints: which belong together, from when on they are there and until when
 * (LEDGER 9).
 */
#ifndef VIEW_CHECKPOINTS_H
#define VIEW_CHECKPOINTS_H

#include "save.h"

struct saves_checkpoint {
	int64_t start_ns; /* it covers all before */
	int64_t there_ns, gone_ns; /* SAVES_NEVER: it never was; it still is */
};

struct saves_checkpoints {
	struct saves_checkpoint *checkpoint; /* by start_ns */
	size_t checkpoints;
	uint32_t *
		of_save; /* [saves]: whose it is; SAVES_NO_CHECKPOINT: it is part of another save */
};
#define SAVES_NO_CHECKPOINT UINT32_MAX

/* 0 or -ENOMEM. Free with saves_checkpoints_fini. */
int saves_checkpoints_make(const struct saves_input *in, struct saves_checkpoints *c);
void saves_checkpoints_fini(struct saves_checkpoints *c);

/*
 * The save with the latest beginning that @load opened, of those that began before @before_ns and
 * were whole when it did; SIZE_MAX: none.
 */
size_t saves_opened(const struct saves_input *in, const struct saves_checkpoints *c,
		    const struct saves_load *load, int64_t before_ns);

/* Whether @path lies in the folder @folder, at any depth. */
bool saves_path_below(const char *path, const char *folder);

#endif
