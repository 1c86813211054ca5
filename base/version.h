/* SPDX-License-Identifier: Apache-2.0 */
/* What is running, for --version of every program. Any thread. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#include <stdio.h>

/* The commit's first twelve digits, with a + where the source differed from it; "": not known. */
extern const char base_commit[];

/* "PROGRAM 0.1.0 (commit 0123456789ab)", a line. */
void base_version_print(FILE *f, const char *program);

#endif
