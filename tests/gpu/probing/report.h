/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - the answers as files: probe.jsonl, a row of JSON a line, and probe.md, the same as a
 * table. Both hold every question at every moment and are replaced as a whole after each answer, so
 * that whoever kills the probe finds them whole, with a reason where nothing was asked.
 */
#ifndef PROBE_REPORT_H
#define PROBE_REPORT_H

#include <stdbool.h>

/* Begins the files in `folder`; nothing is answered. command: as it was called. 0 or -errno. */
int report_begin(const char *folder, const char *command);

/* A line that a part has sent, without its end. A line that is not whole is passed over. */
void report_line(const char *part, char *line);

/* What is still open of a part is not asked, and why. */
void report_close(const char *part, const char *why);

/* A fact that a part has sent, or NULL. */
const char *report_fact(const char *name);

/* How many were answered, skipped, not asked. */
void report_count(int *answered, int *skipped, int *open);

/* Writes both files; done by the above, and once more at the end with what the whole took. */
void report_write(const char *ending);

#endif
