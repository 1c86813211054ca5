/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels of what else a run is known by: W&B, MLflow and Hydra, the git commit and the container's
 * image, as the environment, the command and files tell. Nobody is asked and nothing is started:
 * every file is a regular one of which a bounded part is read. What the user gave holds.
 */
#ifndef VIEW_IDENTITIES_H
#define VIEW_IDENTITIES_H

#include "run.h"

/* Before the command starts. */
void view_run_identities(struct view_run *r);

/* After it: what only it could make, the id of a run that W&B began. */
void view_run_identities_end(struct view_run *r);

#endif
