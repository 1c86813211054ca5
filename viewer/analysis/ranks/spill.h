/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A temporary file without a name for what memory is too dear for. Made when first written to, in
 * TMPDIR, else /var/tmp, else /tmp; gone with its owner, however that ends. Any threads may write
 * and read at once.
 */
#ifndef ANALYSIS_SPILL_H
#define ANALYSIS_SPILL_H

#include <stddef.h>
#include <stdint.h>

struct ana_spill;

/* @folder: in which; borrowed; NULL: as above. NULL: no memory. */
struct ana_spill *ana_spill_new(const char *folder);
void ana_spill_free(struct ana_spill *s);

/*
 * Where it was put goes to *offset. 0 or negative errno: -ENOENT, -EACCES, -ENOSPC, ...; from then
 * on each write fails so.
 */
int ana_spill_write(struct ana_spill *s, const void *bytes, size_t n, uint64_t *offset);

/* 0 or negative errno. */
int ana_spill_read(const struct ana_spill *s, void *bytes, size_t n, uint64_t offset);

uint64_t ana_spill_bytes(struct ana_spill *s); /* written */

#endif
