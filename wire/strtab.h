/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names to ids and back. Ids are 1, 2, ... in order of first sight and never change; id 0 is no
 * name. Owns copies of all texts. Not thread-safe.
 */
#ifndef WIRE_STRTAB_H
#define WIRE_STRTAB_H

#include <stddef.h>
#include <stdint.h>

#define WIRE_STRING_BYTES_MAX 4096u /* longer names are cut */

struct wire_strtab;

/* NULL: no memory. The second is for texts that others chose: see keyed_hash.h. */
struct wire_strtab *wire_strtab_new(void);
struct wire_strtab *wire_strtab_new_guarded(void);
void wire_strtab_free(struct wire_strtab *t);

/* Id of the text, added if new. 0 when out of memory or full (the limit is 1 << 24 names). */
uint32_t wire_strtab_intern(struct wire_strtab *t, const char *text, size_t len);

/* Id of the text, 0 if it is not there. */
uint32_t wire_strtab_find(const struct wire_strtab *t, const char *text, size_t len);

/*
 * Sets a given id (readers). The first text of an id stays: 0 if it is the same, -EEXIST if not.
 * 0, -EINVAL (id 0 or over the limit), -ENOMEM.
 */
int wire_strtab_set(struct wire_strtab *t, uint32_t id, const char *text, size_t len);

/* The text of an id, NUL-terminated, valid until the table is freed; "" for an unknown id. */
const char *wire_strtab_get(const struct wire_strtab *t, uint32_t id, size_t *len);

uint32_t wire_strtab_count(const struct wire_strtab *t); /* highest id */
size_t wire_strtab_bytes(const struct wire_strtab *t); /* memory held, for accounting */

#endif
