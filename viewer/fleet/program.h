/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By what runs of the same training are known, in digests: a fingerprint, with the steps that were
 * taken and all advice that was given, so that a later run without a piece of it is told apart from
 * one whose digest had no room for it.
 *
 * The fingerprint is a hash of whose the run is (user, team, project), of the program and its
 * arguments without numbers and paths, of its GPUs, ranks, data set and batch size: what a step
 * costs by. A label `fingerprint` takes the place of all of that but whose it is.
 */
#ifndef FLEET_PROGRAM_H
#define FLEET_PROGRAM_H

#include "base/jsondoc.h"
#include "base/jsonout.h"
#include "digest.h"

/* digest.program; nothing where nothing is known. Reading: NULL, or what is wrong (static). */
void fleet_program_make(struct fleet_digest *d, const struct view_summary *s);
void fleet_program_put(struct base_jsonout *j, const struct fleet_digest *d);
const char *fleet_program_read(struct fleet_digest *d, const struct base_json *program);

#endif
