/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sitecustomize.abi3.so, which Python finds before sitecustomize.py beside it and which does the
 * same in its place: it wipes the shim's folder off sys.path and PYTHONPATH, becomes a finder that
 * waits for the modules that the shim is for, and imports the program's own sitecustomize. Every
 * Python of a job does that, so it compiles nothing: a Python file costs a process that never needs
 * the shim half a millisecond more, and a whole one where importlib runs it. A Python that takes no
 * extension of the stable ABI (free-threaded ones, PyPy) imports the file.
 *
 * Whatever fails leaves the program as it would be without us. Built without Python's headers:
 * these are parts of the stable ABI (PEP 384, 489).
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define FILE_INPUT 257 /* Py_file_input */
#define EQUAL 2 /* Py_EQ */
#define CALL_NAMED 3 /* METH_VARARGS | METH_KEYWORDS */
#define TEXT_MAX 16384

enum { /* Py_mod_... */
	SLOT_EXEC = 2,
	SLOT_INTERPRETERS = 3 /* since 3.12 */
};

#define PER_INTERPRETER_GIL ((void *)2)

struct object;

struct slot {
	int what;
	union {
		int (*run)(struct object *module);
		void *value;
	};
};

struct method {
	const char *name;
	struct object *(*call)(struct object *module, struct object *args, struct object *named);
	int flags;
	const char *doc;
};

struct module_def {
	struct {
		ptrdiff_t references;
		void *type;
		struct object *(*init)(void);
		ptrdiff_t index;
		struct object *copy;
	} base;
	const char *name, *doc;
	ptrdiff_t size;
	struct method *methods;
	struct slot *slots;
	void *traverse, *clear, *free;
};

extern const char *Py_GetVersion(void);
extern struct object *PyModuleDef_Init(struct module_def *def);
extern struct object *PyModule_GetFilenameObject(struct object *module);
extern struct object *PyImport_ImportModule(const char *name);
extern struct object *PyImport_GetModuleDict(void); /* borrowed, as the next one */
extern struct object *PySys_GetObject(const char *name);
extern struct object *PyEval_GetBuiltins(void); /* borrowed */
extern struct object *PyUnicode_EncodeFSDefault(struct object *text);
extern struct object *PyUnicode_FromString(const char *text);
extern struct object *PyUnicode_FromFormat(const char *format, ...);
extern struct object *PyUnicode_Partition(struct object *text, struct object *by);
extern struct object *PyUnicode_RPartition(struct object *text, struct object *by);
extern ptrdiff_t PyUnicode_GetLength(struct object *text);
extern int PyUnicode_CompareWithASCIIString(struct object *text, const char *ascii);
extern char *PyBytes_AsString(struct object *bytes);
extern ptrdiff_t PyList_Size(struct object *list);
extern struct object *PyList_GetItem(struct object *list, ptrdiff_t i); /* borrowed */
extern int PyList_Insert(struct object *list, ptrdiff_t i, struct object *item);
extern int PyList_SetItem(struct object *list, ptrdiff_t i, struct object *item); /* steals */
extern struct object *PyTuple_GetItem(struct object *tuple, ptrdiff_t i); /* borrowed */
extern int PySequence_DelItem(struct object *list, ptrdiff_t i);
extern struct object *PyDict_New(void);
extern int PyDict_SetItemString(struct object *dict, const char *key, struct object *value);
extern int PyDict_DelItemString(struct object *dict, const char *key);
extern struct object *PyDict_GetItemString(struct object *dict, const char *key); /* borrowed */
extern int PyObject_DelItem(struct object *map, struct object *key);
extern struct object *PyMapping_GetItemString(struct object *map, const char *key);
extern int PyMapping_SetItemString(struct object *map, const char *key, struct object *value);
extern int PyObject_DelItemString(struct object *map, const char *key);
extern struct object *PyObject_GetAttrString(struct object *o, const char *name);
extern int PyObject_RichCompareBool(struct object *a, struct object *b, int how);
extern struct object *PyObject_CallFunction(struct object *o, const char *format, ...);
extern struct object *PyObject_CallMethod(struct object *o, const char *name, const char *format,
					  ...);
extern int PyArg_ParseTupleAndKeywords(struct object *args, struct object *named,
				       const char *format, char **names, ...);
extern struct object *Py_BuildValue(const char *format, ...);
extern struct object *Py_CompileString(const char *text, const char *name, int start);
extern struct object *PyEval_EvalCode(struct object *code, struct object *globals,
				      struct object *locals);
extern void PyErr_Clear(void);
extern void Py_IncRef(struct object *o);
extern void Py_DecRef(struct object *o);

__attribute__((visibility("default"))) struct object *PyInit_sitecustomize(void);

