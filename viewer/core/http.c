/* SPDX-License-Identifier: Apache-2.0 */
#include "http.h"

#include <errno.h>
#include "base/cafile.h"

#define CONNECT_S 5L

static size_t take(char *bytes, size_t size, size_t count, void *arg)
{
	return view_answer_add(arg, bytes, size * count) ? 0 : size * count;
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
