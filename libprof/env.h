/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the environment without getenv: some programs (bash) bring one of their own, whose result
 * the next call frees. Like getenv, only on a thread of the program, or before it has others.
 */
#ifndef PROF_ENV_H
#define PROF_ENV_H

#include <stdbool.h>

/* The value, NULL if unset. Valid until the program changes the variable. */
const char *prof_env(const char *name);

/* The same, and NULL if it is empty. */
const char *prof_env_text(const char *name);

/* Does a switch with this value say no: "0", "off" or "no"? NULL does not. */
bool prof_env_off(const char *value);

#endif
