/* SPDX-License-Identifier: Apache-2.0 */
/* Streams on disk: opened, appended to, synced, found again, cut, refused. */
#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "store/store.h"
#include "store/sync.h"
#include "wire/block.h"
#include "wire/bytes.h"

static char base[200];
static struct coll_counters count;
static const struct coll_hello hello = { .run = "run" };

/* The library's, put in its place: a disk that fails when it is told to. */
static int sync_error;

int fdatasync(int fd)
{
	(void)fd;
	errno = sync_error;
	return sync_error ? -1 : 0;
}

static int write_back_error;

int sync_file_range(int fd, off64_t offset, off64_t len, unsigned int flags)
{
	(void)fd;
	(void)offset;
	(void)len;
	errno = write_back_error;
	return write_back_error && (flags & SYNC_FILE_RANGE_WAIT_BEFORE) ? -1 : 0;
}

static int cut_error;

int ftruncate(int fd, off_t size)
{
	errno = cut_error;
	return cut_error ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

static ino_t synced_folder[64];
static size_t synced_folders;

int fsync(int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && S_ISDIR(st.st_mode) && synced_folders < 64)
		synced_folder[synced_folders++] = st.st_ino;
	return 0;
}

static bool is_synced(const char *path)
{
	struct stat st;
	size_t i;

	REQUIRE(!stat(path, &st));
	for (i = 0; i < synced_folders && synced_folder[i] != st.st_ino; i++)
		;
	return i < synced_folders;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void begin(struct coll_store *st)
{
	t_tempdir(base, sizeof(base));
	memset(&count, 0, sizeof(count));
	REQUIRE(!coll_store_init(st, base, &count));
}

static void end(struct coll_store *st)
{
	coll_store_fini(st);
	nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_id(uint8_t id[WIRE_STREAM_ID_BYTES], int n)
{
	memset(id, 0xab, WIRE_STREAM_ID_BYTES);
	id[0] = (uint8_t)n;
	id[1] = (uint8_t)(n >> 8);
}

/* A frame of the stream appended to @out. Types of blocks get a good head. */
static void make_frame(struct wire_buf *out, const uint8_t *id, uint64_t seq, uint16_t type,
		       size_t body)
{
	struct wire_frame f = { .version = 1, .type = type, .seq = seq };
	struct wire_block_head h = { .version = 1, .kind = WIRE_KIND_OP, .count = 1 };
	struct wire_buf head = { 0 };
	uint8_t *bytes = malloc(body + 1);

	memcpy(f.stream, id, sizeof(f.stream));
	memset(bytes, (int)seq, body);
	h.t0_ns = h.last_start_ns = (int64_t)seq * 10;
	h.t1_ns = (int64_t)seq * 10 + 5;
	if (type == WIRE_FRAME_BLOCK)
		REQUIRE(!wire_block_head_put(&h, &head));
	f.raw_len = (uint32_t)body;
	REQUIRE(!wire_frame_append(out, &f, head.data, head.len, bytes, body));
	wire_buf_fini(&head);
	free(bytes);
}

/* Appends one frame as intake does. */
static int add(struct coll_stream *s, uint64_t seq, size_t body)
{
	struct wire_buf b = { 0 };
	struct wire_frame f;
	int err;

	make_frame(&b, s->id, seq, WIRE_FRAME_BLOCK, body);
	wire_frame_header_get(&f, b.data);
	coll_index_add(&s->index, &f, b.data + WIRE_FRAME_HEADER_BYTES, s->size);
	err = coll_stream_append(s, b.data, b.len);
	if (!err)
		coll_seq_set_add(&s->seqs, seq);
	wire_buf_fini(&b);
	return err;
}

static int64_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : (int64_t)st.st_size;
}

static size_t index_records(const struct coll_stream *s, uint64_t *first_offset)
{
	uint8_t data[COLL_INDEX_HEADER_BYTES + 100 * COLL_INDEX_RECORD_BYTES];
	FILE *f = fopen(s->index.path, "r");
	size_t n;

	REQUIRE(f);
	n = fread(data, 1, sizeof(data), f);
	fclose(f);
	REQUIRE(n >= COLL_INDEX_HEADER_BYTES && !memcmp(data, COLL_INDEX_MAGIC, 4));
	EXPECT_MEM(data + 16, s->id, sizeof(s->id));
	*first_offset = wire_get64(data + COLL_INDEX_HEADER_BYTES);
	return (n - COLL_INDEX_HEADER_BYTES) / COLL_INDEX_RECORD_BYTES;
}

static void test_append_and_resume(void)
{
	uint8_t id[WIRE_STREAM_ID_BYTES];
	struct coll_stream *s;
	struct coll_store st;
	uint64_t size, i;

	begin(&st);
	make_id(id, 1);
	EXPECT(!coll_store_get(&st, id));
	EXPECT_INT(coll_store_find(&st, id, &s), -ENOENT);
	REQUIRE(!coll_store_open(&st, id, &hello, &s));
	EXPECT(coll_store_get(&st, id) == s);
	for (i = 1; i <= 50; i++)
		EXPECT_INT(add(s, i, i * 100), 0);
	EXPECT_UINT(s->acked, 0);
	EXPECT_INT(coll_stream_commit(&st, s), 0);
	EXPECT_UINT(s->acked, 50);
	size = s->size;
	coll_store_close(&st, s);
	EXPECT(!coll_store_get(&st, id));

	REQUIRE(!coll_store_find(&st, id, &s));
	EXPECT_UINT(s->acked, 50);
	EXPECT_UINT(s->size, size);
	EXPECT_UINT(count.streams_resumed, 1);
	EXPECT_INT(add(s, 51, 10), 0);
	EXPECT_INT(coll_stream_commit(&st, s), 0);
	EXPECT_UINT(s->acked, 51);
	end(&st);
}

static void test_no_run(void)
{
	struct coll_hello none = { .run = "" };
	uint8_t id[WIRE_STREAM_ID_BYTES];
	struct coll_stream *s;
	struct coll_store st;

	begin(&st);
	make_id(id, 1);
	EXPECT_INT(coll_store_open(&st, id, &none, &s), -EBADMSG);
	EXPECT_UINT(st.streams, 0);
	end(&st);
}

/* Two stores on one directory, as two collectors would have it. */
static void test_one_writer(void)
{
	uint8_t id[WIRE_STREAM_ID_BYTES];
	struct coll_store st, other;
	struct coll_stream *s, *t;

	begin(&st);
	REQUIRE(!coll_store_init(&other, base, &count));
	make_id(id, 1);
	REQUIRE(!coll_store_open(&st, id, &hello, &s));
	EXPECT_INT(coll_store_open(&other, id, &hello, &t), -EBUSY);
	coll_store_close(&st, s);
	EXPECT_INT(coll_store_open(&other, id, &hello, &t), 0);
	coll_store_fini(&other);
	end(&st);
}

/* Every length at which the last frame may have been torn. */
static void test_torn_end(void)
{
	uint8_t id[WIRE_STREAM_ID_BYTES];
	struct coll_stream *s;
	struct coll_store st;
	char path[400];
	uint64_t whole, size, cut;

	begin(&st);
	make_id(id, 3);
	REQUIRE(!coll_store_open(&st, id, &hello, &s));
	EXPECT_INT(add(s, 1, 30), 0);
	whole = s->size;
	EXPECT_INT(add(s, 2, 30), 0);
	size = s->size;
	snprintf(path, sizeof(path), "%s", s->path);
	coll_store_close(&st, s);
	for (cut = size - 1; cut >= whole; cut--) {
		REQUIRE(!truncate(path, (off_t)cut));
		REQUIRE(!coll_store_find(&st, id, &s));
		EXPECT_UINT(s->size, whole);
		EXPECT_UINT(s->acked, 1);
		EXPECT_INT(size_of(path), whole);
		EXPECT_INT(add(s, 2, 30), 0);
		EXPECT_INT(size_of(path), size);
		coll_store_close(&st, s);
	}
	end(&st);
}

/* Damage amid a file stays where it is; its frames are asked for again. */
static void test_damage_amid(void)
{
	uint8_t id[WIRE_STREAM_ID_BYTES];
	struct coll_stream *s;
	struct coll_store st;
	uint64_t i, at = 0, size;
	FILE *f;

	begin(&st);
	make_id(id, 4);
	REQUIRE(!coll_store_open(&st, id, &hello, &s));
	for (i = 1; i <= 5; i++) {
		if (i == 3)
			at = s->size + 80;
		EXPECT_INT(add(s, i, 200), 0);
	}
	size = s->size;
	f = fopen(s->path, "r+");
	REQUIRE(f && !fseek(f, (long)at, SEEK_SET) && fputc('!', f) == '!' && !fclose(f));
	coll_store_close(&st, s);
	REQUIRE(!coll_store_find(&st, id, &s));
	EXPECT_UINT(s->acked, 2);
	EXPECT_UINT(s->size, size);
	EXPECT(!coll_seq_set_has(&s->seqs, 3));
	EXPECT(coll_seq_set_has(&s->seqs, 5));
	EXPECT_INT(add(s, 3, 200), 0);
	EXPECT_INT(coll_stream_commit(&st, s), 0);
	EXPECT_UINT(s->acked, 5);
	end(&st);
}

static void test_no_room(void)
{
	struct rlimit old, small = { 3000, RLIM_INFINITY };
	uint8_t id[WIRE_STREAM_ID_BYTES];
	struct coll_stream *s;
	struct coll_store st;
	uint64_t size;

	begin(&st);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small.rlim_max = old.rlim_max;
	make_id(id, 5);
	REQUIRE(!coll_store_open(&st, id, &hello, &s));
	EXPECT_INT(add(s, 1, 1000), 0);
	size = s->size;
	REQUIRE(!setrlimit(RLIMIT_FSIZE, &small));
	EXPECT_INT(add(s, 2, 5000), -EFBIG);
	EXPECT_INT(size_of(s->path), size);
	EXPECT_INT(add(s, 2, 500), 0);
	/* What has come of a frame cannot be cut off: nothing may come behind it until it can. */
	cut_error = EIO;
	EXPECT_INT(add(s, 3, 5000), -EFBIG);
	EXPECT(size_of(s->path) > (int64_t)s->size);
	REQUIRE(!setrlimit(RLIMIT_FSIZE, &old));
	EXPECT_INT(add(s, 3, 5000), -EIO);
	cut_error = 0;
	EXPECT_INT(add(s, 3, 5000), 0);
	EXPECT_INT(size_of(s->path), s->size);
	EXPECT_INT(coll_stream_commit(&st, s), 0);
	EXPECT_UINT(s->acked, 3);
	end(&st);
}

static int with_all(struct coll_store *st, struct coll_stream *s)
{
	struct coll_sync y;

	coll_sync_begin(&y, &st->place, s);
	coll_sync_work(&y, true);
	return coll_sync_end(&y);
}

/*
 * The whole file system is synced at once, and that went well; but the file could not be written
 * out (kernels before 5.8 do not say so, and later ones say it once, to whoever asks first).
 */
static void test_write_back_fails(void)
{
	uint8_t id[WIRE_STREAM_ID_BYTES];
	struct coll_stream *s;
	struct coll_store st;
	uint64_t size;

	begin(&st);
	make_id(id, 12);
	REQUIRE(!coll_store_open(&st, id, &hello, &s));
	EXPECT_INT(add(s, 1, 1000), 0);
	EXPECT_INT(with_all(&st, s), 0);
	EXPECT_UINT(s->acked, 1);
	size = s->size;
	EXPECT_INT(add(s, 2, 1000), 0);
	write_back_error = EIO;
	EXPECT_INT(with_all(&st, s), -EIO);
	write_back_error = 0;
	EXPECT_UINT(s->acked, 1);
	EXPECT_INT(size_of(s->path), size);
	coll_store_close(&st, s);
	REQUIRE(!coll_store_find(&st, id, &s));
	EXPECT_UINT(s->acked, 1);
	/* Where nobody may ask, each file is synced by itself. */
	EXPECT_INT(add(s, 2, 1000), 0);
	write_back_error = ENOSYS;
	sync_error = EIO;
	EXPECT_INT(with_all(&st, s), -EIO);
	write_back_error = sync_error = 0;
	EXPECT_UINT(s->acked, 1);
	end(&st);
}

/* A store in folders that were not there: with them everything in it would be gone. */
static void test_folders_are_kept(void)
{
	char above[300], path[400];
	struct coll_store st;

	t_tempdir(base, sizeof(base));
	snprintf(above, sizeof(above), "%s/not/there", base);
	snprintf(path, sizeof(path), "%s/yet/", above);
	synced_folders = 0;
	REQUIRE(!coll_store_init(&st, path, &count));
	EXPECT(is_synced(above));
	snprintf(above, sizeof(above), "%s/not", base);
	EXPECT(is_synced(above));
	EXPECT(is_synced(base));
	synced_folders = 0;
	coll_store_fini(&st);
	REQUIRE(!coll_store_init(&st, path, &count));
	EXPECT_UINT(synced_folders, 0);
	end(&st);
}

/* Nobody knows what a failed sync has left: back to what was durable, and no acknowledgement. */
static void test_sync_fails(void)
{
	uint8_t id[WIRE_STREAM_ID_BYTES];
	struct coll_stream *s;
	struct coll_store st;
	uint64_t size;

	begin(&st);
	make_id(id, 10);
	REQUIRE(!coll_store_open(&st, id, &hello, &s));
	EXPECT_INT(add(s, 1, 1000), 0);
	EXPECT_INT(coll_stream_commit(&st, s), 0);
	size = s->size;
	EXPECT_INT(add(s, 2, 1000), 0);
	s->high = 2;
	sync_error = EIO;
	EXPECT_INT(coll_stream_commit(&st, s), -EIO);
	sync_error = 0;
	coll_stream_acknowledge(s);
	EXPECT_UINT(s->acked, 1);
	EXPECT_INT(size_of(s->path), size);
	coll_store_close(&st, s);
	REQUIRE(!coll_store_find(&st, id, &s));
	EXPECT_UINT(s->acked, 1);
	EXPECT(!coll_seq_set_has(&s->seqs, 2));
	EXPECT_UINT(index_records(s, &size), 1);
	end(&st);
}

/*
 * What comes while the disk is waited for is not durable with what came before: not its bytes, nor
 * its numbers, nor its records of the index.
 */
static void test_sync_meanwhile(void)
{
	uint8_t id[WIRE_STREAM_ID_BYTES];
	struct coll_stream *s;
	struct coll_store st;
	struct coll_sync y;
	uint64_t size, records;

	begin(&st);
	make_id(id, 13);
	REQUIRE(!coll_store_open(&st, id, &hello, &s));
	EXPECT_INT(add(s, 1, 1000), 0);
	size = s->size;
	s->high = 1;
	coll_sync_begin(&y, &st.place, s);
	EXPECT(s->syncing);
	EXPECT_INT(add(s, 2, 1000), 0);
	s->high = 5;
	coll_sync_work(&y, false);
	coll_stream_acknowledge(s);
	EXPECT_UINT(s->acked, 0);
	EXPECT_UINT(coll_stream_durable_top(s), 0);
	EXPECT_INT(coll_sync_end(&y), 0);
	EXPECT(!s->syncing && coll_stream_dirty(s));
	EXPECT_UINT(s->synced, size);
	EXPECT_UINT(s->acked, 1);
	EXPECT_UINT(coll_stream_durable_top(s), 1);
	EXPECT_UINT(index_records(s, &records), 1);
	EXPECT_INT(coll_stream_commit(&st, s), 0);
	EXPECT_UINT(s->acked, 5);
	EXPECT_UINT(coll_stream_durable_top(s), 2);
	EXPECT_UINT(index_records(s, &records), 2);
	end(&st);
}

/* And where that fails, all of it is gone, what came meanwhile too. */
static void test_sync_fails_meanwhile(void)
{
	uint8_t id[WIRE_STREAM_ID_BYTES];
	struct coll_stream *s;
	struct coll_store st;
	struct coll_sync y;
	uint64_t size;

	begin(&st);
	make_id(id, 14);
	REQUIRE(!coll_store_open(&st, id, &hello, &s));
	EXPECT_INT(add(s, 1, 1000), 0);
	EXPECT_INT(coll_stream_commit(&st, s), 0);
	size = s->size;
	EXPECT_INT(add(s, 2, 1000), 0);
	s->high = 2;
	coll_sync_begin(&y, &st.place, s);
	EXPECT_INT(add(s, 3, 1000), 0);
	s->high = 3;
	sync_error = EIO;
	coll_sync_work(&y, false);
	sync_error = 0;
	EXPECT_INT(coll_sync_end(&y), -EIO);
	EXPECT_INT(size_of(s->path), size);
	coll_stream_acknowledge(s);
	EXPECT_UINT(s->acked, 1);
	EXPECT_UINT(coll_stream_durable_top(s), 1);
	coll_store_close(&st, s);
	REQUIRE(!coll_store_find(&st, id, &s));
	EXPECT_UINT(s->acked, 1);
	EXPECT_UINT(s->size, size);
	end(&st);
}

/* A client that comes anew has jumped over nothing yet, and an append may fail. */
static void test_sync_and_others(void)
{
	uint8_t id[WIRE_STREAM_ID_BYTES];
	struct coll_stream *s;
	struct coll_store st;
	struct coll_sync y;
	int i;

	for (i = 0; i < 2; i++) {
		begin(&st);
		make_id(id, 15);
		REQUIRE(!coll_store_open(&st, id, &hello, &s));
		EXPECT_INT(add(s, 1, 1000), 0);
		s->high = 7;
		coll_sync_begin(&y, &st.place, s);
		if (i)
			s->high = 0;
		else
			s->cut = true;
		coll_sync_work(&y, false);
		EXPECT_INT(coll_sync_end(&y), 0);
		EXPECT_UINT(s->acked, 1);
		end(&st);
	}
}

/* A file that somebody removes meanwhile is there again, whole. */
static void test_sync_removed(void)
{
	uint8_t id[WIRE_STREAM_ID_BYTES];
	struct coll_stream *s;
	struct coll_store st;
	struct coll_sync y;

	begin(&st);
	make_id(id, 16);
	REQUIRE(!coll_store_open(&st, id, &hello, &s));
	EXPECT_INT(add(s, 1, 1000), 0);
	coll_sync_begin(&y, &st.place, s);
	EXPECT_INT(unlink(s->path), 0);
	coll_sync_work(&y, false);
	EXPECT_INT(add(s, 2, 1000), 0);
	synced_folders = 0;
	EXPECT_INT(coll_sync_end(&y), 0);
	EXPECT(is_synced(s->dir));
	EXPECT_INT(size_of(s->path), s->size);
	EXPECT_UINT(s->acked, 2);
	end(&st);
}

/* A file that cannot be synced when it is taken up again is left as it is. */
static void test_sync_fails_at_start(void)
{
	uint8_t id[WIRE_STREAM_ID_BYTES];
	struct coll_stream *s;
	struct coll_store st;
	char path[400];
	uint64_t size;

	begin(&st);
	make_id(id, 11);
	REQUIRE(!coll_store_open(&st, id, &hello, &s));
	EXPECT_INT(add(s, 1, 1000), 0);
	size = s->size;
	snprintf(path, sizeof(path), "%s", s->path);
	coll_store_close(&st, s);
	sync_error = EIO;
	EXPECT_INT(coll_store_find(&st, id, &s), -EIO);
	sync_error = 0;
	EXPECT_INT(size_of(path), size);
	EXPECT_INT(coll_store_find(&st, id, &s), 0);
	EXPECT_UINT(s->acked, 1);
	end(&st);
}

static void test_removed_and_put_back(void)
{
	uint8_t id[WIRE_STREAM_ID_BYTES];
	struct coll_stream *s;
	struct coll_store st;

	begin(&st);
	make_id(id, 6);
	REQUIRE(!coll_store_open(&st, id, &hello, &s));
	EXPECT_INT(add(s, 1, 300000), 0);
	EXPECT_INT(coll_stream_commit(&st, s), 0);
	nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	EXPECT_INT(size_of(s->path), -1);
	EXPECT_INT(add(s, 2, 10), 0);
	EXPECT_INT(coll_stream_commit(&st, s), 0);
	EXPECT_INT(size_of(s->path), s->size);
	EXPECT_INT(add(s, 3, 10), 0);
	EXPECT_INT(coll_stream_commit(&st, s), 0);
	coll_store_close(&st, s);
	REQUIRE(!coll_store_find(&st, id, &s));
	EXPECT_UINT(s->acked, 3);
	end(&st);
}

/* Numbers that the client jumped over do not hold it up; a failed append does. */
static void test_acknowledge(void)
{
	struct coll_stream s = { .size = 10, .synced = 10, .seqs.top = 4, .acked = 2, .high = 9 };

	s.synced = 5;
	coll_stream_acknowledge(&s);
	EXPECT_UINT(s.acked, 2);
	s.synced = 10;
	s.cut = true;
	coll_stream_acknowledge(&s);
	EXPECT_UINT(s.acked, 4);
	s.cut = false;
	coll_stream_acknowledge(&s);
	EXPECT_UINT(s.acked, 9);
	s.high = 0;
	coll_stream_acknowledge(&s);
	EXPECT_UINT(s.acked, 9);
}

/* A stream that was closed goes on from memory, its index too, unless somebody touched its file. */
static void test_known(void)
{
	uint8_t id[WIRE_STREAM_ID_BYTES];
	struct coll_stream *s;
	struct coll_store st;
	static const struct timespec later[2] = { { 2000000000, 0 }, { 2000000000, 0 } };
	uint64_t first, i;
	char path[400];
	FILE *f;

	begin(&st);
	make_id(id, 8);
	REQUIRE(!coll_store_open(&st, id, &hello, &s));
	for (i = 1; i <= 20; i++) {
		EXPECT_INT(add(s, i, 50), 0);
		EXPECT_INT(coll_stream_commit(&st, s), 0);
		coll_store_close(&st, s);
		count.commits = 0;
		REQUIRE(!coll_store_find(&st, id, &s));
		EXPECT_UINT(s->acked, i);
		EXPECT_UINT(count.commits, 0); /* it did not have to be read */
	}
	EXPECT_UINT(index_records(s, &first), 20);
	snprintf(path, sizeof(path), "%s", s->path);
	coll_store_close(&st, s);
	f = fopen(path, "r+");
	REQUIRE(f && !fseek(f, 100, SEEK_SET) && fputc(0x5a, f) == 0x5a && !fclose(f));
	REQUIRE(!utimensat(AT_FDCWD, path, later, 0)); /* clocks of files tick slowly */
	REQUIRE(!coll_store_find(&st, id, &s));
	EXPECT_UINT(s->acked, 0);
	EXPECT(coll_seq_set_has(&s->seqs, 20));
	end(&st);
}

/* A stream that was not synced, or not to its end, is read again. */
static void test_not_known(void)
{
	uint8_t id[WIRE_STREAM_ID_BYTES];
	struct coll_stream *s;
	struct coll_store st;

	begin(&st);
	make_id(id, 9);
	REQUIRE(!coll_store_open(&st, id, &hello, &s));
	EXPECT_INT(add(s, 1, 50), 0);
	coll_store_close(&st, s);
	REQUIRE(!coll_store_find(&st, id, &s));
	EXPECT_UINT(count.commits, 1);
	EXPECT_UINT(s->acked, 1);
	end(&st);
}

/* Only what is synced is in it, and it is made anew when the stream is opened again. */
static void test_index(void)
{
	uint8_t id[WIRE_STREAM_ID_BYTES];
	struct coll_stream *s;
	struct coll_store st;
	uint64_t first;

	begin(&st);
	make_id(id, 7);
	REQUIRE(!coll_store_open(&st, id, &hello, &s));
	EXPECT_INT(add(s, 1, 100), 0);
	EXPECT_INT(add(s, 2, 100), 0);
	EXPECT_UINT(index_records(s, &first), 0);
	EXPECT_INT(coll_stream_commit(&st, s), 0);
	EXPECT_UINT(index_records(s, &first), 2);
	EXPECT_UINT(first, 0);
	REQUIRE(!truncate(s->index.path, 33));
	coll_store_fini(&st);
	REQUIRE(!coll_store_init(&st, base, &count));
	REQUIRE(!coll_store_find(&st, id, &s));
	EXPECT_UINT(index_records(s, &first), 2);
	end(&st);
}

static void test_many_streams(void)
{
	uint8_t id[WIRE_STREAM_ID_BYTES];
	struct coll_stream *s;
	struct coll_store st;
	int i, round;

	begin(&st);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < 200; i++) {
			make_id(id, i * 7);
			REQUIRE(!coll_store_open(&st, id, &hello, &s));
			EXPECT_INT(add(s, (uint64_t)round + 1, 20), 0);
		}
		EXPECT_UINT(st.streams, 200);
		for (i = 199; i >= 0; i--) {
			make_id(id, i * 7);
			s = coll_store_get(&st, id);
			REQUIRE(s);
			EXPECT_UINT(s->seqs.top, (uint64_t)round + 1);
			coll_store_close(&st, s);
		}
		EXPECT_UINT(st.streams, 0);
	}
	end(&st);
}

int main(void)
{
	return RUN(test_append_and_resume, test_no_run, test_one_writer, test_torn_end,
		   test_damage_amid, test_no_room, test_sync_fails, test_sync_fails_at_start,
		   test_write_back_fails, test_folders_are_kept, test_removed_and_put_back,
		   test_acknowledge, test_index, test_known, test_not_known, test_many_streams) ||
	       RUN(test_sync_meanwhile, test_sync_fails_meanwhile, test_sync_and_others,
		   test_sync_removed);
}
