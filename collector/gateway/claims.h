/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An alert of a run that all gateways watch, fired by one of them. Whoever sees first that it
 * holds puts an object, `.alerts/TEAM/RUN/CONDITION`, with what fired and a number of his own,
 * where there is none yet: he whose bytes lie there starts its command, and nobody else ever does.
 *
 * What is sure: where the store keeps to conditions, a command is started once at most, whatever
 * dies or is late. A gateway that is killed between the put and the start has fired it for all:
 * the alert is there and told, and nobody starts its command. On a store without conditions
 * (Swift) two who put at the same moment both start it. No clock is in this. One thread, the
 * loop's.
 */
#ifndef COLL_CLAIMS_H
#define COLL_CLAIMS_H

#include "exchange.h"
#include "hands.h"
#include "objects/objects.h"

#define COLL_ALERTS_FOLDER ".alerts"

struct coll_claims { /* zero: nobody watches */
	struct objects *objects; /* borrowed, all of them */
	struct coll_hands *hands;
	struct coll_exchange *exchange;
	const char *url; /* of the object store, for commands */
};

/* Alerts of the exchange's runs are claimed from now on. All is borrowed. */
void coll_claims_init(struct coll_claims *c, struct objects *objects, struct coll_hands *hands,
		      struct coll_exchange *exchange, const char *url);

#endif
