/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One easy handle in one multi handle. What libcurl wants to wait for are sources of the loop.
 */
#include "link.h"

#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "base/cafile.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/log.h"
#include "gather.h"
#include "upstream_options.h"

#define URL_BYTES 1200
#define TOKEN_BYTES 550
#define TOKEN_FILE_MAX 4096
#define NS_PER_MS 1000000L

struct wait {
	struct coll_source source; /* first */
	struct coll_link *link;
	struct wait *next;
};

struct coll_link {
	struct coll_source timer; /* first */
	struct coll_loop *loop;
	const struct coll_upstream_options *opts;
	const char *node;
	CURLM *multi;
	CURL *easy;
	struct curl_slist *headers;
	struct wait *waits;
	struct coll_request request;
	bool busy;
	struct wire_buf answer;
	struct coll_answer a;
	char trouble[CURL_ERROR_SIZE], told[CURL_ERROR_SIZE + 64];
};

/* With what may help where the certificate is of an authority that nobody here knows. */
static const char *tell(struct coll_link *l, CURLcode code)
{
	const char *why = l->trouble[0] ? l->trouble : curl_easy_strerror(code);

	if ((code != CURLE_PEER_FAILED_VERIFICATION || strstr(why, "target host")) &&
	    code != CURLE_SSL_CACERT_BADFILE)
		return why;
	snprintf(l->told, sizeof(l->told), "%s; --upstream-ca FILE names its authority", why);
	return l->told;
}

static void finish(struct coll_link *l, CURLcode code)
{
	struct coll_request r = l->request;
	long connects = 1;

	l->a.got_ns = coll_clock_ns(CLOCK_REALTIME);
	curl_easy_getinfo(l->easy, CURLINFO_RESPONSE_CODE, &l->a.status);
	curl_easy_getinfo(l->easy, CURLINFO_NUM_CONNECTS, &connects);
	l->a.reused = !connects;
	l->a.trouble = NULL;
	if (code != CURLE_OK)
		l->a.trouble = tell(l, code);
	if (wire_buf_append(&l->answer, "", 1))
		l->a.trouble = "out of memory";
	l->a.bytes = l->answer.data;
	l->a.len = l->answer.len ? l->answer.len - 1 : 0;
	curl_multi_remove_handle(l->multi, l->easy);
	l->busy = false;
	r.done(r.owner, &l->a);
}

static void take_finished(struct coll_link *l)
{
	CURLMsg *m;
	int left;

	while ((m = curl_multi_info_read(l->multi, &left)))
		if (m->msg == CURLMSG_DONE) {
			finish(l, m->data.result);
			return; /* another request may be going on already */
		}
}

static void on_socket(struct coll_source *s, uint32_t events)
{
	struct wait *w = (struct wait *)s;
	struct coll_link *l = w->link;
	int bits = 0, running;

	if (events & (EPOLLIN | EPOLLHUP))
		bits |= CURL_CSELECT_IN;
	if (events & EPOLLOUT)
		bits |= CURL_CSELECT_OUT;
	if (events & EPOLLERR)
		bits |= CURL_CSELECT_ERR;
	curl_multi_socket_action(l->multi, s->fd, bits, &running);
	take_finished(l);
}

static void on_timer(struct coll_source *s, uint32_t events)
{
	struct coll_link *l = (struct coll_link *)s;
	uint64_t ticks;
	int running;

	(void)events;
	if (read(s->fd, &ticks, sizeof(ticks)) < 0)
		return;
	curl_multi_socket_action(l->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	take_finished(l);
}

static int set_timer(CURLM *multi, long ms, void *own)
{
	struct coll_link *l = own;
	struct itimerspec t = { .it_value.tv_sec = 0 };

	(void)multi;
	if (ms >= 0) {
		t.it_value.tv_sec = ms / 1000;
		t.it_value.tv_nsec = ms % 1000 * NS_PER_MS;
	}
	if (!ms) /* at once, but not from in here */
		t.it_value.tv_nsec = 1;
	return timerfd_settime(l->timer.fd, 0, &t, NULL) ? -1 : 0;
}

static void remove_wait(struct coll_link *l, struct wait *w)
{
	struct wait **p = &l->waits;

	while (*p != w)
		p = &(*p)->next;
	*p = w->next;
	coll_loop_remove(l->loop, &w->source);
	free(w);
}

static int add_wait(struct coll_link *l, curl_socket_t fd, uint32_t events)
{
	struct wait *w = calloc(1, sizeof(*w));

	if (!w)
		return -1;
	w->source = (struct coll_source){ .fd = fd, .ready = on_socket };
	w->link = l;
	if (coll_loop_add(l->loop, &w->source, events)) {
		free(w);
		return -1;
	}
	w->next = l->waits;
	l->waits = w;
	curl_multi_assign(l->multi, fd, w);
	return 0;
}

static int set_socket(CURL *easy, curl_socket_t fd, int what, void *own, void *socket)
{
	struct coll_link *l = own;
	uint32_t events = 0;

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (socket)
			remove_wait(l, socket);
		return 0;
	}
	if (what & CURL_POLL_IN)
		events |= EPOLLIN;
	if (what & CURL_POLL_OUT)
		events |= EPOLLOUT;
	if (!socket)
		return add_wait(l, fd, events);
	return coll_loop_change(l->loop, &((struct wait *)socket)->source, events) ? -1 : 0;
}

