/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of objects below a run's folder in an object store (docs/FORMAT.md, "Segments"). Pure; what
 * is asked about is hostile.
 */
#ifndef WIRE_KEYS_H
#define WIRE_KEYS_H

#include <stdbool.h>
#include <stdint.h>

/* What takes the place of run.json in a store where the run has not ended yet. */
#define WIRE_KEY_RUN_BEGUN "run-begun.json"
/* The same of alloc-*.json of a job that has its GPUs: what stands in place of "alloc-". */
#define WIRE_KEY_ALLOC_BEGUN "begun-"
#define WIRE_KEY_BYTES 244 /* of a segment's, with the end */

/* "<file>/<first>-<last>": a piece of a stream. */
bool wire_key_is_segment(const char *key);
/*
 * How a segment of the file whose name begins with these @len characters is called, with the
 * numbers of its first and last frame. False: they are no file's name.
 */
bool wire_key_of_segment(char to[WIRE_KEY_BYTES], const char *file, int len, uint64_t first,
			 uint64_t last);
/* run.json and its like, in no folder of their own. */
bool wire_key_is_small(const char *key);

#endif
