/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libprof.so exports: everything else is hidden. libprof.map lists the same names.
 */
#ifndef PROF_EXPORT_H
#define PROF_EXPORT_H

#define PROF_EXPORT __attribute__((visibility("default")))

#endif