static size_t on_bytes(char *bytes, size_t one, size_t len, void *own)
{
	struct coll_link *l = own;

	(void)one;
	return wire_buf_append(&l->answer, bytes, len) ? 0 : len;
}

/* The number behind @name, if this line is that header; else @before. */
static int64_t number_of(const char *line, size_t len, const char *name, int64_t before)
{
	size_t n = strlen(name);
	int64_t value = 0;

	if (len <= n || strncasecmp(line, name, n))
		return before;
	while (n < len && line[n] == ' ')
		n++;
	for (; n < len && line[n] >= '0' && line[n] <= '9' && value < INT32_MAX; n++)
		value = value * 10 + line[n] - '0';
	return value;
}

/*
 * What stands behind @name, without blanks about it, and its length; NULL: this line is another
 * header.
 */
static const char *text_of(const char *line, size_t *len, const char *name)
{
	size_t n = strlen(name);

	if (*len <= n || strncasecmp(line, name, n))
		return NULL;
	while (n < *len && line[n] == ' ')
		n++;
	while (*len > n && strchr("\r\n ", line[*len - 1]))
		--*len;
	*len -= n;
	return line + n;
}

static void read_tag(struct coll_answer *a, const char *line, size_t len)
{
	const char *tag = text_of(line, &len, "ETag:");

	if (tag && coll_side_tag_ok(tag, len))
		snprintf(a->tag, sizeof(a->tag), "%.*s", (int)len, tag);
}

static void read_epoch(struct coll_answer *a, const char *line, size_t len)
{
	const char *epoch = text_of(line, &len, COLL_EPOCH_HEADER ":");

	if (epoch && len < sizeof(a->epoch))
		snprintf(a->epoch, sizeof(a->epoch), "%.*s", (int)len, epoch);
}

static void read_gather(struct coll_answer *a, const char *line, size_t len)
{
	const char *text = text_of(line, &len, COLL_GATHER_HEADER ":");
	char copy[64];
	uint64_t bytes;
	int64_t s;

	if (!text || len >= sizeof(copy))
		return;
	snprintf(copy, sizeof(copy), "%.*s", (int)len, text);
	if (sscanf(copy, "%" SCNu64 " %" SCNd64, &bytes, &s) != 2 || !bytes || s < 0)
		return;
	a->gather_bytes = bytes < COLL_GATHER_BYTES ? bytes : COLL_GATHER_BYTES;
	a->gather_s = s < COLL_GATHER_MAX_S ? s : COLL_GATHER_MAX_S;
}

static size_t on_header(char *line, size_t one, size_t len, void *own)
{
	struct coll_link *l = own;

	(void)one;
	if (len > 5 && !strncmp(line, "HTTP/", 5)) { /* what came before was of a proxy, or 1xx */
		l->a.retry_after_s = 0;
		l->a.stored = -1;
		l->a.damaged = false;
		l->a.tag[0] = '\0';
		l->a.epoch[0] = '\0';
		l->a.gather_bytes = 0;
	}
	read_gather(&l->a, line, len);
	read_epoch(&l->a, line, len);
	read_tag(&l->a, line, len);
	l->a.retry_after_s = number_of(line, len, "Retry-After:", l->a.retry_after_s);
	l->a.stored = number_of(line, len, "Gpustarve-Stored:", l->a.stored);
	l->a.damaged = number_of(line, len, "Gpustarve-Damaged:", l->a.damaged) != 0;
	return len;
}