/* Of waiting.py, which knows what to do with each. */
static const char *const waited_for[] = { "torch.autograd.profiler",
					  "torch.utils.data.dataloader",
					  "torch.serialization",
					  "torch.distributed.checkpoint.state_dict_saver",
					  "torch.distributed.checkpoint.state_dict_loader",
					  "safetensors.torch",
					  "lightning.fabric.utilities.cloud_io",
					  "lightning_fabric.utilities.cloud_io",
					  "deepspeed.runtime.engine",
					  "orbax.checkpoint._src.checkpointers.checkpointer",
					  "orbax.checkpoint._src.checkpointers.async_checkpointer",
					  "jax._src.profiler",
					  "tensorflow.python.profiler.profiler_v2",
					  "triton.profiler.profile" };

/* For gpustarve loader alone: every other Python would compile a file that it has no use for. */
static const char *const by_loader[] = { "queue", "multiprocessing.queues" };

/* The text before the first or the last @by, and what is behind it, as three of a tuple. */
static struct object *split(struct object *text, const char *by, bool last)
{
	struct object *at = PyUnicode_FromString(by);
	struct object *parts = !text || !at ? NULL
			       : last	    ? PyUnicode_RPartition(text, at)
					    : PyUnicode_Partition(text, at);

	Py_DecRef(at);
	return parts;
}

/* The folder of ours, by the name that Python has for it. */
static struct object *folder_of(struct object *module)
{
	struct object *file = PyModule_GetFilenameObject(module);
	struct object *parts = split(file, "/", true);
	struct object *here = parts ? PyTuple_GetItem(parts, 0) : NULL;

	Py_IncRef(here);
	Py_DecRef(parts);
	Py_DecRef(file);
	return here;
}

/*
 * ---- what the program sees --------------------------------------------------------------------
 */

static void leave_path(struct object *here)
{
	struct object *path = PySys_GetObject("path"),
		      *known = PySys_GetObject("path_importer_cache");
	ptrdiff_t i = path ? PyList_Size(path) : 0;

	while (i-- > 0)
		if (PyObject_RichCompareBool(PyList_GetItem(path, i), here, EQUAL) == 1)
			PySequence_DelItem(path, i);
	PyErr_Clear();
	if (known && PyObject_DelItem(known, here))
		PyErr_Clear();
}

/* @parts: of PYTHONPATH, at its first colon. */
static void leave_variable(struct object *variables, struct object *parts, struct object *here)
{
	struct object *rest = PyTuple_GetItem(parts, 2);

	if (PyObject_RichCompareBool(PyTuple_GetItem(parts, 0), here, EQUAL) != 1)
		return;
	if (PyUnicode_GetLength(rest) > 0)
		PyMapping_SetItemString(variables, "PYTHONPATH", rest);
	else
		PyObject_DelItemString(variables, "PYTHONPATH");
}

static void leave_environment(struct object *here)
{
	struct object *os = PyImport_ImportModule("os");
	struct object *variables = os ? PyObject_GetAttrString(os, "environ") : NULL;
	struct object *value = variables ? PyMapping_GetItemString(variables, "PYTHONPATH") : NULL;
	struct object *parts = split(value, ":", false);

	if (parts)
		leave_variable(variables, parts, here);
	PyErr_Clear();
	Py_DecRef(parts);
	Py_DecRef(value);
	Py_DecRef(variables);
	Py_DecRef(os);
}

/*
 * ---- the finder -------------------------------------------------------------------------------
 */

static bool read_file(struct object *path, char *text)
{
	struct object *bytes = PyUnicode_EncodeFSDefault(path);
	const char *name = bytes ? PyBytes_AsString(bytes) : NULL;
	int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = fd < 0 ? -1 : read(fd, text, TEXT_MAX - 1);

	if (fd >= 0)
		close(fd);
	Py_DecRef(bytes);
	text[n > 0 ? n : 0] = 0;
	return n > 0;
}

static struct object *compile(struct object *path, const char *text)
{
	struct object *bytes = PyUnicode_EncodeFSDefault(path);
	const char *name = bytes ? PyBytes_AsString(bytes) : NULL;
	struct object *code = name ? Py_CompileString(text, name, FILE_INPUT) : NULL;

	Py_DecRef(bytes);
	return code;
}

/* Names that the file at @path has when it has run; NULL, perhaps with an error set. */
static struct object *run_file(struct object *path)
{
	struct object *globals = NULL, *code = NULL, *name = NULL, *value = NULL;
	char text[TEXT_MAX];

