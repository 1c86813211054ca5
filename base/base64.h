/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Base64 of RFC 4648, padded, on one line. Any thread; errors of the stream are the
 * caller's to check (ferror).
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>
#include <stdio.h>

void base_put_base64(FILE *f, const void *bytes, size_t len);

#endif
