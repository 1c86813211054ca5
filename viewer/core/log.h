/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command line says to its user, on stderr, one line each:
 * "gpustarve: what: why; what to do". Any thread.
 */
#ifndef VIEW_LOG_H
#define VIEW_LOG_H

/* An error: something asked for was not done. */
void view_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A remark: it was done, but the user should know something. Same form as an error. */
void view_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
