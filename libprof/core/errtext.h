/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an errno says. strerror translates: it may load the locale's catalogue, allocate, and takes
 * a lock that a fork at that moment leaves held in the child; strerrorname_np is newer than glibc
 * 2.28.
 */
#ifndef PROF_ERRTEXT_H
#define PROF_ERRTEXT_H

/* The C locale's words of the errors that our calls meet; "error" for others. Any thread. */
const char *prof_error_text(int error);

#endif
