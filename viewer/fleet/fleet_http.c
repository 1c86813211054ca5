/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "core/http.h"

struct transfer {
	CURL *easy;
	struct fleet_request *r;
};

static int set_options(CURL *e, const struct fleet_http_options *o, struct transfer *t)
{
	_Static_assert(sizeof(t->r->why) >= CURL_ERROR_SIZE, "libcurl writes so much");
	int err = view_http_set(e, o->ca, o->timeout_s, &t->r->answer, t->r->why);

	if (err)
		return err;
	curl_easy_setopt(e, CURLOPT_URL, t->r->url);
	curl_easy_setopt(e, CURLOPT_POST, 1L);
	curl_easy_setopt(e, CURLOPT_POSTFIELDS, t->r->body);
	curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->r->body_len);
	if (o->user) {
		curl_easy_setopt(e, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
		curl_easy_setopt(e, CURLOPT_USERNAME, o->user);
		curl_easy_setopt(e, CURLOPT_PASSWORD, o->password ? o->password : "");
	}
	return 0;
}

/* Not the 100-continue that costs a second where a server does not know it. */
static struct curl_slist *headers(void)
{
	return curl_slist_append(NULL, "Expect:");
}

static int begin(CURLM *multi, struct transfer *t, struct curl_slist *header,
		 const struct fleet_http_options *o)
{
	int err;

	t->r->answer = (struct view_answer){ .most = FLEET_HTTP_ANSWER_MAX,
					     .in_memory = FLEET_HTTP_IN_MEMORY };
	t->r->status = 0;
	t->r->why[0] = '\0';
	t->easy = curl_easy_init();
	if (!t->easy)
		return -ENOMEM;
	err = set_options(t->easy, o, t);
	if (err)
		return err;
	curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, header);
	curl_easy_setopt(t->easy, CURLOPT_PRIVATE, t);
	return curl_multi_add_handle(multi, t->easy) ? -ENOMEM : 0;
}

/* What libcurl knows of a failure to take the answer is that there was one. */
static void end(struct transfer *t, CURLcode code)
{
	struct fleet_request *r = t->r;
	long status = 0;

	if (!code)
		curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	r->failed = code == CURLE_WRITE_ERROR ? -EFBIG : view_answer_end(&r->answer);
	if (r->failed)
		snprintf(r->why, sizeof(r->why),
			 "there is no room for its answer, %zu MiB so far: ask for fewer runs "
			 "(--since, --team), or set TMPDIR to a folder with room",
			 r->answer.len >> 20);
	else if (code && !r->why[0])
		snprintf(r->why, sizeof(r->why), "%s", curl_easy_strerror(code));
	r->status = r->failed ? 0 : (int)status;
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
