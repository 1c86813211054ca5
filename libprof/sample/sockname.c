/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places by inode; one pass over the tables fills all that are wanted. The forms of the lines
 * are those of net/ipv4/tcp_ipv4.c, net/ipv6/tcp_ipv6.c and net/unix/af_unix.c of Linux.
 */
#include "sockname.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/clockpoll.h"
#include "core/hash.h"
#include "sockbytes.h"
#include "sockpeer.h"

#define SETS 64u /* a power of two */
/* sockets of a program have numbers that lie together, those of several programs meet */
#define WAYS 4u
#define PLACES (SETS * WAYS)
#define LISTENERS 256u
#define DATA_BYTES 65536
#define DATA_LOOK_BYTES 4096
#define REFUSALS 4u /* then the kernel is not asked again */
#define SECOND_NS 1000000000ll
#define PASS_NS 200000000ll
#define PASS_UNIX_NS 100000000ll /* one that reads no table of TCP's costs a hundredth */
#define SHARE 400 /* of a core, one in so many */
#define SAVED_MOST_NS 80000000ll /* the first passes have that */
#define KEEP_NS (60 * SECOND_NS)
/* an answer that may still come whole: nobody has accepted yet */
#define KEEP_PART_NS (3 * SECOND_NS)
#define FILE_BYTES (256u << 10) /* about 1,700 sockets */
#define FILE_NS 5000000ll
#define TITLE_BYTES 200u
/* a read that brings less was the last: the kernel fills a page with lines */
#define LAST_BYTES 2048
#define TCP_LISTENS 0x0au
#define UNIX_LISTENS 0x10000u /* __SO_ACCEPTCON */

enum table {
	TCP,
	TCP6,
	UNIX,
	TABLES
};

#define BIT(t) (1u << (t))
#define OF_TCP (BIT(TCP) | BIT(TCP6))
#define ANY (BIT(TABLES) - 1)

enum family {
	UNKNOWN,
	TCP_SOCKET,
	UNIX_SOCKET
};

struct place {
	uint64_t inode; /* 0: free */
	int64_t asked_ns; /* last */
	int64_t known_ns; /* looked up then; 0: wanted */
	unsigned int tables; /* in which it may be; a bit each */
	enum family family; /* UNKNOWN: not found */
	uint64_t peer;
	bool accepted;
	int64_t first_bytes; /* that had come when it was asked about first */
	uint32_t looks; /* since then */
	bool data;
	struct prof_socket_line line;
};

static struct place place[PLACES];
static uint64_t listener[LISTENERS]; /* in this pass: hashes of where somebody listens */
static size_t listeners;
static unsigned int refusals; /* of answers about bytes, in a row */
static bool tells; /* the kernel has told a connection's inode by its ends */
static int64_t pass_ns, pass_unix_ns; /* not before then */
static int64_t fed_ns, saved_ns; /* CPU time that may be spent; below 0: too much was */

/*
 * ---- places -----------------------------------------------------------------------------------
 */

static struct place *find(uint64_t inode)
{
	struct place *set = place + inode % SETS * WAYS;
	size_t i;

	for (i = 0; inode && i < WAYS; i++)
		if (set[i].inode == inode)
			return &set[i];
	return NULL;
}

/* Its place; else that of the one that was asked for longest ago, as a new one. */
static struct place *place_for(uint64_t inode, int64_t now_ns)
{
	struct place *set = place + inode % SETS * WAYS, *p = find(inode);
	size_t i;

	if (!p) {
		p = set;
		for (i = 1; i < WAYS; i++)
			if (set[i].asked_ns < p->asked_ns)
				p = &set[i];
		*p = (struct place){ .inode = inode, .tables = ANY };
	}
	p->asked_ns = now_ns;
	return p;
}

/*
 * ---- lines ------------------------------------------------------------------------------------
 */

uint64_t prof_socket_inode(const char *link)
{
	return strncmp(link, "socket:[", 8) ? 0 : strtoull(link + 8, NULL, 10);
}

/*
 * The address is printed as words of this machine: put back into memory they are in network order.
 */
static bool read_address(const char *text, bool six, char *out, socklen_t room)
{
	size_t words = six ? 4 : 1, i;
	uint32_t raw[4];
	char part[9];

	for (i = 0; i < words; i++) {
		memcpy(part, text + 8 * i, 8);
		part[8] = 0;
		raw[i] = (uint32_t)strtoul(part, NULL, 16);
	}
	return inet_ntop(six ? AF_INET6 : AF_INET, raw, out, room);
}

