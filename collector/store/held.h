/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What asker and asked agree on where a store is asked what it holds (serve/held.c, relay/check.c).
 */
#ifndef COLL_HELD_H
#define COLL_HELD_H

#define COLL_HELD_PATH "/v1/held"
#define COLL_HELD_LINES 256 /* of one question */
#define COLL_HELD_BODY_MAX (128u << 10)
#define COLL_HELD_NONE "-"
#define COLL_HELD_REMOVED "removed" /* the whole run, on purpose */

#endif
