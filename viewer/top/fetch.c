/* SPDX-License-Identifier: Apache-2.0 */
#include "fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/http.h"
#include "core/log.h"
#include "base/files.h"
#include "snapshot.h"

#define WHOLE_S 10L
#define TOKEN_MAX 512 /* characters; no collector takes a longer one */

struct top_fetch {
	CURL *curl;
	struct curl_slist *headers;
	struct view_answer answer;
	char error[CURL_ERROR_SIZE];
	long status;
};

static bool add_token(struct top_fetch *f, const char *token)
{
	char header[TOKEN_MAX + 32];

	if (strlen(token) > TOKEN_MAX) {
		view_error("token: more than %d characters, which no collector takes; give another",
			   TOKEN_MAX);
		return false;
	}
	snprintf(header, sizeof(header), "Authorization: Bearer %s", token);
	f->headers = curl_slist_append(NULL, header);
	explicit_bzero(header, sizeof(header));
	if (!f->headers)
		view_error("top: out of memory; end some processes");
	return f->headers;
}

/* The token in a header; never on a command line or in a log. */
static bool set_token(struct top_fetch *f, const char *file)
{
	const char *env = getenv("GPUSTARVE_TOKEN");
	char *text = NULL;
	size_t len = 0;
	int err = 0;
	bool set;

	if (file)
		err = base_file_read(file, &text, &len);
	else if (env && env[0])
		text = strdup(env);
	if (err) {
		view_error("--token-file %s: %s; give a file that you may read", file,
			   strerror(-err));
		return false;
	}
	if (!text)
		return true;
	text[strcspn(text, " \t\r\n")] = '\0';
	set = add_token(f, text);
	explicit_bzero(text, strlen(text));
	free(text);
	return set;
}

struct top_fetch *top_fetch_new(const char *token_file, const char *ca_file)
{
	struct top_fetch *f = calloc(1, sizeof(*f));

	if (f)
		f->curl = curl_easy_init();
	if (!f || !f->curl) {
		view_error("top: out of memory; end some processes");
		goto fail;
	}
	f->answer.most = TOP_FETCH_MAX;
	if (!set_token(f, token_file))
		goto fail;
	if (view_http_set(f->curl, ca_file, WHOLE_S, &f->answer, f->error)) {
		view_error("top: this libcurl cannot fetch safely; install libcurl 7.85 or later");
		goto fail;
	}
	curl_easy_setopt(f->curl, CURLOPT_HTTPHEADER, f->headers);
	return f;
fail:
	top_fetch_free(f);
	return NULL;
}

void top_fetch_free(struct top_fetch *f)
{
	if (!f)
		return;
	if (f->curl)
		curl_easy_cleanup(f->curl);
	curl_slist_free_all(f->headers);
	free(f->answer.text);
	free(f);
}

static const char *meaning(long status)
{
	switch (status) {
	case 401:
		return "no token, or one that it does not know; give --token-file";
	case 403:
		return "this token may not read";
	case 404:
		return "it knows of no such run that is going on";
	default:
		return "it did not answer what was asked";
	}
}

bool top_fetch_get(struct top_fetch *f, const char *url, const char **text, size_t *len,
		   char why[256])
{
	CURLcode code;

	f->status = 0;
	f->answer.len = 0;
	f->error[0] = '\0';
	curl_easy_setopt(f->curl, CURLOPT_URL, url);
	code = curl_easy_perform(f->curl);
	curl_easy_getinfo(f->curl, CURLINFO_RESPONSE_CODE, &f->status);
	if (code != CURLE_OK) {
		top_tame(why, 256, f->error[0] ? f->error : curl_easy_strerror(code));
		return false;
	}
	if (f->status != 200) {
		snprintf(why, 256, "HTTP %ld: %s", f->status, meaning(f->status));
		return false;
	}
	*text = f->answer.len ? f->answer.text : "";
	*len = f->answer.len;
	return true;
}

long top_fetch_status(const struct top_fetch *f)
{
	return f->status;
}