void prof_socket_address(const char *printed, char *out, size_t room)
{
	const char *colon = strchr(printed, ':');
	bool six = colon && colon - printed == 32;
	char text[INET6_ADDRSTRLEN];

	*out = 0;
	if (!colon || (!six && colon - printed != 8) ||
	    !read_address(printed, six, text, sizeof(text)))
		return;
	snprintf(out, room, six ? "[%s]:%lu" : "%s:%lu", text, strtoul(colon + 1, NULL, 16));
}

/* A socket of IPv6 that speaks IPv4: its peer may be one of IPv4. */
static const char *inner(const char *address)
{
	static const char *const mapped[] = { "0000000000000000FFFF0000",
					      "00000000000000000000FFFF" };

	if (!strncmp(address, mapped[0], 24) || !strncmp(address, mapped[1], 24))
		return address + 24;
	return address;
}

bool prof_socket_line_tcp(const char *line, bool six, struct prof_socket_line *out)
{
	char near[36], far[36];
	unsigned int near_port, far_port, state;
	unsigned long long number;

	if (sscanf(line, " %*u: %35[0-9A-F]:%x %35[0-9A-F]:%x %x %*x:%*x %*x:%*x %*x %*u %*u %llu",
		   near, &near_port, far, &far_port, &state, &number) != 6 ||
	    strlen(near) != (six ? 32 : 8) || strlen(far) != strlen(near) || !number ||
	    near_port > UINT16_MAX || far_port > UINT16_MAX)
		return false;
	memset(out, 0, sizeof(*out));
	out->inode = number;
	out->listens = state == TCP_LISTENS;
	snprintf(out->near, sizeof(out->near), "%s:%04X", inner(near), near_port);
	if (far_port)
		snprintf(out->far, sizeof(out->far), "%s:%04X", inner(far), far_port);
	return true;
}

bool prof_socket_line_unix(const char *line, struct prof_socket_line *out)
{
	unsigned long long number;
	unsigned int flags;
	int at = 0;

	if (sscanf(line, "%*[0-9a-f]: %*x %*x %x %*x %*x %llu%n", &flags, &number, &at) != 2 ||
	    !at || !number)
		return false;
	memset(out, 0, sizeof(*out));
	out->inode = number;
	out->listens = flags & UNIX_LISTENS;
	line += at;
	line += *line == ' ';
	snprintf(out->path, sizeof(out->path), "%.107s", line);
	return true;
}

/*
 * ---- passes -----------------------------------------------------------------------------------
 */

static bool empty[TABLES]; /* nothing but a title was in it */

static bool is_pair(const struct prof_socket_line *a, const struct prof_socket_line *b)
{
	return *a->far && !strcmp(a->far, b->near) && !strcmp(a->near, b->far);
}

/*
 * Of a port at all addresses ":PORT", of one at one address that, too; of a unix socket its path.
 */
static const char *name_of_listener(const struct prof_socket_line *l)
{
	const char *port = strrchr(l->near, ':');

	if (!port)
		return l->path;
	return strspn(l->near, "0") == (size_t)(port - l->near) ? port : l->near;
}

static bool is_listener(const char *name)
{
	uint64_t hash = prof_hash_text(name);
	size_t i;

	for (i = 0; *name && i < listeners; i++)
		if (listener[i] == hash)
			return true;
	return false;
}

static bool was_accepted(const struct prof_socket_line *l)
{
	const char *port = strrchr(l->near, ':');

	if (l->listens)
		return false;
	return port ? is_listener(port) || is_listener(l->near) : is_listener(l->path);
}

/*
 * A connection's other end may come before the one that is wanted: it is found in a second round.
 */
static void take(const struct prof_socket_line *l, enum table table)
{
	enum family family = table == UNIX ? UNIX_SOCKET : TCP_SOCKET;
	struct place *p = find(l->inode);
	size_t i;

	if (l->listens && listeners < LISTENERS && *name_of_listener(l))
		listener[listeners++] = prof_hash_text(name_of_listener(l));
	if (p) {
		p->tables = BIT(table);
		p->family = family;
		p->line = *l;
	}
	for (i = 0; family == TCP_SOCKET && i < PLACES; i++)
		if (place[i].family == TCP_SOCKET && is_pair(&place[i].line, l))
			place[i].peer = l->inode;
}

static void take_line(const char *line, enum table table)
{
	struct prof_socket_line l;

	if (table == UNIX ? prof_socket_line_unix(line, &l)
			  : prof_socket_line_tcp(line, table == TCP6, &l))
		take(&l, table);
}

/* Takes the whole lines and leaves the rest at the beginning; how long that is. */
static size_t take_lines(char *text, size_t len, enum table table)
{
	char *line = text, *end;

	while ((end = memchr(line, '\n', len - (size_t)(line - text)))) {
		*end = 0;
		take_line(line, table);
		line = end + 1;
	}
	len -= (size_t)(line - text);
	memmove(text, line, len);
	return len;
}

