#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=240
"""Programs of another libc, Debian's musl: with libprof preloaded they say, write and end as without it, and it does
nothing there. Its loader minds no versions of symbols, but every symbol that it does not have."""
import os
import re
import shutil
import sys
import textwrap

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

MUSL_GCC = shutil.which('musl-gcc')
PROGRAMS = {}


def program(name, source, status=0, argv=()):
    PROGRAMS[name] = textwrap.dedent(source), status, argv


program('hello', '''
    #include <stdio.h>
    int main(void) { puts("to stdout"); fprintf(stderr, "to stderr\\n"); return 3; }
    ''', status=3)
program('threads', '''
    #include <pthread.h>
    #include <stdio.h>
    static void *twice(void *p) { *(int *)p *= 2; return p; }
    int main(void) {
        pthread_t t[8]; int n[8], i, sum = 0;
        for (i = 0; i < 8; i++) { n[i] = i; if (pthread_create(&t[i], 0, twice, &n[i])) return 9; }
        for (i = 0; i < 8; i++) { pthread_join(t[i], 0); sum += n[i]; }
        printf("%d\\n", sum); return sum == 56 ? 0 : 1;
    }
    ''')
program('forks', '''
    #include <pthread.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static int before, after;
    static void a(void) { before++; }
    static void b(void) { after++; }
    int main(void) {
        int i, status, sum = 0;
        pthread_atfork(a, b, b);
        for (i = 0; i < 20; i++) {
            pid_t p = i % 2 ? vfork() : fork();
            if (!p) _exit(i);
            waitpid(p, &status, 0); sum += WEXITSTATUS(status);
        }
        printf("%d %d %d\\n", sum, before, after); return 0;
    }
    ''')
program('environment', '''
    #include <stdio.h>
    #include <string.h>
    extern char **environ;
    int main(void) {
        char **e; int n = 0;
        for (e = environ; *e; e++) if (strncmp(*e, "LD_PRELOAD=", 11)) { puts(*e); n++; }
        return n;
    }
    ''', status=None)
program('maps and descriptors', '''
    #include <dirent.h>
    #include <stdio.h>
    int main(void) {
        DIR *d = opendir("/proc/self/fd"); int n = 0;
        while (readdir(d)) n++;
        printf("%d\\n", n); d = opendir("/proc/self/task"); n = 0;
        while (readdir(d)) n++;
        printf("%d\\n", n); return 0;
    }
    ''')
# Both ways: what a program of one libc starts may be of the other, and inherits LD_PRELOAD.
program('starts glibc', '''
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/wait.h>
    int main(int argc, char **argv) {
        puts("before"); fflush(stdout);
        return WEXITSTATUS(system("/bin/sh -c 'echo from a shell; ls -d /; exit 5'"));
    }
    ''', status=5)
program('asks libprof', '''
    #include <dlfcn.h>
    #include <stdio.h>
    static int asked;
    static const void *table(unsigned int id) { asked++; return 0; }
    int main(int argc, char **argv) {
        int (*start)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "InitializeInjection");
        int (*nvtx)(void *) = (int (*)(void *))dlsym(RTLD_DEFAULT, "InitializeInjectionNvtx2");
        if (start && start() != 1) return 1;
        if (nvtx && nvtx((void *)table) != 1) return 2;
        printf("asked %d times\\n", asked); return 0;
    }
    ''')
program('dies', '#include <stdlib.h>\nint main(void) { abort(); }\n', status=-6)


def build(where, name, source):
    path = os.path.join(where, re.sub(r'\W', '-', name))
    with open(path + '.c', 'w', encoding='utf-8') as f:
        f.write(source)
    done = gs.command([MUSL_GCC, '-O1', '-w', '-o', path, path + '.c'])
    gs.equal((done.returncode, done.stderr), (0, b''), f'{name}: compiling')
    needed = gs.command(['readelf', '-d', path]).stdout.decode()
    gs.check('[libc.so]' in needed and 'libc.so.6' not in needed, f'{name}: is of musl')
    return path


def play(where, argv, preload):
    """(stdout, stderr, status, files) of the program in a folder of its own, with libprof or without."""
    folder = os.path.join(where, 'at', 'work')
    os.makedirs(folder)
    env = dict(PATH='/usr/bin:/bin', **({'LD_PRELOAD': gs.LIBPROF} if preload else {}))
    done = gs.command(argv, env=env, cwd=folder)
    files = sorted(os.listdir(folder))
    shutil.rmtree(folder)
    return done.stdout, done.stderr, done.returncode, files


def libc(program):
    """Names that musl's libc has, which is its loader, too."""
    path = re.search(r'interpreter: ([^]]+)', gs.command(['readelf', '-lW', program]).stdout.decode())[1]
    found = gs.command(['nm', '-D', '--defined-only', path]).stdout.decode()
    return {line.split()[-1] for line in found.splitlines()}


if not MUSL_GCC:
    gs.skip('no musl-gcc (musl-tools)')
undefined = gs.command(['nm', '-D', '--undefined-only', gs.LIBPROF]).stdout.decode()
strong = set(re.findall(r'^ +U ([^@\s]+)', undefined, re.M))
with gs.scratch() as where:
    for name, (source, status, argv) in PROGRAMS.items():
        path = build(where, name, source)
        plain = play(where, [path, *argv], False)
        if status is not None:
            gs.equal(plain[2], status, f'{name}: alone')
        gs.equal(play(where, [path, *argv], True), plain, f'{name}: with libprof')
    have = libc(os.path.join(where, 'hello'))
    gs.check('malloc' in strong and 'malloc' in have, 'no names were read')
    gs.equal(strong - have, set(), 'needed, and not in musl')
    # A shell of glibc starts one of musl, and what it sets for its children reaches through it.
    path = os.path.join(where, 'hello')
    plain = play(where, ['/bin/sh', '-c', f'echo a; {path}; echo $?'], False)
    gs.check(plain[0] == b'a\nto stdout\n3\n', f'musl below glibc: {plain}')
    gs.equal(play(where, ['/bin/sh', '-c', f'echo a; {path}; echo $?'], True), plain, 'musl below glibc')
gs.finish()
