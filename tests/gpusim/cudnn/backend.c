/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.c - the graph API: descriptors, heuristics, plans.
 */
#include "backend.h"

#include <stdlib.h>
#include <string.h>

#include "opgraph.h"

/* Engines by their index in a graph. */
#define ENGINE_TENSOR 1 /* 0: the one without tensor cores */

static enum dnn_status no_memory(void)
{
	return dnn_fail(DNN_INTERNAL_ERROR_HOST_ALLOCATION_FAILED, "no memory for a descriptor");
}

/* ---- descriptors ---- */

enum dnn_status cudnnBackendCreateDescriptor(int kind, struct dnn_descriptor **descriptor)
{
	struct dnn_descriptor *d;

	if (!descriptor)
		return dnn_fail(DNN_BAD_PARAM_NULL_POINTER, "no place for a descriptor");
	if (kind < 0 || kind >= DNN_KINDS)
		return dnn_missing("cudnnBackendCreateDescriptor");
	d = malloc(sizeof *d);
	if (!d)
		return no_memory();
	d->bag = dnn_bag_new(kind);
	if (!d->bag) {
		free(d);
		return no_memory();
	}
	*descriptor = d;
	return DNN_SUCCESS;
}

enum dnn_status cudnnBackendDestroyDescriptor(struct dnn_descriptor *descriptor)
{
	if (descriptor)
		dnn_bag_drop(descriptor->bag);
	free(descriptor);
	return DNN_SUCCESS;
}

/* ---- setting ---- */

static enum dnn_status put_descriptors(struct dnn_bag *bag, int name, int64_t n,
				       struct dnn_descriptor *const *from)
{
	struct dnn_bag **bags = malloc((n ? (size_t)n : 1) * sizeof(struct dnn_bag *));
	int64_t i;
	int rc;

	if (!bags)
		return no_memory();
	for (i = 0; i < n && from[i] && from[i]->bag->final; i++)
		bags[i] = from[i]->bag;
	rc = i == n ? dnn_bag_put(bag, name, DNN_TYPE_DESCRIPTOR, n, bags) : 0;
	free(bags);
	if (i < n)
		return dnn_fail(DNN_BAD_PARAM_NOT_FINALIZED,
				"attribute %d: descriptor %lld is not finalized", name,
				(long long)i);
	return rc ? no_memory() : DNN_SUCCESS;
}

enum dnn_status cudnnBackendSetAttribute(struct dnn_descriptor *descriptor, int name, int type,
					 int64_t n, const void *values)
{
	if (!descriptor || (n && !values))
		return dnn_fail(DNN_BAD_PARAM_NULL_POINTER, "attribute %d: no descriptor or values",
				name);
	if (n < 0 || type < 0 || type >= DNN_TYPES)
		return dnn_fail(DNN_BAD_PARAM_ATTRIBUTE_TYPE, "attribute %d: %lld of type %d", name,
				(long long)n, type);
	if (descriptor->bag->final)
		return dnn_fail(DNN_BAD_PARAM, "attribute %d: the descriptor is final", name);
	if (type == DNN_TYPE_DESCRIPTOR)
		return put_descriptors(descriptor->bag, name, n, values);
	return dnn_bag_put(descriptor->bag, name, type, n, values) ? no_memory() : DNN_SUCCESS;
}

/* ---- getting ---- */

/* Lists that are empty unless somebody filled them. */
static bool may_be_empty(int name)
{
	switch (name) {
	case DNN_ATTR_ENGINE_KNOB_INFO:
	case DNN_ATTR_ENGINE_NUMERICAL_NOTE:
	case DNN_ATTR_ENGINE_LAYOUT_INFO:
	case DNN_ATTR_ENGINE_BEHAVIOR_NOTE:
	case DNN_ATTR_ENGINECFG_INTERMEDIATE_INFO:
	case DNN_ATTR_ENGINECFG_KNOB_CHOICES:
		return true;
	default:
		return false;
	}
}

/* The program's own descriptors become what is in the bag. */
static enum dnn_status get_descriptors(const struct dnn_attribute *a, int64_t n,
				       struct dnn_descriptor **to)
{
	struct dnn_bag *const *bags = a->values;
	int64_t i;

	for (i = 0; i < n; i++) {
		if (!to[i] || to[i]->bag->kind != bags[i]->kind)
			return dnn_fail(DNN_BAD_PARAM_DESCRIPTOR_TYPE,
					"attribute %d is no descriptor of that kind", a->name);
		dnn_bag_take(bags[i]);
		dnn_bag_drop(to[i]->bag);
		to[i]->bag = bags[i];
	}
	return DNN_SUCCESS;
}