static enum table listed;

static void take_listed(const struct prof_tcp_socket *s)
{
	struct prof_socket_line l = { .inode = s->inode, .listens = s->listens };

	snprintf(l.near, sizeof(l.near), "%s", inner(s->near));
	snprintf(l.far, sizeof(l.far), "%s", inner(s->far));
	empty[listed] = false;
	take(&l, listed);
}

/* False: the kernel does not tell. */
static bool list_table(enum table table)
{
	listed = table;
	empty[table] = true;
	return prof_tcp_list(table == TCP6, FILE_NS, take_listed) != PROF_TCP_REFUSED;
}

static void print_table(enum table table)
{
	static const char *const path[] = { "/proc/self/net/tcp", "/proc/self/net/tcp6",
					    "/proc/self/net/unix" };
	long fd = syscall(SYS_openat, AT_FDCWD, path[table], O_RDONLY | O_CLOEXEC), n;
	int64_t until = prof_cpu_ns() + FILE_NS;
	size_t kept = 0, all = 0;
	char text[8192];

	if (fd < 0)
		return;
	do {
		n = syscall(SYS_read, (int)fd, text + kept, sizeof(text) - kept);
		if (n <= 0)
			break;
		all += (size_t)n;
		kept = take_lines(text, kept + (size_t)n, table);
	} while (n >= LAST_BYTES && kept < sizeof(text) && all < FILE_BYTES &&
		 prof_cpu_ns() < until);
	empty[table] = all < TITLE_BYTES;
	syscall(SYS_close, (int)fd);
}

static void read_table(enum table table)
{
	if (table == UNIX || !list_table(table))
		print_table(table);
}

static bool lacks_peer(const struct place *p)
{
	return p->inode && !p->known_ns && p->family && !p->line.listens && !p->peer;
}

/* Nobody has the other end's inode of a connection that came from another host. False: not told. */
static bool ask_peer(struct place *p)
{
	if (p->family == UNIX_SOCKET) {
		p->peer = prof_unix_peer(p->inode);
		return true;
	}
	tells = tells || prof_tcp_inode(p->line.near, p->line.far) == p->inode;
	if (tells)
		p->peer = prof_tcp_inode(p->line.far, p->line.near);
	return tells;
}

/*
 * Else it is looked for in the tables, in which it may have stood before the one that was wanted.
 */
static void ask_peers(void)
{
	bool again = false;
	size_t i;

	for (i = 0; i < PLACES; i++)
		if (lacks_peer(&place[i]))
			again |= !ask_peer(&place[i]);
	for (i = TCP; again && i <= TCP6; i++)
		if (!empty[i])
			read_table((enum table)i);
}

static bool is_wanted(const struct place *p)
{
	return p->inode && !p->known_ns && p->tables;
}

static unsigned int wanted_tables(void)
{
	unsigned int tables = 0;
	size_t i;

	for (i = 0; i < PLACES; i++)
		if (is_wanted(&place[i]))
			tables |= place[i].tables;
	return tables;
}

/* A program with a new socket in each step asks all the time. */
static bool may_pass(int64_t *next_ns, int64_t step_ns, int64_t now_ns)
{
	if (now_ns < *next_ns)
		return false;
	*next_ns = now_ns + step_ns;
	saved_ns += fed_ns ? (now_ns - fed_ns) / SHARE : SAVED_MOST_NS;
	fed_ns = now_ns;
	if (saved_ns > SAVED_MOST_NS)
		saved_ns = SAVED_MOST_NS;
	return saved_ns > 0;
}

/* What is in none of the tables that were read stays wanted if it may be in another one. */
static void pass(unsigned int tables, int64_t now_ns)
{
	int64_t begin = prof_cpu_ns();
	size_t i;
	int t;

	listeners = 0;
	for (t = 0; t < TABLES; t++)
		if (tables & BIT(t))
			read_table((enum table)t);
	ask_peers();
	for (i = 0; i < PLACES; i++)
		if (place[i].inode && !(place[i].tables & ~tables)) {
			place[i].known_ns = now_ns;
			place[i].accepted |= was_accepted(&place[i].line);
		}
	saved_ns -= prof_cpu_ns() - begin;
}

static void look_up(const struct place *p, int64_t now_ns)
{
	if (p->tables == BIT(UNIX) && may_pass(&pass_unix_ns, PASS_UNIX_NS, now_ns))
		pass(BIT(UNIX), now_ns);
	else if (p->tables & OF_TCP && may_pass(&pass_ns, PASS_NS, now_ns))
		pass(wanted_tables(), now_ns);
}

