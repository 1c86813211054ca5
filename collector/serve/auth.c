/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials to teams. No secret is copied, logged or answered.
 */
#include "auth.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <gnutls/gnutls.h>
#include "core/clock.h"
#include "core/log.h"
#include "daemon.h"

#define LINES 10

/* Ten lines at once, then one a second: nobody fills the log. */
static bool may_say(struct coll_http *h)
{
	int64_t now = coll_now_ns() / COLL_SECOND_NS;
	int64_t more = now - h->logged_s;

	h->logged_s = now;
	h->lines = more > LINES - (int64_t)h->lines ? LINES : h->lines + (unsigned int)more;
	if (!h->lines)
		return false;
	h->lines--;
	return true;
}

void coll_auth_log(struct coll_http_request *r, const char *why)
{
	struct coll_http *h = r->http;
	char more[48] = "";

	r->count->http_refused++;
	if (!may_say(h)) {
		h->unlogged++;
		return;
	}
	if (h->unlogged)
		snprintf(more, sizeof(more), " (and %llu more before)",
			 (unsigned long long)h->unlogged);
	h->unlogged = 0;
	coll_log("%s: %s %s refused: %s%s", r->peer, r->route->method, r->route->pattern, why,
		 more);
}

static bool refuse(struct coll_http_request *r, unsigned int status, const char *why)
{
	coll_auth_log(r, why);
	if (status == 401)
		coll_http_header(r, "WWW-Authenticate",
				 r->route->scope == COLL_SCOPE_READ
					 ? "Basic realm=\"gpustarve: the token is the password\""
					 : "Bearer realm=\"gpustarve\"");
	coll_http_text(r, status, "%s\n", why);
	return false;
}

static const struct coll_token *by_basic(struct coll_http_request *r)
{
	const struct coll_token *t = NULL;
	char *password = NULL, *user;

	user = MHD_basic_auth_get_username_password(r->connection, &password);
	if (password) {
		t = coll_tokens_find(&r->http->tokens, password);
		gnutls_memset(password, 0, strlen(password));
	}
	MHD_free(user);
	MHD_free(password);
	return t;
}

static const struct coll_token *by_certificate(struct coll_http_request *r)
{
	uint8_t hash[COLL_SHA256_BYTES];

	if (!coll_tls_peer_hash(r->connection, hash))
		return NULL;
	return coll_tokens_by_hash(&r->http->tokens, COLL_CREDENTIAL_CERT, hash);
}

static bool with_tokens(struct coll_http_request *r)
{
	const char *given = coll_http_asked(r, "Authorization");
	const struct coll_token *t = NULL;
	bool basic = given && !strncasecmp(given, "Basic ", 6);

	if (given && !strncasecmp(given, "Bearer ", 7))
		t = coll_tokens_find(&r->http->tokens, given + 7 + strspn(given + 7, " "));
	else if (basic)
		t = by_basic(r);
	else if (!given)
		t = by_certificate(r);
	if (!t)
		return refuse(r, 401, given ? "wrong token" : "no token");
	/* A browser sends Basic by itself, wherever a page points it. */
	if ((r->route->scope & ~t->scopes) || (basic && (r->route->scope & COLL_SCOPE_WRITE)))
		return refuse(r, 403, "this token may not do that");
	r->team = coll_team_get(&r->http->teams, t->team);
	if (!r->team) {
		coll_http_text(r, 503, "cannot store\n");
		return false;
	}
	r->scopes = t->scopes;
	return true;
}

/* "localhost", "127.x.x.x" or "[::1]", with or without a port. */
static bool of_this_machine(const char *host)
{
	size_t len;

	if (*host == '[')
		return !strncmp(host, "[::1]", 5) && (host[5] == ':' || !host[5]);
	len = strcspn(host, ":");
	if (len == 9 && !strncasecmp(host, "localhost", 9))
		return true;
	return !strncmp(host, "127.", 4) && strspn(host, "0123456789.") == len;
}

static bool without_tokens(struct coll_http_request *r)
{
	const char *host = coll_http_asked(r, "Host");

	if (host && !of_this_machine(host))
		return refuse(r, 403, "asked under another name than localhost");
	if ((r->route->scope & COLL_SCOPE_WRITE) && coll_http_asked(r, "Origin"))
		return refuse(r, 403, "a web page may not write");
	r->team = r->http->open_team;
	r->scopes = COLL_SCOPE_READ | COLL_SCOPE_WRITE;
	return true;
}

bool coll_auth(struct coll_http_request *r)
{
	if (!r->route->scope)
		return true;
	if (!(r->http->open_team ? without_tokens(r) : with_tokens(r)))
		return false;
	coll_http_is_known(r->http, r);
	return true;
}
