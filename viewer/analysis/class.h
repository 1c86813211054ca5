/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The classes of GPU time, and the sets of them that rules are about. facts/classes.def has the
 * rows, docs/CAUSES.md explains each. The order is the order of display; names are stable.
 */
#ifndef ANALYSIS_CLASS_H
#define ANALYSIS_CLASS_H

#include <stdbool.h>
#include <stdint.h>

enum ana_class {
#define CLASS(symbol, name, group, marks, colour, meaning, loss, proof, basis, advice) ANA_##symbol,
#include "facts/classes.def"
	ANA_CLASSES
};

enum ana_confidence {
#define CONFIDENCE(symbol, name) ANA_##symbol,
#include "facts/verdicts.def"
	ANA_CONFIDENCES
};

extern const char *const ana_class_names[ANA_CLASSES];
extern const char *const ana_confidence_names[ANA_CONFIDENCES];

int ana_class_by_name(const char *name); /* -1: no such class */

/* Each of these is no for what is no class. */
bool ana_class_is_input(int c); /* input.* */
bool ana_class_is_host(int c); /* host.*, host.unknown included */
bool ana_class_is_device(int c); /* device.* */
bool ana_class_is_busy(int c); /* something ran, be it a collective that waits for a late rank */
bool ana_class_is_recorded(int c); /* by records alone: there is no more or less sure about it */
bool ana_class_is_waste(int c); /* counted as waste unless told otherwise (LEDGER 7) */
bool ana_class_is_doubt(int c); /* nobody knows what it was (LEDGER 7's U) */
bool ana_class_is_outside(int c); /* of the time that verdicts are about (LEDGER 7's W) */
bool ana_class_wants_workers(int c); /* more loader workers may spare it */

/* Of the classes in the set; wide, for stamps may be wild. */
__int128 ana_class_sum(const int64_t classes[ANA_CLASSES], bool (*in)(int));

#endif
