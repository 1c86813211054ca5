/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose machine this is, or one of a run, from what its firmware says (DMI). Never asks the
 * network. Any thread.
 * GPUSTARVE_DMI names another folder than /sys/class/dmi/id.
 */
#ifndef VIEW_MACHINE_H
#define VIEW_MACHINE_H

#include <stdbool.h>

struct view_trace;

struct view_machine {
	char provider[32]; /* aws, gcp, azure; "": not known */
	char instance_type[64]; /* such as p5.48xlarge (AWS only); "": not known */
};

void view_machine_here(struct view_machine *p);

/* What the trace (NULL: nothing) says of a host. False: nothing, and *p is empty. */
bool view_machine_of(const struct view_trace *t, const char *host, struct view_machine *p);

#endif
