/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FACTS_MANGLED_H
#define FACTS_MANGLED_H

#include "kernel_words.h"

/*
 * The identifiers of @name, which begins with _Z, and types as C++ has them; in front of it @w has
 * begun. What comes behind something unknown is left out.
 */
void facts_mangled_read(struct facts_kernel_words *w, const char *name);

#endif
