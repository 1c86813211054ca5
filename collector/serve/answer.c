/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers, at once or later.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "daemon.h"

static const struct {
	const char *name, *value;
} always[] = {
	{ "Cache-Control", "no-store" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "Referrer-Policy", "no-referrer" },
	{ "X-Frame-Options", "DENY" },
	{ "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'" },
};

static bool is_set(const struct coll_http_request *r, const char *name)
{
	unsigned int i;

	for (i = 0; i < r->headers; i++)
		if (!strcmp(r->header[i].name, name))
			return true;
	return false;
}

static void add_headers(struct coll_http_request *r, struct MHD_Response *response,
			const char *type)
{
	unsigned int i;

	for (i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		if (!is_set(r, always[i].name))
			MHD_add_response_header(response, always[i].name, always[i].value);
	for (i = 0; i < r->headers; i++)
		MHD_add_response_header(response, r->header[i].name, r->header[i].value);
	if (type)
		MHD_add_response_header(response, "Content-Type", type);
}

/* @response is taken; NULL: no memory, the connection is closed. */
static void set_response(struct coll_http_request *r, unsigned int status, const char *type,
			 struct MHD_Response *response)
{
	if (response)
		add_headers(r, response, type);
	r->status = status;
	r->response = response;
	r->answered = true;
	r->count->http_failed += status >= 500;
	if (!r->suspended)
		return;
	r->suspended = false;
	r->http->suspended--;
	coll_http_keep(r, false);
	r->http->resumed = true;
	MHD_resume_connection(r->connection);
}

void coll_http_answer(struct coll_http_request *r, unsigned int status, const char *type,
		      const void *bytes, size_t len)
{
	if (!r->answered)
		set_response(r, status, type,
			     MHD_create_response_from_buffer(len, (void *)(uintptr_t)bytes,
							     MHD_RESPMEM_MUST_COPY));
}

void coll_http_answer_taking(struct coll_http_request *r, unsigned int status, const char *type,
			     void *bytes, size_t len)
{
	struct MHD_Response *response = NULL;

	if (!r->answered)
		response = MHD_create_response_from_buffer(len, bytes, MHD_RESPMEM_MUST_FREE);
	if (!response)
		free(bytes);
	if (!r->answered)
		set_response(r, status, type, response);
}

void coll_http_answer_written(struct coll_http_request *r, const char *type,
			      void (*write)(FILE *f, struct coll_http_request *r, const void *arg),
			      const void *arg)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (f)
		write(f, r, arg);
	if (f && !fclose(f)) {
		coll_http_answer_taking(r, 200, type, text, len);
		return;
	}
	free(text);
	coll_http_text(r, 503, "out of memory\n");
}

void coll_http_answer_fd(struct coll_http_request *r, unsigned int status, const char *type, int fd,
			 uint64_t size)
{
	struct MHD_Response *response = NULL;

	if (!r->answered)
		response = MHD_create_response_from_fd64(size, fd);
	if (!response)
		close(fd);
	if (!r->answered)
		set_response(r, status, type, response);
}

void coll_http_text(struct coll_http_request *r, unsigned int status, const char *fmt, ...)
{
	char text[1024];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (n < 0)
		n = 0;
	if ((size_t)n >= sizeof(text))
		n = sizeof(text) - 1;
	coll_http_answer(r, status, "text/plain; charset=utf-8", text, (size_t)n);
}

void coll_http_header(struct coll_http_request *r, const char *name, const char *value)
{
	char *copy;

	if (r->headers == COLL_HTTP_HEADERS_OUT || r->answered)
		return;
	copy = strdup(value);
	if (!copy)
		return;
	r->header[r->headers].name = name;
	r->header[r->headers++].value = copy;
}

const char *coll_http_asked(const struct coll_http_request *r, const char *header)
{
	return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, header);
}

const char *coll_http_query(const struct coll_http_request *r, const char *name)
{
	return MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);
}