enum dnn_status cudnnBackendGetAttribute(struct dnn_descriptor *descriptor, int name, int type,
					 int64_t asked, int64_t *n, void *values)
{
	const struct dnn_attribute *a;
	int64_t given;

	if (!descriptor)
		return dnn_fail(DNN_BAD_PARAM_NULL_POINTER, "attribute %d: no descriptor", name);
	if (!descriptor->bag->final)
		return dnn_fail(DNN_BAD_PARAM_NOT_FINALIZED,
				"attribute %d of a descriptor that is not finalized", name);
	a = dnn_bag_find(descriptor->bag, name);
	if (!a && !may_be_empty(name))
		return dnn_missing("cudnnBackendGetAttribute");
	if (a && a->type != type)
		return dnn_fail(DNN_BAD_PARAM_ATTRIBUTE_TYPE, "attribute %d has type %d, not %d",
				name, a->type, type);
	given = a ? a->n : 0;
	/* Of heuristics torch 2.14 asks for one, and takes what is counted here for written. */
	if (values && asked >= 0 && asked < given)
		given = asked;
	if (n)
		*n = given;
	if (!given || !values)
		return DNN_SUCCESS;
	if (type == DNN_TYPE_DESCRIPTOR)
		return get_descriptors(a, given, values);
	memcpy(values, a->values, (size_t)given * dnn_type_bytes(type));
	return DNN_SUCCESS;
}

/* ---- engines ---- */

/* A final engine of a graph. */
static struct dnn_bag *engine_new(struct dnn_bag *graph, int64_t index)
{
	static const int32_t note = DNN_NOTE_TENSOR_CORE;
	struct dnn_bag *engine = dnn_bag_new(DNN_KIND_ENGINE);

	if (!engine)
		return NULL;
	if (dnn_bag_put(engine, DNN_ATTR_ENGINE_OPERATION_GRAPH, DNN_TYPE_DESCRIPTOR, 1, &graph) ||
	    dnn_bag_put(engine, DNN_ATTR_ENGINE_GLOBAL_INDEX, DNN_TYPE_INT64, 1, &index) ||
	    (index == ENGINE_TENSOR && dnn_bag_put(engine, DNN_ATTR_ENGINE_NUMERICAL_NOTE,
						   DNN_TYPE_NUMERICAL_NOTE, 1, &note))) {
		dnn_bag_drop(engine);
		return NULL;
	}
	engine->final = true;
	return engine;
}

/* What every final engine config can be asked. */
static int config_final(struct dnn_bag *config)
{
	static const int64_t none;
	static const int32_t no_shared;
	int rc = dnn_bag_put(config, DNN_ATTR_ENGINECFG_WORKSPACE_SIZE, DNN_TYPE_INT64, 1, &none);

	return rc ? rc
		  : dnn_bag_put(config, DNN_ATTR_ENGINECFG_SHARED_MEMORY_USED, DNN_TYPE_INT32, 1,
				&no_shared);
}

static struct dnn_bag *config_new(struct dnn_bag *graph, int64_t index)
{
	struct dnn_bag *engine = engine_new(graph, index);
	struct dnn_bag *config = engine ? dnn_bag_new(DNN_KIND_ENGINECFG) : NULL;

	if (config &&
	    (dnn_bag_put(config, DNN_ATTR_ENGINECFG_ENGINE, DNN_TYPE_DESCRIPTOR, 1, &engine) ||
	     config_final(config))) {
		dnn_bag_drop(config);
		config = NULL;
	}
	dnn_bag_drop(engine); /* the config's from here on */
	if (config)
		config->final = true;
	return config;
}

/* ---- finalizing ---- */

static enum dnn_status final_graph(struct dnn_bag *graph)
{
	int64_t engines;

	if (!dnn_bag_bag(graph, DNN_ATTR_GRAPH_OPS))
		return dnn_fail(DNN_BAD_PARAM, "an operation graph without operations");
	engines = dnn_opgraph_float(graph) ? 2 : 1;
	return dnn_bag_put(graph, DNN_ATTR_GRAPH_ENGINE_GLOBAL_COUNT, DNN_TYPE_INT64, 1, &engines)
		       ? no_memory()
		       : DNN_SUCCESS;
}

