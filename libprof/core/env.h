/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the environment without getenv: some programs (bash) bring one of their own, whose result
 * the next call frees. Like getenv, only on a thread of the program, or before it has others.
 *
 * And changes it, without setenv, which moves and frees what other threads may be reading: changes
 * are collected, and seen by all others at once if they are published. Whoever reads on in the old
 * environment finds it as it was. Who sets a variable at the same moment loses that.
 */
#ifndef PROF_ENV_H
#define PROF_ENV_H

#include <stdbool.h>

/*
 * The value, NULL if unset. Where the environment has none or an empty one, what was set here and
 * is not published. Valid until the program changes the variable.
 */
const char *prof_env(const char *name);

/* The same, and NULL if it is empty. */
const char *prof_env_text(const char *name);

/* Does a switch with this value say no: "0", "off" or "no"? NULL does not. */
bool prof_env_off(const char *value);

/* ---- constructor only ---- */

/* Sets a variable, whose value is copied; NULL: takes it away. Without memory nothing is done. */
void prof_env_set(const char *name, const char *value);

/* The same for a line NAME=VALUE, which is not copied: it is the caller's to change. */
void prof_env_put(char *line);

/* What was set becomes the environment of this process and of those that it starts. */
void prof_env_publish(void);

#endif
