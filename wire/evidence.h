/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evidence of what the host did while GPUs waited: samples (one look at one thread) and batches
 * (one step in the life of a loader's batch). Both are rows, stored column by column in frames of
 * their own (Samples, Workers) behind the same plain head as blocks.
 *
 * A stream carries the rows of its own process and of the loader workers below it; rows of the
 * same thread are in order of time, rows of different threads need not be. Times are those of
 * event.h. docs/FORMAT.md gives the columns byte by byte.
 *
 * Any thread. Both ways take scratch memory while they run: about 25 bytes a row.
 */
#ifndef WIRE_EVIDENCE_H
#define WIRE_EVIDENCE_H

#include <stddef.h>
#include <stdint.h>
#include "block.h"
#include "buf.h"

/* wire_block_head.kind of Samples and Workers frames. Numbers are part of the format. */
enum wire_evidence_kind {
	WIRE_KIND_SAMPLE = 16,
	WIRE_KIND_BATCH = 17,
};

enum wire_role { /* wire_sample.role */
	WIRE_ROLE_OTHER = 0, /* some thread of the trainer */
	WIRE_ROLE_SUBMITTER = 1, /* it submits to the GPU, or waits for the loader */
	WIRE_ROLE_WORKER = 2, /* the main thread of a loader worker */
	WIRE_ROLE_PIN = 3, /* the trainer's pin-memory thread */
	WIRE_ROLE_WORKER_OTHER = 4, /* another thread of a loader worker */
	WIRE_ROLE_PRODUCER = 5, /* it makes what another thread waits for, as links tell */
	WIRE_ROLE_FEEDER = 6, /* Python's: hands work to a submitter without it, or may start one */
};

enum wire_state { /* wire_sample.state: the kernel's letter, as far as it tells something */
	WIRE_STATE_UNKNOWN = 0,
	WIRE_STATE_RUNNING = 1, /* R: on a CPU or waiting for one; cpu_ns and delay_ns tell */
	WIRE_STATE_SLEEPING = 2, /* S */
	WIRE_STATE_DISK = 3, /* D */
	WIRE_STATE_STOPPED = 4, /* T or t */
	WIRE_STATE_GONE = 5, /* Z or X */
};

enum wire_wait { /* wire_sample.wait: what a thread that does not run waits for */
	WIRE_WAIT_NONE = 0, /* it runs */
	WIRE_WAIT_READ = 1, /* reading a file: read, pread, open, getdents, stat, mmap of one */
	WIRE_WAIT_WRITE = 2, /* writing or syncing a file */
	WIRE_WAIT_FAULT = 3, /* a page fault that needs the disk (syscall -1 in state D) */
	WIRE_WAIT_SOCKET =
		4, /* recv, send, connect, or poll on a socket that is no queue of torch */
	WIRE_WAIT_PIPE = 5, /* read, write or poll of a pipe that is no queue of torch */
	WIRE_WAIT_QUEUE = 6, /* a queue between trainer and workers: for work, or for a batch */
	WIRE_WAIT_SLEEP = 7, /* nanosleep, poll or select of nothing with a timeout */
	WIRE_WAIT_GIL = 8, /* Python's global lock */
	WIRE_WAIT_LOCK_SHARED =
		9, /* a lock shared by processes (futex without PRIVATE, semaphore) */
	WIRE_WAIT_LOCK = 10, /* a lock, condition or queue inside the process */
	WIRE_WAIT_CHILD = 11, /* wait4, waitid */
	WIRE_WAIT_GPU = 12, /* the driver: an ioctl or poll of a /dev/nvidia* descriptor */
	WIRE_WAIT_STOPPED = 13, /* SIGSTOP or a debugger */
	WIRE_WAIT_OTHER = 14, /* blocked in something else; syscall tells */
	WIRE_WAIT_UNKNOWN = 15, /* blocked; the kernel does not let us see in what */
};

enum wire_sample_flag { /* wire_sample.flags */
	WIRE_SAMPLE_FL_TORN =
		1 << 0, /* the Python stack changed while it was read: none is given */
	WIRE_SAMPLE_FL_NO_PYTHON = 1 << 1, /* no Python stack can be had of this process */
	WIRE_SAMPLE_FL_STEADY = 1 << 2, /* the thread never ran while it was looked at: exact */
	WIRE_SAMPLE_FL_GIL = 1 << 3, /* the thread held Python's global lock */
	WIRE_SAMPLE_FL_BY_PARENT = 1 << 4, /* a worker, looked at from the trainer */
	WIRE_SAMPLE_FL_CENSUS = 1 << 5, /* state only, no stack was asked for */
	WIRE_SAMPLE_FL_GC = 1 << 6, /* Python's garbage collector was running in the process */
};

#define WIRE_STACK_FRAMES_MAX 64

#define WIRE_SYSCALL_UNKNOWN 0u
#define WIRE_SYSCALL_NONE 0xffffu /* in the kernel without a system call: a page fault */

/*
 * Stacks are strings: one frame per line ('\n'), innermost first, at most WIRE_STACK_FRAMES_MAX of
 * them; a frame is function, tab, file, tab, line, and of a generator or coroutine tab, "g"; what
 * else stands behind the line is to be left out. Behind the functions of an event loop that sleeps
 * in its selector may stand those of a coroutine of it that is suspended, with "s" in place of "g":
 * where it will go on. A native frame is module path, tab, hexadecimal offset in the file's address
 * space, tab, build id in hexadecimal ("" if it has none); frames inside Python's own interpreter
 * are one frame "<python>". A native stack is that of a blocked thread; a thread without Python
 * that runs (WIRE_ROLE_PRODUCER) has its outermost frames alone: the function that it was started
 * with, below it perhaps the first one of a library. A string holds WIRE_STRING_BYTES_MAX bytes: of
 * a longer stack whoever makes it leaves out whole frames, the outermost ones.
 */
struct wire_sample {
	int64_t t_ns;
	uint64_t cpu_ns; /* time on a CPU since the thread began (schedstat); 0: not known */
	uint64_t delay_ns; /* time it could run and got no CPU, since it began */
	uint64_t throttled_ns; /* of its cgroup: time throttled since any fixed instant; 0: none */
	uint64_t rchar_bytes; /* that read() and its kin gave it since it began; 0: not known */
	uint32_t period_ns; /* the sampler looked again after so long: what the sample stands for */
	uint32_t pid, tid; /* as the process itself sees them */
	uint32_t stack; /* string id of the Python stack, 0: none */
	uint32_t native; /* string id of the native stack, 0: none; see below */
	uint32_t target; /* string id: file, "socket:peer", "pipe" the thread waits for, 0: none */
	uint32_t fs; /* string id: the file system's type as mountinfo names it, 0: none */
	uint32_t links; /* string id: what it waits for and what it can give, 0: none; see below */
	uint16_t syscall; /* number plus 1, or WIRE_SYSCALL_* */
	uint8_t role; /* enum wire_role */
	uint8_t state; /* enum wire_state */
	uint8_t wait; /* enum wire_wait */
	uint8_t flags; /* enum wire_sample_flag */
};

/*
 * What joins a thread that waits to those who make what it waits for, in the text of links: words
 * with one space between them, at most 8.
 *	?ID	it is blocked waiting for this; of several the innermost first
 *	!ID	it holds this, and code on its stack gives: it can end the wait of who waits for it
 *	>ID	the same, and it is blocked giving just now: it writes to a pipe that is full
 *	~ID	it holds this; nothing in its code is seen to give
 * An ID means the same in all samples of a stream, as long as what it names lives:
 *	oHEX	a Python object by its address; forked children of the process share it
 *	qHEX	the same of a queue whose get() is C (SimpleQueue), or of a semaphore of
 *		multiprocessing that counts: who waits takes from it
 *	pINODE	a pipe or FIFO
 *	uINODE-INODE	a pair of Unix sockets, the lower inode first
 *	tADDR:PORT-ADDR:PORT	a TCP connection within the host, the lower text first
 *	sINODE	another socket, whose other end is not known
 *	lADDR	a listening socket: who waits there waits for requests
 *	aADDR	behind a connection: it was accepted at this address, that of a listening socket
 *	dADDR:PORT	behind a TCP connection: it brings data, 4 KiB or more for each look at its waiter
 *	fDEV:INODE:OFFSET	a lock or semaphore in a shared mapping
 *	mDEV:INODE	memory that processes share by a file, 64 KiB of it or more; who sleeps may look there
 *	nHEX	a native lock or condition by its address, rounded down to 8 bytes
 * and, of a thread without Python or of another program,
 *	=NAME	what it is called; blanks, control characters and '%' as '%' and two hexadecimal digits
 */
#define WIRE_LINKS_MAX 8

enum wire_batch_what { /* wire_batch.what */
	WIRE_BATCH_OPEN = 1, /* trainer: an iterator is made; text has the loader's settings */
	WIRE_BATCH_FETCH = 2, /* a worker (or with none the trainer) makes a batch */
	WIRE_BATCH_TAKE = 3, /* trainer: one call of next(), from its very start to its return */
	WIRE_BATCH_PIN = 4, /* pin thread: pins a batch */
	WIRE_BATCH_CLOSE = 5, /* trainer: the iterator shuts its workers down */
};

/*
 * Settings of a loader, in text of OPEN: "key=value" separated by spaces; keys workers, prefetch,
 * batch, pin, persistent, start (fork, spawn, forkserver), in_order, iterable (1: batches of an
 * iterable data set, of which each worker's last one may be short), dataset (class name), kind
 * (torch), made ("/srv/train.py:45", the call that made the loader; "%20" for a byte that is no
 * printable ASCII, and for "%"). What is not known is not there.
 */
#define WIRE_BATCH_INDEX_UNKNOWN UINT64_MAX

/*
 * In samples of OPEN: number of the data set that the iterator goes over in the way that it does,
 * from 1, in its process. Two numbers: not the same data set, or not by the same sampler. Loaders
 * that are made anew over the same data set have the same one. 0: nobody tells, as in earlier
 * traces.
 */

/* What came of a call of next(): in samples of TAKE; 0: nobody tells, as in earlier traces. */
enum wire_take {
	WIRE_TAKE_BATCH = 1,
	WIRE_TAKE_END = 2, /* the loader had no more */
	WIRE_TAKE_ERROR = 3,
	WIRE_TAKE_LAST = 4, /* with the others: calls after this one are not told of for a while */
};

struct wire_batch {
	int64_t start_ns, end_ns;
	uint64_t batch; /* its index in the iterator's order, from 0; OPEN, CLOSE: none, 0 */
	uint64_t cpu_ns, delay_ns; /* of the thread, during this row */
	/* FETCH: bytes returned by read() and the like, page cache included */
	uint64_t rchar_bytes;
	/* FETCH: bytes that came from a disk; 0 where the kernel does not tell */
	uint64_t read_bytes;
	uint64_t major_faults; /* FETCH */
	uint32_t pid, tid;
	uint32_t loader; /* number of the iterator in the trainer, from 1 */
	uint32_t worker; /* FETCH: number of the worker plus 1; 0: the trainer itself */
	/*
	 * FETCH: samples in the batch, 0: not known, or none came; TAKE: enum wire_take; OPEN: what
	 * is gone over, see below
	 */
	uint32_t samples;
	uint32_t text; /* string id, OPEN: settings */
	uint8_t what; /* enum wire_batch_what */
};

/*
 * Appends the columns of @n rows (1 to WIRE_BLOCK_EVENTS_MAX); the head gets kind, count, times (of
 * a sample start and end are its one instant) and string_max. 0, -EINVAL (n), -ENOMEM or a buffer
 * error; on error nothing was appended. wire_encoder_samples and _batches make whole frames.
 */
int wire_samples_encode(const struct wire_sample *s, size_t n, struct wire_block_head *head,
			struct wire_buf *out);
int wire_batches_encode(const struct wire_batch *b, size_t n, struct wire_block_head *head,
			struct wire_buf *out);

/* The head alone; n > 0. */
void wire_samples_head(const struct wire_sample *s, size_t n, struct wire_block_head *head);
void wire_batches_head(const struct wire_batch *b, size_t n, struct wire_block_head *head);

/*
 * Decodes @count rows into the caller's array. Every byte is checked: -EBADMSG. -EPROTO: a later
 * version's, not to be read by this one; -ENOMEM. Values of enums are not checked: a reader takes
 * those that it does not know as unknown. wire_file_samples and _batches read whole frames.
 */
int wire_samples_decode(uint32_t count, const uint8_t *columns, size_t len, struct wire_sample *s);
int wire_batches_decode(uint32_t count, const uint8_t *columns, size_t len, struct wire_batch *b);

#endif
