/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether files of this machine may be opened because a trace names them: the program's own lines,
 * modules whose functions are to be named. Whoever reads traces of others (a centre, a cluster's
 * controller) says no, for what a trace says of its host and its paths is its sender's to choose.
 * Reports are confined then (confine.h), and digests made apart (fleet/apart.h).
 */
#ifndef VIEW_LOCAL_H
#define VIEW_LOCAL_H

#include <stdbool.h>

#define VIEW_LOCAL_ENV "GPUSTARVE_LOCAL_FILES" /* "0": no */

bool view_local_files(void);

#endif
