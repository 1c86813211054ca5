/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c - a hash table of texts that are never freed.
 */
#include "names.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024

struct entry {
	struct entry *next;
	char text[];
};

static struct entry *table[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t hash(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h % BUCKETS;
}

const char *sim_name(const char *text)
{
	struct entry **head = &table[hash(text)], *e;

	pthread_mutex_lock(&lock);
	for (e = *head; e && strcmp(e->text, text); e = e->next)
		;
	if (!e && (e = malloc(sizeof *e + strlen(text) + 1))) {
		strcpy(e->text, text);
		e->next = *head;
		*head = e;
	}
	pthread_mutex_unlock(&lock);
	return e ? e->text : "";
}
