/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a scheduler's job was given on one node: alloc-<node>-<restart>.json in the job's folder
 * <out>/<cluster>-<job>.job. A hook of the node writes it when the job begins and completes it when
 * the job ends; reports join it with the runs of the job. Files may be hostile. Any thread.
 */
#ifndef VIEW_JOB_ALLOC_H
#define VIEW_JOB_ALLOC_H

#include <stdio.h>
#include "identity.h"

#define VIEW_ALLOC_SCHEMA "gpustarve.allocation/1"
#define VIEW_ALLOC_GPUS_MAX 1024u
#define VIEW_ALLOC_BYTES_MAX ((size_t)1 << 20)

struct view_alloc_gpu {
	int64_t index; /* as the scheduler numbers it on the node; -1: not known */
	const char *uuid; /* GPU-..., MIG-...; NULL: not known */
	const char *name; /* NULL: not known */
	const char *mig_profile; /* NULL: no MIG, or not known */
	uint32_t mig_slices, mig_slices_total; /* 0: as above */
};

struct view_alloc {
	struct view_job_identity id; /* with job and restart */
	const char *node; /* as the scheduler calls it */
	const char *host; /* as it calls itself, which is how traces name it */
	struct view_alloc_gpu *gpu;
	size_t gpus;
	int64_t start_ns, end_ns; /* since 1970 */
	bool ended; /* false: end_ns is 0 */
	bool unseen; /* tasks ran there that nobody recorded; not of the file */
};

void view_alloc_write(const struct view_alloc *a, FILE *f);

/*
 * Reads what view_alloc_write wrote; all of it lies in @mem. 0, or -EBADMSG and *why (static): no
 * such document, no job, times that cannot be, too many GPUs. A text that is no UUID is none.
 */
int view_alloc_parse(struct view_alloc *a, struct base_arena *mem, const char *text, size_t len,
		     const char **why);

/* Copies @from with all its texts into @mem. */
void view_alloc_keep(struct view_alloc *to, const struct view_alloc *from, struct base_arena *mem);

/* GPU- or MIG- and a UUID, in any case of its letters. */
bool view_alloc_is_uuid(const char *text);

/* One component of a path, whatever the scheduler calls it, in @mem; as run ids are made. */
char *view_job_safe(struct base_arena *mem, const char *text);

/* "alloc-<node>-<restart>.json", in @mem; of a name: the restart, -1 if it is no such name. */
char *view_alloc_name(struct base_arena *mem, const char *node, int64_t restart);
int64_t view_alloc_restart_of(const char *name);

/*
 * A task that is not recorded leaves a file of this name and its node's beside the allocations:
 * what it did with the GPUs nobody knows. Of a name: the node, NULL if it is no such name.
 */
const char *view_alloc_unrecorded_node(const char *name);

/* "slurm-<cluster>-<job>", the id of a whole job, in @mem. */
char *view_job_title(struct base_arena *mem, const struct view_job_identity *id);

/* "<cluster>-<job>.job", in @mem. The cluster of a job that names none is "cluster". */
char *view_job_folder_name(struct base_arena *mem, const struct view_job_identity *id);

#endif
