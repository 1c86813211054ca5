/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of objects below a run's folder in an object store (docs/FORMAT.md, "Segments"). Pure; what
 * is asked about is hostile.
 */
#ifndef WIRE_KEYS_H
#define WIRE_KEYS_H

#include <stdbool.h>

/* "<file>/<first>-<last>": a piece of a stream. */
bool wire_key_is_segment(const char *key);
/* run.json and its like, in no folder of their own. */
bool wire_key_is_small(const char *key);

#endif