static bool is_https(const char *url)
{
	return !strncasecmp(url, "https://", 8);
}

static bool of_this_machine(const char *url)
{
	const char *host = url + strlen("http://");
	size_t len = strcspn(host, ":/");

	if (!strncmp(host, "[::1]", 5))
		return true;
	return (len == 9 && !strncasecmp(host, "localhost", 9)) ||
	       (!strncmp(host, "127.", 4) && strspn(host, "0123456789.") == len);
}

bool coll_link_url_ok(const struct coll_upstream_options *o)
{
	const char *url = o->url, *why = NULL;

	if (!is_https(url) && strncasecmp(url, "http://", 7))
		why = "give https://HOST:PORT";
	else if (strlen(url) > URL_BYTES / 2 || strpbrk(url, "@?# \t\r\n"))
		why = "give https://HOST:PORT and nothing more";
	else if (!is_https(url) && !of_this_machine(url) && !o->insecure_http)
		why = "http beyond this machine shows tokens and traces to the network; use "
		      "https, or say --insecure-http";
	if (why)
		coll_log("--upstream %s: %s", url, why);
	return !why;
}

static void set_once(struct coll_link *l)
{
	const struct coll_upstream_options *o = l->opts;
	const char *ca = o->ca ? o->ca : base_ca_file();
	CURL *e = l->easy;

	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, is_https(o->url) ? "https" : "http");
	curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(e, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_ERRORBUFFER, l->trouble);
	curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT, (long)COLL_LINK_CONNECT_S);
	curl_easy_setopt(e, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(e, CURLOPT_LOW_SPEED_TIME, (long)COLL_LINK_SILENT_S);
	curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(e, CURLOPT_TCP_KEEPIDLE, 20L);
	curl_easy_setopt(e, CURLOPT_TCP_KEEPINTVL, 10L);
	curl_easy_setopt(e, CURLOPT_UPLOAD_BUFFERSIZE, 256L << 10);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_bytes);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, l);
	curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(e, CURLOPT_HEADERDATA, l);
	if (!is_https(o->url))
		curl_easy_setopt(e, CURLOPT_NOPROXY, "*");
	if (ca)
		curl_easy_setopt(e, CURLOPT_CAINFO, ca);
	if (o->cert)
		curl_easy_setopt(e, CURLOPT_SSLCERT, o->cert);
	if (o->key)
		curl_easy_setopt(e, CURLOPT_SSLKEY, o->key);
}

struct coll_link *coll_link_new(struct coll_loop *loop, const struct coll_upstream_options *o,
				const char *node)
{
	struct coll_link *l = calloc(1, sizeof(*l));

	if (!l || curl_global_init(CURL_GLOBAL_DEFAULT)) {
		free(l);
		return NULL;
	}
	l->loop = loop;
	l->opts = o;
	l->node = node;
	l->answer.cap = COLL_LINK_ANSWER_MAX;
	l->timer.ready = on_timer;
	l->timer.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	l->multi = curl_multi_init();
	l->easy = curl_easy_init();
	if (l->timer.fd < 0 || !l->multi || !l->easy || coll_loop_add(loop, &l->timer, EPOLLIN)) {
		coll_link_free(l);
		return NULL;
	}
	curl_multi_setopt(l->multi, CURLMOPT_SOCKETFUNCTION, set_socket);
	curl_multi_setopt(l->multi, CURLMOPT_SOCKETDATA, l);
	curl_multi_setopt(l->multi, CURLMOPT_TIMERFUNCTION, set_timer);
	curl_multi_setopt(l->multi, CURLMOPT_TIMERDATA, l);
	set_once(l);
	return l;
}

static int add_line(struct curl_slist **list, const char *line)
{
	struct curl_slist *longer = curl_slist_append(*list, line);

	if (!longer)
		return -ENOMEM;
	*list = longer;
	return 0;
}

static int add_header(struct curl_slist **list, const char *name, const char *value)
{
	char line[1024];
	int err;

	snprintf(line, sizeof(line), "%s: %s", name, value);
	err = add_line(list, line);
	explicit_bzero(line, sizeof(line));
	return err;
}

/* "Bearer TOKEN"; whoever calls it wipes it. */
static int read_token(const char *path, char value[TOKEN_BYTES + 8])
{
	uint8_t *text;
	size_t len;
	int err = coll_file_read_linked(path, TOKEN_FILE_MAX, &text, &len);

	if (err)
		return err;
	len = strcspn((char *)text, " \t\r\n");
	err = len && len < TOKEN_BYTES ? 0 : -EINVAL;
	snprintf(value, TOKEN_BYTES + 8, "Bearer %.*s", (int)len, err ? "" : (char *)text);
	explicit_bzero(text, len);
	free(text);
	return err;
}

