/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLEET_STORED_TEXT_H
#define FLEET_STORED_TEXT_H

#include <stdbool.h>

/*
 * Arrays are read out of a digest's text as a store hands it over, cut anywhere, without the rest
 * of it: goes on behind @what if that stands at *p.
 */
bool fleet_stored_pass(const char **p, const char *what);

#endif
