/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every HTTP request of the command keeps to: http and https and no other protocol, no
 * redirect (a credential goes nowhere but where it was sent), a certificate that is checked, limits
 * in time, and in an answer's size (answer.h). What is sent is the caller's to say. A handle and
 * its answer belong to one thread at a time.
 */
#ifndef VIEW_HTTP_H
#define VIEW_HTTP_H

#include <curl/curl.h>
#include "answer.h"

/*
 * Sets up @easy, whose answers go into *@a (which must stay). @ca: file of certificates to trust,
 * NULL: the system's. @whole_s: seconds for a request. @why: CURL_ERROR_SIZE bytes that must stay,
 * for what goes wrong. 0, or -ENOSYS: this libcurl cannot keep to it; then send nothing.
 */
int view_http_set(CURL *easy, const char *ca, long whole_s, struct view_answer *a, char *why);

#endif
