/* SPDX-License-Identifier: Apache-2.0 */
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

char *made_numbers(char *p, uint64_t *v, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		char *stop;

		errno = 0;
		v[i] = *p && p[strspn(p, " ")] == '-' ? (uint64_t)strtoll(p, &stop, 10)
						      : strtoull(p, &stop, 10);
		made_need(stop > p && !errno, "a number is missing");
		p = stop;
	}
	return p;
}

uint32_t made_rest(struct made_stream *s, char *p)
{
	p += strspn(p, " ");
	return made_name(s, p, strlen(p));
}

void made_unfold(char *text)
{
	for (; *text; text++)
		*text = (char)(*text == '|' ? '\t' : *text == '~' ? '\n' : *text);
}

void made_api(struct made_stream *s, char *p)
{
	struct wire_event *e;
	uint64_t v[4];

	p = made_numbers(p, v, 4);
	e = made_event(s, WIRE_KIND_API, (int64_t)v[0], (int64_t)v[1]);
	e->op = WIRE_DOMAIN_RUNTIME;
	e->corr = v[2];
	e->tid = (uint32_t)v[3];
	e->name = made_rest(s, p);
}

void made_range(struct made_stream *s, char *p)
{
	struct wire_event *e;
	uint64_t v[5];

	p = made_numbers(p, v, 5);
	e = made_event(s, WIRE_KIND_RANGE, (int64_t)v[1], (int64_t)v[2]);
	e->op = (uint8_t)v[0];
	e->tid = (uint32_t)v[3];
	e->flags = (uint8_t)v[4];
	e->name = made_rest(s, p);
}
