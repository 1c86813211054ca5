/* SPDX-License-Identifier: Apache-2.0 */
#include "http.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_S 5L

struct transfer {
	CURL *easy;
	struct fleet_request *r;
	size_t room;
};

static size_t take(char *data, size_t size, size_t count, void *arg)
{
	struct transfer *t = arg;
	struct fleet_request *r = t->r;
	size_t len = size * count;

	if (len > FLEET_HTTP_ANSWER_MAX - r->answer_len)
		return 0;
	if (r->answer_len + len + 1 > t->room) {
		size_t room = (r->answer_len + len + 1) * 2;
		char *more = realloc(r->answer, room);
		if (!more)
			return 0;
		r->answer = more;
		t->room = room;
	}
	memcpy(r->answer + r->answer_len, data, len);
	r->answer_len += len;
	r->answer[r->answer_len] = '\0';
	return len;
}

static void set_options(CURL *e, const struct fleet_http_options *o, struct transfer *t)
{
	curl_easy_setopt(e, CURLOPT_URL, t->r->url);
	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(e, CURLOPT_POST, 1L);
	curl_easy_setopt(e, CURLOPT_POSTFIELDS, t->r->body);
	curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->r->body_len);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, t);
	_Static_assert(sizeof(t->r->why) >= CURL_ERROR_SIZE, "libcurl writes so much");
	curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t->r->why);
	curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
	curl_easy_setopt(e, CURLOPT_TIMEOUT, o->timeout_s);
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_USERAGENT, "gpustarve/" GPUSTARVE_VERSION);
	if (o->ca)
		curl_easy_setopt(e, CURLOPT_CAINFO, o->ca);
	if (o->user) {
		curl_easy_setopt(e, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
		curl_easy_setopt(e, CURLOPT_USERNAME, o->user);
		curl_easy_setopt(e, CURLOPT_PASSWORD, o->password ? o->password : "");
	}
}

/* Not the 100-continue that costs a second where a server does not know it. */
static struct curl_slist *headers(void)
{
	return curl_slist_append(NULL, "Expect:");
}

static int begin(CURLM *multi, struct transfer *t, struct curl_slist *header,
		 const struct fleet_http_options *o)
{
	t->r->status = 0;
	t->r->answer = NULL;
	t->r->answer_len = 0;
	t->r->why[0] = '\0';
	t->easy = curl_easy_init();
	if (!t->easy)
		return -ENOMEM;
	set_options(t->easy, o, t);
	curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, header);
	curl_easy_setopt(t->easy, CURLOPT_PRIVATE, t);
	return curl_multi_add_handle(multi, t->easy) ? -ENOMEM : 0;
}

static void end(struct transfer *t, CURLcode code)
{
	long status = 0;

	if (!code)
		curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	else if (!t->r->why[0])
		snprintf(t->r->why, sizeof(t->r->why), "%s", curl_easy_strerror(code));
	t->r->status = (int)status;
}

static void collect(CURLM *multi)
{
	CURLMsg *m;
	int left;

	while ((m = curl_multi_info_read(multi, &left)) != NULL) {
		struct transfer *t = NULL;
		if (m->msg != CURLMSG_DONE)
			continue;
		CURLcode code = m->data.result;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&t);
		end(t, code);
	}
}

static int drive(CURLM *multi)
{
	int running = 1;

	while (running) {
		if (curl_multi_perform(multi, &running))
			return -EIO;
		collect(multi);
		if (running && curl_multi_wait(multi, NULL, 0, 1000, NULL))
			return -EIO;
	}
	return 0;
}

int fleet_http_post(const struct fleet_http_options *o, struct fleet_request *r, size_t n)
{
	struct transfer *t = calloc(n ? n : 1, sizeof(*t));
	int err = curl_global_init(CURL_GLOBAL_DEFAULT) ? -ENOSYS : 0;
	struct curl_slist *header = err ? NULL : headers();
	CURLM *multi = err ? NULL : curl_multi_init();

	if (!t || !multi || !header)
		err = err ? err : -ENOMEM;
	for (size_t i = 0; i < n && !err; i++) {
		t[i].r = &r[i];
		err = begin(multi, &t[i], header, o);
	}
	if (!err)
		err = drive(multi);
	for (size_t i = 0; t && i < n; i++) {
		if (!t[i].easy)
			continue;
		curl_multi_remove_handle(multi, t[i].easy);
		curl_easy_cleanup(t[i].easy);
	}
	curl_multi_cleanup(multi);
	curl_slist_free_all(header);
	free(t);
	return err;
}
