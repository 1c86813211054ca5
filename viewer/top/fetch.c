/* SPDX-License-Identifier: Apache-2.0 */
#include "fetch.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/slurp.h"
#include "look.h"

#define CONNECT_MS 5000L
#define WHOLE_MS 10000L

struct top_fetch {
	CURL *curl;
	struct curl_slist *headers;
	char *body;
	size_t len;
	char error[CURL_ERROR_SIZE];
};

static size_t on_body(char *bytes, size_t size, size_t count, void *arg)
{
	struct top_fetch *f = arg;
	size_t len = size * count;

	if (f->len + len > TOP_FETCH_MAX)
		return 0;
	memcpy(f->body + f->len, bytes, len);
	f->len += len;
	return len;
}

/* The token in a header; never on a command line or in a log. */
static bool set_token(struct top_fetch *f, const char *file)
{
	const char *env = getenv("GPUSTARVE_TOKEN");
	char header[1100], *text = NULL;
	size_t len = 0;
	int err = 0;

	if (file)
		err = view_slurp(file, &text, &len);
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
	if (snprintf(header, sizeof(header), "Authorization: Bearer %s", text) <
	    (int)sizeof(header))
		f->headers = curl_slist_append(NULL, header);
	explicit_bzero(header, sizeof(header));
	explicit_bzero(text, strlen(text));
	free(text);
	return true;
}

static void set_up(struct top_fetch *f, const char *ca_file)
{
	curl_easy_setopt(f->curl, CURLOPT_ERRORBUFFER, f->error);
	curl_easy_setopt(f->curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(f->curl, CURLOPT_WRITEDATA, f);
	curl_easy_setopt(f->curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(f->curl, CURLOPT_TIMEOUT_MS, WHOLE_MS);
	curl_easy_setopt(f->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(f->curl, CURLOPT_FOLLOWLOCATION, 0L); /* the token goes nowhere else */
	curl_easy_setopt(f->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(f->curl, CURLOPT_HTTPHEADER, f->headers);
	if (ca_file)
		curl_easy_setopt(f->curl, CURLOPT_CAINFO, ca_file);
}

struct top_fetch *top_fetch_new(const char *token_file, const char *ca_file)
{
	struct top_fetch *f = calloc(1, sizeof(*f));

	if (f) {
		f->body = malloc(TOP_FETCH_MAX + 1);
		f->curl = curl_easy_init();
	}
	if (!f || !f->body || !f->curl) {
		view_error("top: out of memory; end some processes");
		top_fetch_free(f);
		return NULL;
	}
	if (!set_token(f, token_file)) {
		top_fetch_free(f);
		return NULL;
	}
	set_up(f, ca_file);
	return f;
}

void top_fetch_free(struct top_fetch *f)
{
	if (!f)
		return;
	if (f->curl)
		curl_easy_cleanup(f->curl);
	curl_slist_free_all(f->headers);
	free(f->body);
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
		return "it knows no such run that goes on";
	default:
		return "it did not answer what was asked";
	}
}

bool top_fetch_get(struct top_fetch *f, const char *url, const char **text, size_t *len,
		   char why[256])
{
	long status = 0;
	CURLcode code;

	f->len = 0;
	f->error[0] = '\0';
	curl_easy_setopt(f->curl, CURLOPT_URL, url);
	code = curl_easy_perform(f->curl);
	curl_easy_getinfo(f->curl, CURLINFO_RESPONSE_CODE, &status);
	if (code != CURLE_OK) {
		top_tame(why, 256, f->error[0] ? f->error : curl_easy_strerror(code));
		return false;
	}
	if (status != 200) {
		snprintf(why, 256, "HTTP %ld: %s", status, meaning(status));
		return false;
	}
	f->body[f->len] = '\0';
	*text = f->body;
	*len = f->len;
	return true;
}
