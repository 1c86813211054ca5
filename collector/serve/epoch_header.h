/* SPDX-License-Identifier: Apache-2.0 */
/* Which store answers (store/epoch.h), and who means another one. */
#ifndef COLL_EPOCH_HEADER_H
#define COLL_EPOCH_HEADER_H

#include <stdbool.h>
#include "http.h"

/*
 * Says in the answer which store the asker's team has. False: it cannot be told; answered, 503 or
 * 507.
 */
bool coll_http_say_epoch(struct coll_http_request *r);

/* The same; who says that he means another store is answered with 412. True: it is answered. */
bool coll_http_refuse_epoch(struct coll_http_request *r);

#endif
