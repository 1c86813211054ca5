/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a GPU, as far as gaps and operations share it.
 */
#include "walk.h"

#include <stdlib.h>

void ana_gpu_fini(struct ana_gpu_state *g)
{
	free(g->gap);
	free(g->run);
	free(g->stream);
	free(g->waiter);
	free(g->waiting);
	ana_map_fini(&g->stream_of);
	ana_timeline_stack_fini(&g->waits);
	ana_top_fini(&g->top);
	ana_minutes_fini(&g->minutes);
}
