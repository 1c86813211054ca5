/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of data*.c share. Private to them. */
#ifndef VIEW_DATA_PRIV_H
#define VIEW_DATA_PRIV_H

#include "analysis/series/series.h"
#include "data_out.h"
#include "summary/summary.h"

#define DATA_PROCESSES_MAX 512u

struct data {
	struct data_out out;
	const struct view_summary *s;
	const struct ana_result *r;
	const struct ana_series *series; /* NULL: none were made; then no section is */
	int64_t axis_start, axis_end;
	uint32_t process[DATA_PROCESSES_MAX]; /* those named so far */
	size_t processes;
};

/*
 * A member of the document at a level of coarseness: 0 has everything, each further one less. At
 * the last level it holds little, whatever the run is.
 */
typedef void data_section(struct data *d, unsigned int level);

/* Index of a process of the result in the block's list; names it if it is new. */
size_t data_process(struct data *d, uint32_t process);

#define DATA_GPUS_LEVELS 11u
data_section data_gpus; /* data_gpus.c */
#define DATA_STEPS_LEVELS 12u
data_section data_steps; /* data_steps.c */
#define DATA_LOADER_LEVELS 4u
data_section data_loader; /* data_loader.c */
#define DATA_FLAME_LEVELS 9u
data_section data_flame; /* data_flame.c */
#define DATA_PROCESSES_LEVELS 2u
data_section data_processes; /* data.c: after all that name some */

#endif