bool coll_link_files_ok(const struct coll_upstream_options *o)
{
	const char *const file[][2] = { { "ca", o->ca }, { "cert", o->cert }, { "key", o->key } };
	char value[TOKEN_BYTES + 8];
	int err = o->token_file ? read_token(o->token_file, value) : 0;
	size_t i;

	explicit_bzero(value, sizeof(value));
	if (err)
		coll_log("--upstream-token-file %s: %s", o->token_file,
			 err == -EINVAL ? "no token in it, or one that is too long"
					: strerror(-err));
	for (i = 0; i < 3 && !err; i++) {
		err = file[i][1] && access(file[i][1], R_OK) ? -errno : 0;
		if (err)
			coll_log("--upstream-%s %s: %s", file[i][0], file[i][1], strerror(-err));
	}
	return !err;
}

/* The token is read for each request: whoever changes the file need not tell us. */
static int add_token(struct coll_link *l)
{
	char value[TOKEN_BYTES + 8];
	int err;

	if (!l->opts->token_file)
		return 0;
	err = read_token(l->opts->token_file, value);
	if (!err)
		err = add_header(&l->headers, "Authorization", value);
	explicit_bzero(value, sizeof(value));
	return err;
}

static int set_headers(struct coll_link *l, const struct coll_request *r)
{
	int err;

	curl_slist_free_all(l->headers);
	l->headers = NULL;
	err = add_token(l);
	if (err) {
		coll_log("--upstream-token-file %s: %s", l->opts->token_file, strerror(-err));
		return err;
	}
	err = add_header(&l->headers, "Gpustarve-Node", l->node);
	if (!err && r->body)
		err = add_header(&l->headers, "Content-Type", "application/octet-stream");
	if (!err && r->body)
		err = add_header(&l->headers, "Expect", r->ask_first ? "100-continue" : "");
	for (const char *const *line = r->headers; !err && line && *line; line++)
		err = add_line(&l->headers, *line);
	return err;
}

int coll_link_send(struct coll_link *l, const struct coll_request *r)
{
	char url[URL_BYTES];
	size_t base = strlen(l->opts->url);
	int err = set_headers(l, r);

	if (err)
		return err;
	while (base && l->opts->url[base - 1] == '/')
		base--;
	if (snprintf(url, sizeof(url), "%.*s%s", (int)base, l->opts->url, r->path) >=
	    (int)sizeof(url))
		return -ENAMETOOLONG;
	l->request = *r;
	l->answer.len = 0;
	l->trouble[0] = '\0';
	l->a = (struct coll_answer){ .stored = -1, .sent_ns = coll_clock_ns(CLOCK_REALTIME) };
	curl_easy_setopt(l->easy, CURLOPT_URL, url);
	curl_easy_setopt(l->easy, CURLOPT_HTTPHEADER, l->headers);
	if (r->body) {
		curl_easy_setopt(l->easy, CURLOPT_POST, 1L);
		curl_easy_setopt(l->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->len);
		curl_easy_setopt(l->easy, CURLOPT_POSTFIELDS, r->body);
	} else {
		curl_easy_setopt(l->easy, CURLOPT_HTTPGET, 1L);
	}
	curl_easy_setopt(l->easy, CURLOPT_CUSTOMREQUEST, r->method);
	if (curl_multi_add_handle(l->multi, l->easy))
		return -EIO;
	l->busy = true;
	return 0;
}

bool coll_link_busy(const struct coll_link *l)
{
	return l->busy;
}

void coll_link_free(struct coll_link *l)
{
	if (!l)
		return;
	if (l->multi && l->easy && l->busy)
		curl_multi_remove_handle(l->multi, l->easy);
	if (l->easy)
		curl_easy_cleanup(l->easy);
	if (l->multi)
		curl_multi_cleanup(l->multi);
	while (l->waits)
		remove_wait(l, l->waits);
	if (l->timer.fd >= 0) {
		coll_loop_remove(l->loop, &l->timer);
		close(l->timer.fd);
	}
	curl_slist_free_all(l->headers);
	wire_buf_fini(&l->answer);
	free(l);
	curl_global_cleanup();
}
