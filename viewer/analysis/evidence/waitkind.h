/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kind of wait a blocked sample is in: by what its innermost calls of the standard library are
 * (take.h), and where these tell nothing by the kind of wait itself and by what it awaits. Pure.
 */
#ifndef ANALYSIS_WAITKIND_H
#define ANALYSIS_WAITKIND_H

#include "links.h"
#include "pystack.h"
#include "take.h"
#include "wire/evidence.h"

enum ana_take ana_waitkind_of(const struct wire_sample *s, const struct ana_pystack *k,
			      const struct ana_links *l);

#endif
