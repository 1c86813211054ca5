/* SPDX-License-Identifier: Apache-2.0 */
#include "http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/cafile.h"

#define CONNECT_S 5L

static size_t take(char *bytes, size_t size, size_t count, void *arg)
{
	struct view_answer *a = arg;
	size_t len = size * count;

	if (len > a->most - a->len)
		return 0;
	if (a->len + len + 1 > a->room) {
		size_t room = (a->len + len + 1) * 2;
		char *more = realloc(a->text, room);

		if (!more)
			return 0;
		a->text = more;
		a->room = room;
	}
	memcpy(a->text + a->len, bytes, len);
	a->len += len;
	a->text[a->len] = '\0';
	return len;
}

int view_http_set(CURL *easy, const char *ca, long whole_s, struct view_answer *a, char *why)
{
	CURLcode err = curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");

	if (!err)
		err = curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	if (!ca)
		ca = base_ca_file();
	if (!err && ca)
		err = curl_easy_setopt(easy, CURLOPT_CAINFO, ca);
	if (!err)
		err = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
	if (!err)
		err = curl_easy_setopt(easy, CURLOPT_WRITEDATA, a);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, why);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT, whole_s);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "gpustarve/" GPUSTARVE_VERSION);
	return err ? -ENOSYS : 0;
}
