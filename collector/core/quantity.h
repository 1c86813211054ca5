/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, sizes and times as options and files of limits say them. Pure functions. */
#ifndef COLL_QUANTITY_H
#define COLL_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * False: not of that shape, or too large. "12"; "200G": K, M, G, T are powers of 1024; "30d": s, m,
 * h, d, w, y.
 */
bool coll_count_of(const char *text, uint64_t *value);
bool coll_size_of(const char *text, uint64_t *bytes);
bool coll_span_of(const char *text, int64_t *ns);

#endif