static bool is_old(const struct place *p, int64_t now_ns)
{
	bool whole = p->family && (p->line.listens || p->peer);

	return p->known_ns && now_ns - p->known_ns > (whole ? KEEP_NS : KEEP_PART_NS);
}

static const struct place *place_of(uint64_t inode)
{
	static const struct place none;
	int64_t now = prof_mono_ns();
	struct place *p;

	if (!inode)
		return &none;
	p = place_for(inode, now);
	if (is_old(p, now))
		*p = (struct place){ .inode = inode, .asked_ns = now, .tables = p->tables };
	if (is_wanted(p))
		look_up(p, now);
	return p;
}

/* Sockets have their protocol as an attribute, which lsof reads, too: nothing is opened. */
static unsigned int tables_of(const char *path)
{
	char name[32] = "";

	if (syscall(SYS_getxattr, path, "system.sockprotoname", name, sizeof(name) - 1) <= 0)
		return ANY;
	return !strncmp(name, "UNIX", 4) ? BIT(UNIX)
	       : !strcmp(name, "TCP")	 ? BIT(TCP)
	       : !strcmp(name, "TCPv6")	 ? BIT(TCP6)
					 : 0;
}

void prof_socket_met(uint64_t inode, const char *path)
{
	struct place *p = find(inode);

	if (!inode || (p && p->tables != ANY))
		return;
	place_for(inode, prof_mono_ns())->tables = tables_of(path);
}

/* A unix socket's name that does not begin with / is abstract, or there is none. */
void prof_socket_name(uint64_t inode, char *name, size_t room)
{
	const struct place *p = place_of(inode);
	char far[64] = "";

	if (inode && p->family == UNIX_SOCKET) {
		snprintf(name, room, "socket:%.100s", *p->line.path == '/' ? p->line.path : "unix");
		return;
	}
	if (inode && p->family == TCP_SOCKET)
		prof_socket_address(p->line.far, far, sizeof(far));
	snprintf(name, room, *far ? "socket:%s" : "socket", far);
}

static void link_of(const struct place *p, char id[PROF_LINK_ID])
{
	char near[64], far[64];

	prof_socket_address(p->line.near, near, sizeof(near));
	prof_socket_address(p->line.far, far, sizeof(far));
	if (p->line.listens)
		prof_link_listens(id, p->family == UNIX_SOCKET ? p->line.path : near);
	else if (p->family == UNIX_SOCKET && p->peer)
		prof_link_pair(id, p->inode, p->peer);
	else if (*near && *far)
		prof_link_tcp(id, near, far);
}

void prof_socket_link(uint64_t inode, char id[PROF_LINK_ID], uint64_t *peer)
{
	const struct place *p = place_of(inode);

	*id = 0;
	*peer = inode ? p->peer : 0;
	if (inode && p->family)
		link_of(p, id);
}

void prof_socket_accepted(uint64_t inode, char id[PROF_LINK_ID])
{
	const struct place *p = place_of(inode);
	char near[64];

	*id = 0;
	if (!inode || !p->accepted)
		return;
	prof_socket_address(p->line.near, near, sizeof(near));
	prof_link_accepted(id, p->family == UNIX_SOCKET ? p->line.path : near);
}

static void count_bytes(struct place *p)
{
	int64_t bytes = prof_tcp_received(p->line.near, p->line.far);

	refusals = bytes < 0 ? refusals + 1 : 0;
	if (bytes < 0)
		return;
	if (!p->looks++)
		p->first_bytes = bytes;
	bytes -= p->first_bytes;
	p->data = bytes >= DATA_BYTES && bytes >= (int64_t)DATA_LOOK_BYTES * p->looks;
}

void prof_socket_data(uint64_t inode, char id[PROF_LINK_ID])
{
	struct place *p = find(inode);
	char far[64];

	*id = 0;
	if (!p || p->family != TCP_SOCKET || p->line.listens)
		return;
	if (refusals < REFUSALS)
		count_bytes(p);
	if (!p->data)
		return;
	prof_socket_address(p->line.far, far, sizeof(far));
	prof_link_data(id, far);
}

void prof_socket_ends(const char *id, uint64_t inode[2])
{
	char its[PROF_LINK_ID];
	size_t i;

	inode[0] = inode[1] = 0;
	for (i = 0; i < PLACES; i++) {
		*its = 0;
		if (place[i].inode && place[i].family)
			link_of(&place[i], its);
		if (strcmp(its, id))
			continue;
		inode[0] = place[i].inode;
		inode[1] = place[i].peer;
	}
}
