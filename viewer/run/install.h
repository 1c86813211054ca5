/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the other parts of gpustarve lie, from where this program lies: beside it and in
 * ../lib of a build tree, or in ../<libdir>/gpustarve of an installation. Any thread.
 */
#ifndef VIEW_INSTALL_H
#define VIEW_INSTALL_H

#include <stdbool.h>
#include <stddef.h>

/* libprof.so: GPUSTARVE_LIB, else found. False: not there (@out is the place looked at first). */
bool view_find_libprof(char *out, size_t room);

/* The folder of the recorded runs that `gpustarve demo` shows. False: not there. */
bool view_find_demo(char *out, size_t room);

/* gpustarve-collector, beside this program. */
bool view_find_collector(char *out, size_t room);

#endif