static enum dnn_status final_heuristics(struct dnn_bag *heuristics)
{
	struct dnn_bag *graph = dnn_bag_bag(heuristics, DNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
	struct dnn_bag *configs[2] = { NULL, NULL };
	int64_t i, n;
	int rc = 0;

	if (!graph)
		return dnn_fail(DNN_BAD_PARAM, "heuristics without an operation graph");
	n = dnn_bag_number(graph, DNN_ATTR_GRAPH_ENGINE_GLOBAL_COUNT, 1);
	for (i = 0; i < n; i++) { /* the faster first */
		configs[i] = config_new(graph, n - 1 - i);
		rc |= !configs[i];
	}
	rc = rc ||
	     dnn_bag_put(heuristics, DNN_ATTR_ENGINEHEUR_RESULTS, DNN_TYPE_DESCRIPTOR, n, configs);
	for (i = 0; i < n; i++)
		dnn_bag_drop(configs[i]);
	return rc ? no_memory() : DNN_SUCCESS;
}

static enum dnn_status final_engine(struct dnn_bag *engine)
{
	struct dnn_bag *graph = dnn_bag_bag(engine, DNN_ATTR_ENGINE_OPERATION_GRAPH);
	int64_t index = dnn_bag_number(engine, DNN_ATTR_ENGINE_GLOBAL_INDEX, -1);

	if (!graph)
		return dnn_fail(DNN_BAD_PARAM, "an engine without an operation graph");
	if (index < 0 || index >= dnn_bag_number(graph, DNN_ATTR_GRAPH_ENGINE_GLOBAL_COUNT, 1))
		return dnn_fail(DNN_NOT_SUPPORTED, "no engine %lld for this graph",
				(long long)index);
	return DNN_SUCCESS;
}

static enum dnn_status final_config(struct dnn_bag *config)
{
	if (!dnn_bag_bag(config, DNN_ATTR_ENGINECFG_ENGINE))
		return dnn_fail(DNN_BAD_PARAM, "an engine config without an engine");
	return config_final(config) ? no_memory() : DNN_SUCCESS;
}

static enum dnn_status final_plan(struct dnn_bag *plan)
{
	static const int64_t none;
	struct dnn_bag *config = dnn_bag_bag(plan, DNN_ATTR_PLAN_ENGINE_CONFIG);
	struct dnn_bag *engine = config ? dnn_bag_bag(config, DNN_ATTR_ENGINECFG_ENGINE) : NULL;

	if (!engine)
		return dnn_fail(DNN_BAD_PARAM, "a plan without an engine config");
	dnn_opgraph_work(&plan->work, dnn_bag_bag(engine, DNN_ATTR_ENGINE_OPERATION_GRAPH),
			 dnn_bag_number(engine, DNN_ATTR_ENGINE_GLOBAL_INDEX, 0) == ENGINE_TENSOR);
	plan->work.kernel = gpusim_kernel(plan->work.name);
	if (dnn_bag_put(plan, DNN_ATTR_PLAN_WORKSPACE_SIZE, DNN_TYPE_INT64, 1, &none))
		return no_memory();
	return DNN_SUCCESS;
}

static enum dnn_status final_by_kind(struct dnn_bag *bag)
{
	switch (bag->kind) {
	case DNN_KIND_GRAPH:
		return final_graph(bag);
	case DNN_KIND_ENGINEHEUR:
		return final_heuristics(bag);
	case DNN_KIND_ENGINE:
		return final_engine(bag);
	case DNN_KIND_ENGINECFG:
		return final_config(bag);
	case DNN_KIND_PLAN:
		return final_plan(bag);
	default:
		return DNN_SUCCESS;
	}
}

enum dnn_status cudnnBackendFinalize(struct dnn_descriptor *descriptor)
{
	enum dnn_status status;

	if (!descriptor)
		return dnn_fail(DNN_BAD_PARAM_NULL_POINTER, "no descriptor to finalize");
	if (descriptor->bag->final)
		return DNN_SUCCESS;
	status = final_by_kind(descriptor->bag);
	descriptor->bag->final = !status;
	return status;
}

/* ---- executing ---- */

enum dnn_status cudnnBackendExecute(struct dnn_handle *handle, struct dnn_descriptor *plan,
				    struct dnn_descriptor *pack)
{
	if (!handle || !plan || !pack)
		return dnn_fail(DNN_BAD_PARAM_NULL_POINTER, "no handle, plan or variant pack");
	if (plan->bag->kind != DNN_KIND_PLAN || pack->bag->kind != DNN_KIND_VARIANT_PACK)
		return dnn_fail(DNN_BAD_PARAM_DESCRIPTOR_TYPE, "no plan or no variant pack");
	if (!plan->bag->final || !pack->bag->final)
		return dnn_fail(DNN_BAD_PARAM_NOT_FINALIZED, "plan or variant pack is not final");
	return dnn_work_launch(handle, &plan->bag->work);
}
