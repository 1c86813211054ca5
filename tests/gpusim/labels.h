/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels.h - the names that CUPTI's records point at. As a rule they live as long as the process.
 * With GPUSIM_NAMES they belong to their module, as in CUPTI before 13.4 update 1: "unmap", their
 * memory is gone with it; "reuse", the next module's names come to lie there.
 */
#ifndef SIM_LABELS_H
#define SIM_LABELS_H

#include <stddef.h>

struct sim_labels { /* of one module; zeroed at first */
	char *page;
	size_t used;
};

/* The label of a kernel of this name; @name itself where there is no room for one. Any thread. */
const char *sim_label(struct sim_labels *labels, const char *name);

/* The module is unloaded. */
void sim_labels_drop(struct sim_labels *labels);

#endif
