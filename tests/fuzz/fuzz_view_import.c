/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The importer: whatever the file holds, it becomes a run or one line of why not, and a failed
 * import leaves nothing behind. Seeds are the small traces of tests/data/import, the databases
 * made from their scripts, and packed ones.
 */
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <zlib.h>
#include "harness.h"
#include "import/import.h"

#define DATA TESTS_DIR "/data/import"

static char dir[200], file[256], out[256];

static void remove_dir(void)
{
	rmdir(dir);
}

static void make_dir(void)
{
	if (dir[0])
		return;
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 0); /* nothing here has to reach a disk */
	t_tempdir(dir, sizeof(dir));
	snprintf(file, sizeof(file), "%s/file", dir);
	snprintf(out, sizeof(out), "%s/run.gst", dir);
	atexit(remove_dir);
}

static unsigned int empty_dir(const char *path, bool also_remove)
{
	DIR *d = opendir(path);
	struct dirent *e;
	unsigned int n = 0;

	while (d && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			n += also_remove ? !unlinkat(dirfd(d), e->d_name, 0) : 1;
	if (d)
		closedir(d);
	if (d && also_remove)
		rmdir(path);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	/* Small pieces every other time: what is read in pieces reads no worse. */
	struct view_import_options options = { .threads = len % 2 ? 1 : 3, .piece_bytes = 64 };
	char *files[] = { file };
	struct view_import_stats stats;
	struct view_import_error error = { .file = NULL };
	int fd, err;

	make_dir();
	fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, len) != (ssize_t)len || close(fd))
		abort();
	err = view_import_files(files, 1, out, &options, &stats, &error);
	if (err > 0 || (err && (!error.file || !error.why[0])) || (!err && !stats.ops))
		abort();
	if (!err && !empty_dir(out, true))
		abort();
	unlink(file);
	if (empty_dir(dir, false))
		abort();
	return 0;
}

static size_t keep(uint8_t **data, const void *from, size_t len)
{
	*data = malloc(len + 1);
	memcpy(*data, from, len);
	(*data)[len] = 0;
	return len;
}

size_t fuzz_file(const uint8_t *data, size_t len, uint8_t **made)
{
	return keep(made, data, len);
}

/* --- seeds --- */

static size_t read_seed(const char *name, uint8_t **data)
{
	char path[600];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", DATA, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return 0;
	*data = calloc(1, (size_t)st.st_size + 1);
	if (read(fd, *data, (size_t)st.st_size) != st.st_size)
		abort();
	close(fd);
	return (size_t)st.st_size;
}

/* The database of a script, in small pages so that changes hit many. */
static size_t make_database(uint8_t **data)
{
	sqlite3_int64 len = 0;
	unsigned char *bytes;
	sqlite3 *db;

	if (sqlite3_open(":memory:", &db) ||
	    sqlite3_exec(db, "PRAGMA page_size = 512; VACUUM", NULL, NULL, NULL) ||
	    sqlite3_exec(db, (char *)*data, NULL, NULL, NULL))
		abort();
	bytes = sqlite3_serialize(db, "main", &len, 0);
	free(*data);
	len = bytes ? (sqlite3_int64)keep(data, bytes, (size_t)len) : 0;
	sqlite3_free(bytes);
	sqlite3_close(db);
	return (size_t)len;
}

static size_t pack(uint8_t **data, size_t len)
{
	uLong room = compressBound(len) + 32;
	uint8_t *packed = malloc(room);
	z_stream z = { .next_in = *data, .avail_in = (uInt)len };

	z.next_out = packed;
	z.avail_out = (uInt)room;
	if (deflateInit2(&z, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY) != Z_OK ||
	    deflate(&z, Z_FINISH) != Z_STREAM_END)
		abort();
	len = z.total_out;
	deflateEnd(&z);
	free(*data);
	*data = packed;
	return len;
}

static int wanted(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return strncmp(e->d_name, "expected", 8) &&
	       ((n > 5 && !strcmp(e->d_name + n - 5, ".json")) ||
		(n > 4 && !strcmp(e->d_name + n - 4, ".sql")));
}

/* Each file as it is, then each packed. */
size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	static struct dirent **list;
	static int n = -1;
	const char *name;
	size_t len;

	if (n < 0)
		n = scandir(DATA, &list, wanted, alphasort);
	if (n <= 0 || number >= 2 * (unsigned int)n)
		return 0;
	name = list[number % (unsigned int)n]->d_name;
	len = read_seed(name, data);
	if (len && !strcmp(name + strlen(name) - 4, ".sql"))
		len = make_database(data);
	return number < (unsigned int)n ? len : pack(data, len);
}
