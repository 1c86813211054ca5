/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a kernel's name, whoever wrote it: as the linker has it (mangled.h), as a C++ runtime or
 * nsys prints it, or plain. What is none of these is cut into identifiers all the same. Pure; any
 * bytes are good.
 */
#ifndef FACTS_KERNEL_NAME_H
#define FACTS_KERNEL_NAME_H

#include "kernel_words.h"

void facts_kernel_name_read(struct facts_kernel_words *w, const char *name);

#endif
