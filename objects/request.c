/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcurl signs all headers that it is given, those too that it then does not send ("Expect:");
 * of bodies it signs what x-amz-content-sha256 says, which has to stand there (without, 7.88 sends
 * none and stores refuse it).
 */
#include "request.h"

#include <curl/curl.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>
#include "base/cafile.h"

#define CONNECT_S 10L
#define SILENT_S 30L
#define SILENT_BYTES 200L /* a second; fewer are silence */
#define WHOLE_NS 60000000000 /* since the first try: then there is no other */
#define ANSWER_MAX (4u << 20) /* of a list, or of an error */
#define FIRST_PAUSE_NS 100000000L
#define SHA256_BYTES 32u
#define STATUS_SLOW 429
#define STATUS_CONFLICT 409 /* somebody else puts the same just now */
#define STATUS_FAULT 500
#define STATUS_NOT_KNOWN 501 /* it will not be known the next time either */

struct objects_line {
	const struct objects_account *account;
	CURL *easy;
	char why[CURL_ERROR_SIZE];
	const struct objects_request *request;
	struct objects_answer *answer;
	struct curl_slist *headers;
	bool too_long;
};

static bool is_success(long status)
{
	return status >= 200 && status < 300;
}

/* Where bytes go is known with the first of them: the status has come before. */
static size_t on_bytes(char *bytes, size_t one, size_t len, void *own)
{
	struct objects_line *l = own;
	struct objects_answer *a = l->answer;
	long status = 0;

	(void)one;
	curl_easy_getinfo(l->easy, CURLINFO_RESPONSE_CODE, &status);
	a->bytes += len;
	if (l->request->to && is_success(status)) {
		l->too_long = len > l->request->room - a->len;
		if (!l->too_long) {
			memcpy(l->request->to + a->len, bytes, len);
			a->len += len;
		}
		return l->too_long ? 0 : len;
	}
	l->too_long = len > ANSWER_MAX - a->text.len;
	return l->too_long || wire_buf_append(&a->text, bytes, len) ? 0 : len;
}

/* The value of a header's line if it is of that name, which has its colon; NULL: it is not. */
static const char *value_of(const char *line, size_t len, const char *name, size_t *value_len)
{
	size_t at = strlen(name);

	if (len <= at || strncasecmp(line, name, at) != 0)
		return NULL;
	while (at < len && line[at] == ' ')
		at++;
	*value_len = len - at;
	return line + at;
}

static void take_region(struct objects_answer *a, const char *value, size_t len)
{
	size_t n;

	for (n = 0; n < len && n < sizeof(a->region) - 1; n++)
		if (value[n] < '-' || value[n] > 'z')
			break;
	memcpy(a->region, value, n);
	a->region[n] = '\0';
}

static void take_date(struct objects_answer *a, const char *value, size_t len)
{
	char text[64];

	snprintf(text, sizeof(text), "%.*s", (int)(len < 63 ? len : 63), value);
	a->now_s = curl_getdate(text, NULL);
	if (a->now_s < 0)
		a->now_s = 0;
}

static size_t on_header(char *line, size_t one, size_t len, void *own)
{
	struct objects_line *l = own;
	const char *value;
	size_t n;

	(void)one;
	if ((value = value_of(line, len, "x-amz-bucket-region:", &n)))
		take_region(l->answer, value, n);
	else if ((value = value_of(line, len, "date:", &n)))
		take_date(l->answer, value, n);
	return len;
}

