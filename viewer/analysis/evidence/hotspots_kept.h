/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hotspots as bytes, written or read (archive.h): of a part of the run that is done, or of one
 * that pieces are still added to. What is read is checked, as its sums may not be more than there
 * is time, and errors are the archive's. One thread.
 */
#ifndef ANALYSIS_HOTSPOTS_KEPT_H
#define ANALYSIS_HOTSPOTS_KEPT_H

#include "hotspots.h"

struct ana_archive; /* archive.h */

/* For merging alone. Read into zeroed ones; ana_hotspots_fini in any case. */
void ana_hotspots_archive(struct ana_hotspots *s, struct ana_archive *a);

/* The same, and what more is asked for where pieces are still added. */
void ana_hotspots_archive_open(struct ana_hotspots *s, struct ana_archive *a);

#endif
