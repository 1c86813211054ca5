/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Authenticates a request. With a token file: `Authorization: Bearer TOKEN`; or, for reading alone,
 * Basic with the token as password (a browser's dialog); or a client certificate that the file
 * names. Without one (on loopback only) everybody may do everything, but no web page of another
 * site: the Host must be this machine, and a request that writes must not come from a page.
 */
#ifndef COLL_AUTH_H
#define COLL_AUTH_H

#include "http.h"

/* True: r->team is set and the route's scope allowed. False: refused, answered, logged, counted. */
bool coll_auth(struct coll_http_request *r);

/* Counts that a request was refused, and logs it: ten lines at once, then one a second. */
void coll_auth_log(struct coll_http_request *r, const char *why);

#endif
