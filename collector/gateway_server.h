/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector as a gateway (gateway/gateway.h): an HTTP server, the object store, and nothing on
 * this machine's disk. One thread, and those that wait for the store.
 */
#ifndef COLL_GATEWAY_SERVER_H
#define COLL_GATEWAY_SERVER_H

#include "options.h"

/* Serves until it is asked to end and what is under way is done. Returns an enum coll_exit. */
int coll_gateway_serve(const struct coll_options *o);

#endif