	if (!read_file(path, text))
		return NULL;
	globals = PyDict_New();
	name = PyUnicode_FromString("sitecustomize");
	if (globals && name && !PyDict_SetItemString(globals, "__name__", name) &&
	    !PyDict_SetItemString(globals, "__file__", path) &&
	    !PyDict_SetItemString(globals, "__builtins__", PyEval_GetBuiltins()))
		code = compile(path, text);
	if (code)
		value = PyEval_EvalCode(code, globals, globals);
	Py_DecRef(name);
	Py_DecRef(code);
	if (!value) {
		Py_DecRef(globals);
		return NULL;
	}
	Py_DecRef(value);
	return globals;
}

/* Of waiting.py. */
static struct object *make_finder(struct object *here)
{
	struct object *path = PyUnicode_FromFormat("%U/waiting.py", here);
	struct object *names = path ? run_file(path) : NULL;
	struct object *type = names ? PyDict_GetItemString(names, "_Waiting") : NULL;
	struct object *finder = type ? PyObject_CallFunction(type, "O", here) : NULL;

	Py_DecRef(names);
	Py_DecRef(path);
	return finder;
}

/* Puts @finder into the place that @module has among the finders. */
static bool replace(struct object *module, struct object *finder)
{
	struct object *finders = PySys_GetObject("meta_path");
	ptrdiff_t i = finders ? PyList_Size(finders) : 0;

	while (i-- > 0)
		if (PyList_GetItem(finders, i) == module) {
			Py_IncRef(finder);
			return !PyList_SetItem(finders, i, finder);
		}
	return false;
}

static struct object *none(void)
{
	PyErr_Clear();
	return Py_BuildValue("");
}

/* The first of what is waited for brings the finder that knows what to do. */
static struct object *find(struct object *module, struct object *name, struct object *path,
			   struct object *target)
{
	struct object *here = folder_of(module);
	struct object *finder = here ? make_finder(here) : NULL;
	struct object *found = NULL;
	bool there = finder && replace(module, finder);

	if (there)
		found = PyObject_CallMethod(finder, "find_spec", "OOO", name, path, target);
	Py_DecRef(finder);
	Py_DecRef(here);
	return there ? found : none();
}

/* Is asked for each module that is imported. */
static struct object *find_spec(struct object *module, struct object *args, struct object *named)
{
	char first[] = "name", second[] = "path", third[] = "target";
	char *names[] = { first, second, third, NULL };
	struct object *nothing = none(), *name, *path = nothing, *target = nothing;
	const char *given = getenv("GPUSTARVE_LOADER");
	bool loader = given && !strcmp(given, "1");
	size_t i;

	Py_DecRef(nothing); /* it is never freed */
	if (!PyArg_ParseTupleAndKeywords(args, named, "U|OO", names, &name, &path, &target))
		return NULL;
	for (i = 0; i < sizeof(waited_for) / sizeof(waited_for[0]); i++)
		if (!PyUnicode_CompareWithASCIIString(name, waited_for[i]))
			return find(module, name, path, target);
	for (i = 0; loader && i < sizeof(by_loader) / sizeof(by_loader[0]); i++)
		if (!PyUnicode_CompareWithASCIIString(name, by_loader[i]))
			return find(module, name, path, target);
	return none();
}

static void wait_for_modules(struct object *module)
{
	struct object *finders = PySys_GetObject("meta_path");

	if (finders && PyList_Insert(finders, 0, module))
		PyErr_Clear();
}

/*
 * ---- the module -------------------------------------------------------------------------------
 */

/* 0, or -1 with an error set: also that the program has no sitecustomize of its own. */
static int run(struct object *module)
{
	struct object *here = folder_of(module), *own;

	if (here) {
		leave_path(here);
		leave_environment(here);
		wait_for_modules(module);
	}
	PyErr_Clear();
	Py_DecRef(here);
	if (PyDict_DelItemString(PyImport_GetModuleDict(), "sitecustomize"))
		PyErr_Clear();
	own = PyImport_ImportModule("sitecustomize");
	Py_DecRef(own);
	return own ? 0 : -1;
}

/* "3.12.1": a Python that does not know the second slot refuses it, and newer ones ask for it. */
static int knows_interpreters(void)
{
	const char *version = Py_GetVersion();

	return version[0] > '3' || atoi(version + 2) >= 12;
}

struct object *PyInit_sitecustomize(void)
{
	static struct slot slots[3] = { { .what = SLOT_EXEC, .run = run } };
	static struct method methods[] = { { "find_spec", find_spec, CALL_NAMED, NULL }, { 0 } };
	static struct module_def def = { .base = { .references = 1 },
					 .name = "sitecustomize",
					 .methods = methods,
					 .slots = slots };

	if (knows_interpreters())
		slots[1] = (struct slot){ .what = SLOT_INTERPRETERS, .value = PER_INTERPRETER_GIL };
	return PyModuleDef_Init(&def);
}