/* What holds for every request. */
static CURLcode set_up(struct objects_line *l)
{
	const char *ca = l->account->ca_file ? l->account->ca_file : base_ca_file();
	char signing[128];
	CURLcode err;

	snprintf(signing, sizeof(signing), "aws:amz:%.64s:s3", l->account->region);
	err = curl_easy_setopt(l->easy, CURLOPT_AWS_SIGV4, signing);
	if (!err)
		err = curl_easy_setopt(l->easy, CURLOPT_USERNAME, l->account->key_id);
	if (!err)
		err = curl_easy_setopt(l->easy, CURLOPT_PASSWORD, l->account->secret);
	if (!err)
		err = curl_easy_setopt(l->easy, CURLOPT_PROTOCOLS_STR, "http,https");
	if (!err)
		err = curl_easy_setopt(l->easy, CURLOPT_FOLLOWLOCATION, 0L);
	if (!err && ca)
		err = curl_easy_setopt(l->easy, CURLOPT_CAINFO, ca);
	if (!err)
		err = curl_easy_setopt(l->easy, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(l->easy, CURLOPT_WRITEFUNCTION, on_bytes);
	curl_easy_setopt(l->easy, CURLOPT_WRITEDATA, l);
	curl_easy_setopt(l->easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(l->easy, CURLOPT_HEADERDATA, l);
	curl_easy_setopt(l->easy, CURLOPT_ERRORBUFFER, l->why);
	curl_easy_setopt(l->easy, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
	curl_easy_setopt(l->easy, CURLOPT_LOW_SPEED_LIMIT, SILENT_BYTES);
	curl_easy_setopt(l->easy, CURLOPT_LOW_SPEED_TIME, SILENT_S);
	curl_easy_setopt(l->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(l->easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(l->easy, CURLOPT_USERAGENT, "gpustarve/" GPUSTARVE_VERSION);
	return err;
}

struct objects_line *objects_line_new(const struct objects_account *a)
{
	struct objects_line *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->account = a;
	l->easy = curl_easy_init();
	if (l->easy && !set_up(l))
		return l;
	objects_line_free(l);
	return NULL;
}

void objects_line_free(struct objects_line *l)
{
	if (!l)
		return;
	curl_easy_cleanup(l->easy);
	free(l);
}

/* False: no memory. */
static bool add_header(struct curl_slist **list, const char *line)
{
	struct curl_slist *longer = curl_slist_append(*list, line);

	if (longer)
		*list = longer;
	return longer;
}

static bool add_hash(struct curl_slist **list, const void *body, size_t len)
{
	uint8_t hash[SHA256_BYTES];
	char line[96] = "x-amz-content-sha256: ";
	size_t i, at = strlen(line);

	if (gnutls_hash_fast(GNUTLS_DIG_SHA256, body ? body : "", len, hash))
		return false;
	for (i = 0; i < sizeof(hash); i++)
		snprintf(line + at + 2 * i, sizeof(line) - at - 2 * i, "%02x", hash[i]);
	return add_header(list, line);
}

static bool add_session(struct curl_slist **list, const char *session)
{
	char *line;
	bool ok;

	if (!session)
		return true;
	if (asprintf(&line, "x-amz-security-token: %s", session) < 0)
		return false;
	ok = add_header(list, line);
	explicit_bzero(line, strlen(line));
	free(line);
	return ok;
}

static int make_headers(struct objects_line *l, const struct objects_request *r)
{
	const char *const *line = r->headers;
	bool ok = add_hash(&l->headers, r->body, r->len) &&
		  add_session(&l->headers, l->account->session);

	for (; ok && line && *line; line++)
		ok = add_header(&l->headers, *line);
	return ok ? 0 : -ENOMEM;
}

static void set_request(struct objects_line *l, const struct objects_request *r)
{
	bool head = !strcmp(r->method, "HEAD"), put = !strcmp(r->method, "PUT");

	curl_easy_setopt(l->easy, CURLOPT_URL, r->url);
	curl_easy_setopt(l->easy, CURLOPT_HTTPHEADER, l->headers);
	curl_easy_setopt(l->easy, CURLOPT_HTTPGET, 1L);
	curl_easy_setopt(l->easy, CURLOPT_NOBODY, head ? 1L : 0L);
	if (put) {
		curl_easy_setopt(l->easy, CURLOPT_POST, 1L);
		curl_easy_setopt(l->easy, CURLOPT_POSTFIELDS, r->body ? r->body : "");
		curl_easy_setopt(l->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->len);
	}
	curl_easy_setopt(l->easy, CURLOPT_CUSTOMREQUEST, head ? NULL : r->method);
}

/* Half of the pause to one and a half of it, so that many that were refused together do not come
 * together. */
static void pause_before(unsigned int again)
{
	long ns = FIRST_PAUSE_NS << (again - 1);
	uint32_t chance = 0;
	struct timespec t;

	if (getrandom(&chance, sizeof(chance), GRND_NONBLOCK) < 0)
		chance = 0;
	ns = ns / 2 + (long)((uint64_t)ns * chance >> 32);
	t.tv_sec = ns / 1000000000L;
	t.tv_nsec = ns % 1000000000L;
	nanosleep(&t, NULL);
}

static bool may_pass(CURLcode code, long status)
{
	if (code == CURLE_OK)
		return (status >= STATUS_FAULT && status != STATUS_NOT_KNOWN) ||
		       status == STATUS_SLOW || status == STATUS_CONFLICT;
	return code != CURLE_OUT_OF_MEMORY && code != CURLE_URL_MALFORMAT &&
	       code != CURLE_PEER_FAILED_VERIFICATION && code != CURLE_SSL_CACERT_BADFILE;
}

static CURLcode try_once(struct objects_line *l)
{
	struct objects_answer *a = l->answer;
	curl_off_t whole = -1;
	CURLcode code;

	a->status = 0;
	a->now_s = 0;
	a->len = a->text.len = 0;
	l->why[0] = '\0';
	code = curl_easy_perform(l->easy);
	curl_easy_getinfo(l->easy, CURLINFO_RESPONSE_CODE, &a->status);
	curl_easy_getinfo(l->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &whole);
	a->whole = whole > 0 ? (uint64_t)whole : 0;
	return code;
}

/* Of an authority that nobody here knows, or whose file is none; not of another host's name. */
static const char *advice(const char *why, CURLcode code)
{
	if ((code == CURLE_PEER_FAILED_VERIFICATION && !strstr(why, "target host")) ||
	    code == CURLE_SSL_CACERT_BADFILE)
		return "; AWS_CA_BUNDLE=FILE names the certificates of authorities to trust";
	return "";
}

static void tell(struct objects_trouble *t, const struct objects_line *l, CURLcode code)
{
	if (code == CURLE_OK)
		snprintf(t->why, sizeof(t->why), "it answered %ld, %u times", l->answer->status,
			 l->answer->tries);
	else
		snprintf(t->why, sizeof(t->why), "%s%s",
			 l->why[0] ? l->why : curl_easy_strerror(code), advice(l->why, code));
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static int try_all(struct objects_line *l, struct objects_trouble *t)
{
	int64_t until_ns = now_ns() + WHOLE_NS;
	struct objects_answer *a = l->answer;
	CURLcode code;

	for (a->tries = 1;; a->tries++) {
		code = try_once(l);
		if (l->too_long || !may_pass(code, a->status) || a->tries == OBJECTS_TRIES ||
		    now_ns() > until_ns)
			break;
		pause_before(a->tries);
	}
	if (code == CURLE_OK && !may_pass(code, a->status))
		return 0;
	if (l->too_long)
		snprintf(t->why, sizeof(t->why), "its answer is longer than what was asked for");
	else
		tell(t, l, code);
	if (code == CURLE_OUT_OF_MEMORY)
		return -ENOMEM;
	return l->too_long ? -EIO : -ETIMEDOUT;
}

int objects_request(struct objects_line *l, const struct objects_request *r,
		    struct objects_answer *answer, struct objects_trouble *t)
{
	int err;

	l->request = r;
	l->answer = answer;
	l->too_long = false;
	err = make_headers(l, r);
	if (!err) {
		set_request(l, r);
		err = try_all(l, t);
	}
	curl_easy_setopt(l->easy, CURLOPT_HTTPHEADER, NULL);
	curl_slist_free_all(l->headers);
	l->headers = NULL;
	return err;
}
