/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sitecustomize.abi3.so, which Python finds before sitecustomize.py and which runs that file. To
 * import the file itself, without bytecode kept beside it, costs a Python process a millisecond more,
 * most of it for classes of syntax trees that the built-in compile() makes and nobody asked for. A
 * Python that takes no extension of the stable ABI (free-threaded ones, PyPy) imports the file.
 *
 * Built without Python's headers: these are parts of the stable ABI (PEP 384, 489).
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define FILE_INPUT 257 /* Py_file_input */
#define TEXT_MAX 16384
#define PATH_BYTES 4096

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
	void *methods;
	struct slot *slots;
	void *traverse, *clear, *free;
};

extern const char *Py_GetVersion(void);
extern struct object *PyModuleDef_Init(struct module_def *def);
extern struct object *PyModule_GetFilenameObject(struct object *module);
extern struct object *PyUnicode_EncodeFSDefault(struct object *text);
extern struct object *PyUnicode_DecodeFSDefault(const char *bytes);
extern struct object *PyUnicode_FromString(const char *text);
extern char *PyBytes_AsString(struct object *bytes);
extern struct object *PyDict_New(void);
extern int PyDict_SetItemString(struct object *dict, const char *key, struct object *value);
extern struct object *PyEval_GetBuiltins(void);
extern struct object *Py_CompileString(const char *text, const char *name, int start);
extern struct object *PyEval_EvalCode(struct object *code, struct object *globals,
				      struct object *locals);
extern void PyErr_SetString(struct object *type, const char *text);
extern struct object *PyExc_ImportError;
extern void Py_DecRef(struct object *o);

__attribute__((visibility("default"))) struct object *PyInit_sitecustomize(void);

/* The file beside us, by the name that Python has for us. False with an error set. */
static int name_file(struct object *module, char *path)
{
	static const char file[] = "/sitecustomize.py";
	struct object *name = PyModule_GetFilenameObject(module);
	struct object *bytes = name ? PyUnicode_EncodeFSDefault(name) : NULL;
	const char *text = bytes ? PyBytes_AsString(bytes) : NULL;
	const char *slash = text ? strrchr(text, '/') : NULL;
	int good = slash && (size_t)(slash - text) + sizeof(file) <= PATH_BYTES;

	if (good) {
		memcpy(path, text, (size_t)(slash - text));
		memcpy(path + (slash - text), file, sizeof(file));
	} else if (text) {
		PyErr_SetString(PyExc_ImportError, "no place of its own");
	}
	Py_DecRef(bytes);
	Py_DecRef(name);
	return good;
}

static int read_file(const char *path, char *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, TEXT_MAX - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	if (n <= 0)
		PyErr_SetString(PyExc_ImportError, "its file cannot be read");
	return n > 0;
}

/* Owns @value, NULL included. */
static int put(struct object *dict, const char *key, struct object *value)
{
	int good = value && !PyDict_SetItemString(dict, key, value);

	Py_DecRef(value);
	return good;
}

/* 0, or -1 with an error set: also that the program has no sitecustomize of its own. */
static int run(struct object *module)
{
	struct object *globals = NULL, *code = NULL, *value = NULL;
	char path[PATH_BYTES], text[TEXT_MAX];

	if (!name_file(module, path) || !read_file(path, text))
		return -1;
	globals = PyDict_New();
	if (globals && put(globals, "__name__", PyUnicode_FromString("sitecustomize")) &&
	    put(globals, "__file__", PyUnicode_DecodeFSDefault(path)) &&
	    !PyDict_SetItemString(globals, "__builtins__", PyEval_GetBuiltins()))
		code = Py_CompileString(text, path, FILE_INPUT);
	if (code)
		value = PyEval_EvalCode(code, globals, globals);
	Py_DecRef(code);
	Py_DecRef(globals);
	Py_DecRef(value);
	return value ? 0 : -1;
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
	static struct module_def def = { .base = { .references = 1 },
					 .name = "sitecustomize",
					 .slots = slots };

	if (knows_interpreters())
		slots[1] = (struct slot){ .what = SLOT_INTERPRETERS, .value = PER_INTERPRETER_GIL };
	return PyModuleDef_Init(&def);
}
