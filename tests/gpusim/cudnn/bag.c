/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bag.c - descriptors of the graph API as bags of attributes.
 */
#include "bag.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

size_t dnn_type_bytes(int type)
{
	switch (type) {
	case DNN_TYPE_BOOLEAN:
	case DNN_TYPE_CHAR:
		return 1;
	case DNN_TYPE_HANDLE:
	case DNN_TYPE_INT64:
	case DNN_TYPE_DOUBLE:
	case DNN_TYPE_VOID_PTR:
	case DNN_TYPE_DESCRIPTOR:
		return 8;
	case DNN_TYPE_FRACTION:
		return 16;
	default:
		return 4;
	}
}

struct dnn_bag *dnn_bag_new(int kind)
{
	struct dnn_bag *bag = calloc(1, sizeof *bag);

	if (!bag)
		return NULL;
	bag->references = 1;
	bag->kind = kind;
	return bag;
}

struct dnn_bag *dnn_bag_take(struct dnn_bag *bag)
{
	__atomic_fetch_add(&bag->references, 1, __ATOMIC_RELAXED);
	return bag;
}

static void values_free(struct dnn_attribute *a)
{
	struct dnn_bag **bags = a->values;
	int64_t i;

	if (a->type == DNN_TYPE_DESCRIPTOR)
		for (i = 0; i < a->n; i++)
			dnn_bag_drop(bags[i]);
	free(a->values);
}

void dnn_bag_drop(struct dnn_bag *bag)
{
	int i;

	/* The last one sees what the others did with it. */
	if (!bag || __atomic_sub_fetch(&bag->references, 1, __ATOMIC_ACQ_REL))
		return;
	for (i = 0; i < bag->n; i++)
		values_free(&bag->attributes[i]);
	free(bag->attributes);
	free(bag);
}

const struct dnn_attribute *dnn_bag_find(const struct dnn_bag *bag, int name)
{
	int i;

	for (i = 0; i < bag->n; i++)
		if (bag->attributes[i].name == name)
			return &bag->attributes[i];
	return NULL;
}

/* The place for an attribute of this name, empty. */
static struct dnn_attribute *place(struct dnn_bag *bag, int name)
{
	struct dnn_attribute *a = (struct dnn_attribute *)dnn_bag_find(bag, name), *grown;

	if (a) {
		values_free(a);
		return a;
	}
	grown = realloc(bag->attributes, (size_t)(bag->n + 1) * sizeof *grown);
	if (!grown)
		return NULL;
	bag->attributes = grown;
	return &bag->attributes[bag->n++];
}

int dnn_bag_put(struct dnn_bag *bag, int name, int type, int64_t n, const void *values)
{
	struct dnn_bag *const *bags = values;
	size_t bytes = (size_t)n * dnn_type_bytes(type);
	struct dnn_attribute *a;
	void *copy = malloc(bytes ? bytes : 1);
	int64_t i;

	if (!copy)
		return -ENOMEM;
	if (bytes)
		memcpy(copy, values, bytes);
	if (type == DNN_TYPE_DESCRIPTOR)
		for (i = 0; i < n; i++)
			dnn_bag_take(bags[i]);
	a = place(bag, name);
	if (!a) {
		values_free(&(struct dnn_attribute){ name, type, n, copy });
		return -ENOMEM;
	}
	*a = (struct dnn_attribute){ name, type, n, copy };
	return 0;
}

struct dnn_bag *dnn_bag_bag(const struct dnn_bag *bag, int name)
{
	const struct dnn_attribute *a = dnn_bag_find(bag, name);

	return a && a->type == DNN_TYPE_DESCRIPTOR && a->n ? *(struct dnn_bag **)a->values : NULL;
}

int64_t dnn_bag_number(const struct dnn_bag *bag, int name, int64_t absent)
{
	const struct dnn_attribute *a = dnn_bag_find(bag, name);

	if (!a || !a->n)
		return absent;
	switch (dnn_type_bytes(a->type)) {
	case 1:
		return *(const uint8_t *)a->values;
	case 4:
		return *(const int32_t *)a->values;
	default:
		return *(const int64_t *)a->values;
	}
}

int64_t dnn_bag_numbers(const struct dnn_bag *bag, int name, const int64_t **values)
{
	const struct dnn_attribute *a = dnn_bag_find(bag, name);

	if (!a || a->type != DNN_TYPE_INT64)
		return 0;
	*values = a->values;
	return a->n;
}
