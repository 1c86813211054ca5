/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bag.h - a descriptor of the graph API: a bag of attributes, most of which nobody reads here. A
 * program holds a struct dnn_descriptor; the bag in it is shared with whatever it was put into,
 * because the program may destroy its own afterwards, and because asking for an attribute that is a
 * descriptor fills one that the program made. A bag is one thread's until it is final, and never
 * changes from then on.
 */
#ifndef DNN_BAG_H
#define DNN_BAG_H

#include <stdbool.h>
#include <stdint.h>

#include "status.h"
#include "work.h"

struct dnn_attribute {
	int name;
	int type; /* enum dnn_type */
	int64_t n;
	void *values; /* n of them; references to bags where the type is DNN_TYPE_DESCRIPTOR */
};

struct dnn_bag {
	uint32_t references; /* atomic */
	int kind; /* enum dnn_kind */
	bool final;
	struct dnn_attribute *attributes;
	int n;
	struct dnn_work work; /* of a final execution plan */
};

struct dnn_descriptor {
	struct dnn_bag *bag;
};

/* Bytes of a value of a type. */
size_t dnn_type_bytes(int type);

/* A bag with one reference, or NULL without memory. */
struct dnn_bag *dnn_bag_new(int kind);
struct dnn_bag *dnn_bag_take(struct dnn_bag *bag);
void dnn_bag_drop(struct dnn_bag *bag);

/*
 * Puts an attribute into it, in place of what it had under that name. Where the type is
 * DNN_TYPE_DESCRIPTOR the values are struct dnn_bag *, and a reference to each is taken. Negative
 * errno.
 */
int dnn_bag_put(struct dnn_bag *bag, int name, int type, int64_t n, const void *values);

/* The attribute, or NULL. */
const struct dnn_attribute *dnn_bag_find(const struct dnn_bag *bag, int name);

/* The same read as one bag, one number, or numbers; NULL, `absent` or 0 where it is not there. */
struct dnn_bag *dnn_bag_bag(const struct dnn_bag *bag, int name);
int64_t dnn_bag_number(const struct dnn_bag *bag, int name, int64_t absent);
int64_t dnn_bag_numbers(const struct dnn_bag *bag, int name, const int64_t **values);

#endif
