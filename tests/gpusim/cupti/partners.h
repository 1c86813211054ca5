/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partners.h - clients of CUPTI's second interface (second.h), by script: "xla" subscribes anew for
 * each session beside others and takes whole records, "cuspy" is torch's, with records of selected
 * fields, "solo" allows nobody beside it. Where CUPTI is older there is none of them.
 */
#ifndef SIM_CUPTI_PARTNERS_H
#define SIM_CUPTI_PARTNERS_H

#include <stdbool.h>
#include <stdint.h>

bool partner_is(const char *kind);

/* Does it go on by the first interface where it may not subscribe? */
bool partner_falls_back(const char *kind);

struct partner_told {
	int rc; /* of subscribing */
	uint64_t records, wrong; /* wrong: those that are not as they were asked for */
};

/* One session, until then. On the caller's thread. */
void partner_session(const char *kind, uint64_t end, struct partner_told *told);

#endif
