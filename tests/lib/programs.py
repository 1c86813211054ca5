# SPDX-License-Identifier: Apache-2.0
"""The programs of Debian's that manners.py plays, as rows. docs/OPERATIONS.md explains what differs."""
from manners import PIDS, TIMES, Case

PROGRAMS = []
GIT = '''
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
    export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
'''
HELLO = {'a.c': '#include <stdio.h>\nint main(void) { puts("hello"); return 5; }\n'}
# As somebody whom the kernel's limits on processes hold.
OTHER = 'setpriv --reuid=54321 --regid=54321 --clear-groups'


def case(name, script, *args, **kw):
    PROGRAMS.append(Case(name, script, *args, **kw))


# ---- shells and what they are made of

case('bash', '''
    seq 1 2000 | sort -r | awk '{s += $1} END {print s}' | tee sum.txt
    (echo to stderr >&2; exit 4) || echo status $?
    for i in 1 2 3; do (sleep 0.01; echo $i) & wait; done
    cat <(echo one) <(echo two)
    ls -l /proc/self/fd | wc -l
    trap 'echo trapped' USR1; kill -USR1 $$; ulimit -a | sha256sum
    exit 3
    ''', ci=True)
case('dash', "exec dash -c 'x=$(seq 5 | wc -l); echo $x; kill -TERM $$'", 'dash', ci=True)
case('zsh', '''zsh -fc 'setopt extendedglob; print -l {1..3} *(N); a=(x y); print ${#a}; exit 6' ''', 'zsh', 'zsh')
case('fish', "fish -c 'for i in (seq 3); echo $i; end; false; echo $status; exit 3'", 'fish', 'fish')
case('busybox', 'busybox sh -c "seq 3 | sort -r; ls /proc/self/fd | wc -l"; busybox md5sum a; busybox tar c a | wc -c',
     'busybox', 'busybox-static', files={'a': 'text\n'})
case('coreutils', '''
    printf 'b 2\\na 1\\nc 3\\n' >f; sort -k2n f; join f f; paste f f; split -l1 f part.; cat part.*; tac f
    cp -a f g; ln -s f h; stat -c '%s %a %F' f g h; timeout 0.2 sleep 5; echo $?; nice -n 3 nice; env -i /usr/bin/env
    stdbuf -oL echo x | head -1; nohup true; chmod 400 g; dd if=/dev/zero of=z bs=4k count=3 status=none; sha256sum z
    numfmt --to=iec 123456; date -d @0 -u; nproc; mktemp -u | wc -c; truncate -s 5000 z; shred -n1 -u z; ls
    ''')

case('findutils and grep', '''
    mkdir -p d/e; touch d/a d/e/b; find d -type f -exec echo {} + | sort; find d -name b -delete
    find d | sort | xargs -n1 -P2 basename | sort; grep -rc x d; seq 100 | grep -E '^.?7$'; find . -size +1G
    ''')
case('script and expect', '''
    script -qec 'tty >/dev/null && echo a terminal; exit 4' log >/dev/null; echo $?; sed 's/.*on.*//' log | tr -d '\\r'
    expect -c 'spawn -noecho bash -c {read -p "name? " x; echo hello $x}; expect "name?"; send "tcl\\r"; expect eof'
    ''', 'script expect', 'expect', varies=[(rb'Script[^\n]*\n', b'')])
case('tmux', '''
    tmux -L t -f /dev/null new-session -d -x 80 -y 24 'echo inside; sleep 0.3; seq 3 >made; sleep 20'
    for i in $(seq 100); do [ -s made ] && break; sleep 0.05; done
    tmux -L t capture-pane -p | grep .; tmux -L t list-sessions -F '#{session_name} #{session_windows}'
    tmux -L t kill-server; cat made; rm -rf tmux-*
    ''', 'tmux', 'tmux')
case('screen', '''
    export SCREENDIR=$PWD/s; mkdir -m 700 s
    screen -dmS one bash -c 'seq 3 >made; sleep 20'
    for i in $(seq 100); do [ -s made ] && break; sleep 0.05; done
    screen -S one -X quit; cat made; sleep 0.3; ls s
    ''', 'screen', 'screen')

# ---- editors

case('vim', 'vim -N -u NONE -i NONE a.txt; cat a.txt', 'vim', 'vim-nox',
     files={'a.txt': 'alpha\nbeta\n'}, terminal=True, stdin=b'oone two\x1b:%s/one/three/\r\0:w\r\0:q\r')
case('vim in batch', "vim -N -u NONE -i NONE -es a.txt -c '%s/a/A/g' -c 'wq'; cat a.txt", 'vim', 'vim-nox',
     files={'a.txt': 'alpha\nbeta\n'})
case('nano', 'nano a.txt; cat a.txt', 'nano', 'nano', files={'a.txt': 'alpha\n'}, terminal=True,
     stdin=b'typed \x0f\0\r\0\x18')
case('ed', "printf 'a\\nx\\ny\\n.\\n1,$s/x/z/\\nw f\\n,p\\nq\\n' | ed; cat f", 'ed', 'ed', ci=True)
case('emacs', '''emacs -Q --batch --eval '(progn (find-file "f") (insert (format "%d" (* 6 7))) (save-buffer) (princ "done"))'
    emacs -Q --batch -l missing.el; echo $?; cat f''', 'emacs', 'emacs-nox')

# ---- compilers and what is built with them

case('gcc', '''
    gcc -O2 -Wall -o a a.c && ./a; echo status $?; gcc -c missing.c; echo status $?
    gcc -shared -fPIC -o b.so a.c && nm -D b.so | grep -c main; gcc -flto -g -o c a.c && ./c; objdump -d a | wc -l
    ''', 'gcc', 'gcc', files=HELLO, varies=[(rb'/cc\w{6}\.', b'/cc.')], ci=True)
case('g++', '''
    cat >b.cc <<<'#include <iostream>
    #include <thread>
    int main() { int n = 0; std::thread t([&] { n = 7; }); t.join(); try { throw n; } catch (int x) { std::cout << x << "\\n"; } }'
    g++ -O1 -pthread -o b b.cc && ./b
    ''', 'g++', 'g++')
case('gcc for 32 bits', 'gcc -m32 -o a a.c && ./a; echo $?; file -b a 2>/dev/null | cut -c1-10', '/usr/lib32/libc.so.6 gcc',
     'gcc-multilib', files=HELLO, explained='ld.so of the other kind',
     ours=[(rb"ERROR: ld\.so: object '[^']*libprof\.so' from LD_PRELOAD cannot be preloaded \(wrong ELF class: "
            rb'ELFCLASS64\): ignored\.\n', b'')])
case('clang', 'clang -O2 -o a a.c && ./a; echo $?; clang -c missing.c; echo $?; clang -S -emit-llvm -o - a.c | grep -c puts',
     'clang', 'clang', files=HELLO)
case('tcc', 'tcc -o a a.c && ./a; echo $?; tcc -run a.c; echo $?', 'tcc', 'tcc', files=HELLO)
case('go', '''
    export GOCACHE=$PWD/c GOFLAGS=-mod=mod GO111MODULE=off CGO_ENABLED=0
    /usr/bin/go build -o h h.go && ./h; echo $?; /usr/bin/go vet h.go; rm -rf c
    ''', '/usr/bin/go', 'golang-go', files={'h.go': '''
    package main
    import ("fmt"; "os"; "sync")
    func main() {
        var g sync.WaitGroup
        sums := make([]int, 100)
        for i := range sums { g.Add(1); go func(i int) { sums[i] = i * i; g.Done() }(i) }
        g.Wait()
        t := 0
        for _, s := range sums { t += s }
        fmt.Println(t)
        os.Exit(9)
    }
    '''})
case('rustc', '/usr/bin/rustc -O -o h h.rs && ./h; echo $?; /usr/bin/rustc missing.rs; echo $?', '/usr/bin/rustc', 'rustc',
     files={'h.rs': '''
    use std::thread;
    fn main() {
        let t: Vec<_> = (0..8).map(|i| thread::spawn(move || i * i)).collect();
        let s: i32 = t.into_iter().map(|t| t.join().unwrap()).sum();
        println!("{}", s);
        std::process::exit(3);
    }
    '''})
case('fpc', 'fpc -v0 h.pas && ./h; echo $?', 'fpc', 'fp-compiler',
     files={'h.pas': "program h;\nbegin\n  writeln('pascal ', 6 * 7);\n  halt(4);\nend.\n"})
case('ocaml', '''ocaml -stdin <<<'let () = List.iter (Printf.printf "%d ") (List.map (fun x -> x * x) [1;2;3]); exit 5' ''',
     'ocaml', 'ocaml-nox')
case('nasm', 'nasm -f elf64 -o h.o h.s && ld -o h h.o && ./h; echo $?', 'nasm', 'nasm',
     files={'h.s': 'global _start\n_start: mov rax, 60\nmov rdi, 12\nsyscall\n'})
case('make', 'make -j4; touch -d @1000 b c d; make -j2 VERBOSE=1; make nothing; echo $?', 'make', 'make', files={'Makefile': '''
    .DELETE_ON_ERROR:
    all: b c d
    b c d: a
    \tcp a $@; echo made >>log
    a:
    \techo a >a
    '''.replace('    ', '').replace('\\t', '\t')}, varies=[(rb'made\n', b'')])
case('cmake and ninja', '''
    cmake -G Ninja -S . -B b >out 2>&1; echo $?; ninja -C b | tail -1; b/h; echo $?; ninja -C b | tail -1
    ctest --test-dir b 2>/dev/null | grep 'tests passed'; rm -rf b out
    ''', 'cmake ninja', 'cmake', files={**HELLO, 'CMakeLists.txt': '''
    cmake_minimum_required(VERSION 3.20)
    project(h C)
    add_executable(h a.c)
    enable_testing()
    add_test(NAME t COMMAND h)
    '''})
case('m4, flex and bison', '''
    echo 'define(x, $1-$1)x(7) eval(2**10)' | m4
    printf '%%option noyywrap main\\n%%%%\\n[0-9]+ printf("<%%s>", yytext);\\n' >l.l; flex -o l.c l.l && cc -o l l.c && echo a1b22 | ./l
    printf '%%{\\nint yylex(void) { return 0; }\\nvoid yyerror(const char *s) { (void)s; }\\n%%}\\n%%%%\\nx: ;\\n' >p.y
    bison -o p.c p.y; wc -l <p.c
    ''', 'm4 flex bison', 'flex')
case('ccache-like pipes of as and ld', 'gcc -pipe -c a.c && ar rcs l.a a.o && ranlib l.a && ar t l.a && strip a.o && size a.o && readelf -h a.o | wc -l',
     'gcc', 'gcc', files=HELLO)

# ---- interpreters

case('python', '''
    /usr/bin/python3 -c 'print(sum(range(10)))'
    /usr/bin/python3 -c 'import sys; sys.exit(9)'; echo $?
    /usr/bin/python3 -c 'raise ValueError("boom")'; echo $?
    /usr/bin/python3 -c 'import os; print(sorted(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")))'
    /usr/bin/python3 -m venv --without-pip v && v/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)'
    /usr/bin/python3 -X importtime -c pass 2>&1 | grep -c encodings; rm -rf v
    ''', '/usr/bin/python3', 'python3', ci=True)
case('python: processes and signals', '/usr/bin/python3 p.py; echo $?; rm -rf __pycache__', '/usr/bin/python3',
     varies=[(rb'bash: line \d+: +\d+', b'bash:'), (rb'[^\n]*resource_tracker[^\n]*\n', b'')], files={'p.py': '''
    import asyncio, concurrent.futures as f, multiprocessing as mp, os, signal, subprocess
    async def main():
        p = await asyncio.create_subprocess_exec('echo', 'async', stdout=-1)
        print(await p.communicate(), p.returncode)
    def square(x):
        return x * x
    if __name__ == '__main__':
        asyncio.run(main())
        with f.ProcessPoolExecutor(2) as pool:
            print(list(pool.map(square, range(5))))
        with mp.get_context('spawn').Pool(1) as pool:
            print(pool.map(square, [3]))
        signal.signal(signal.SIGALRM, lambda *a: print('alarm', flush=True))
        signal.setitimer(signal.ITIMER_REAL, .05); signal.pause()
        print(subprocess.run(['false']).returncode, os.spawnlp(os.P_WAIT, 'true', 'true'), flush=True)
        os.abort()
    '''})
case('perl', '''perl -e 'print join(",", map { $_ ** 2 } 1..5), "\\n"; my $p = fork; if (!$p) { exit 3 } wait; print $? >> 8, "\\n"; die "done\\n"'; echo $?
    perl -MPOSIX -e 'POSIX::_exit(4)'; echo $?; perl -e 'exec "echo", "from exec"'; perl -Mthreads -e 'print threads->create(sub { 7 })->join, "\\n"' ''',
     'perl', 'perl', ci=True)
case('ruby', '''/usr/bin/ruby -e 'puts (1..5).map { |x| x * x }.sum; puts `echo sub`; pid = fork { exit! 3 }; Process.wait pid; puts $?.exitstatus; Thread.new { puts 1 }.join; abort "done"'; echo $?''',
     '/usr/bin/ruby', 'ruby')
case('node', '''node -e 'const { Worker } = require("worker_threads"); new Worker("require('"'worker_threads'"').parentPort.postMessage(6*7)", { eval: true }).on("message", m => require("child_process").exec("echo child", (e, o) => { process.stdout.write(m + o); process.exitCode = 5 })); fetch' ; echo $?
    node -e 'throw new Error("x")' 2>&1 | head -5; node -p 'process.argv.length' ''', 'node', 'nodejs', ci=True)
case('lua', '''lua5.4 -e 'local t = {} for i = 1, 5 do t[#t + 1] = i * i end print(table.concat(t, " ")) print(os.execute("exit 3")) io.popen("echo p"):read() os.exit(4)'; echo $?''',
     'lua5.4', 'lua5.4')
case('guile', '''guile --no-auto-compile -c '(begin (display (apply + (iota 10))) (newline) (system "echo sub") (exit 6))'; echo $?''',
     'guile', 'guile-3.0')
case('php', '''php -r 'echo array_sum(range(1, 10)), "\\n"; echo shell_exec("echo sub"); file_put_contents("f", json_encode([1, "a" => 2])); exit(7);'; echo $?; cat f''',
     'php', 'php-cli')
case('tclsh', '''tclsh <<<'puts [expr 6*7]; puts [exec echo sub]; proc f x {expr $x**2}; puts [f 9]; exit 8'; echo $?''', 'tclsh', 'tcl')
case('gawk and mawk', '''seq 1000 | gawk '{ s[$1 % 3] += $1 } END { for (i in s) print i, s[i] | "sort"; close("sort"); exit 3 }'; echo $?
    echo a b | mawk '{ "echo sub" | getline x; print x, $2; system("exit 0") }' ''', 'gawk mawk', 'gawk', ci=True)
case('java', 'java -version 2>&1 | wc -l; java Missing; echo $?; keytool -help 2>&1 | head -1', 'java',
     'default-jre-headless')
case('erlang', '''erl -noshell -eval 'io:format("~p~n", [lists:sum(lists:seq(1, 10))]), P = self(), [spawn(fun() -> P ! X end) || X <- [1,2]], halt(5).'; echo $?; rm -f .erlang.cookie''',
     'erl', 'erlang-base')
case('sbcl', '''sbcl --noinform --non-interactive --eval '(progn (print (reduce (function +) (loop for i below 10 collect i))) (sb-ext:exit :code 6))'; echo $?''',
     'sbcl', 'sbcl')
case('gforth', "gforth -e '6 7 * . cr bye'; echo $?", 'gforth', 'gforth')
case('bc and dc', "echo 'scale=50; 4*a(1)' | bc -l; echo '2 100 ^ p' | dc; units -t '1 mile' 'km'", 'bc dc units', 'bc')

# ---- databases

case('sqlite3', '''
    sqlite3 d.db 'create table t(a, b); insert into t values (1, "x"), (2, "y"); select count(*), sum(a) from t; pragma integrity_check;'
    sqlite3 d.db .dump | sqlite3 e.db; sqlite3 e.db 'select * from t'; sqlite3 d.db 'select nothing'; echo $?; rm d.db e.db
    ''', 'sqlite3', 'sqlite3', ci=True)
PG = 'PATH=$(echo /usr/lib/postgresql/*/bin):$PATH'
case('postgres', f'''
    {PG}; mkdir pg s; chown postgres pg s; as() {{ setpriv --reuid=postgres --regid=postgres --clear-groups env HOME=$PWD "$@"; }}
    as initdb -U me -A trust -N -D pg >log 2>&1; echo $?
    as pg_ctl -D pg -w -t 60 -l pg/log -o "-h '' -k $PWD/s -F" start >/dev/null; echo $?
    as psql -h $PWD/s -U me postgres -Atc 'create table t as select g from generate_series(1, 1000) g; select sum(g) from t'; as psql -h $PWD/s -U me postgres -Atc 'select 1/0'; echo $?
    as psql -h $PWD/s -U me postgres -Atc 'set max_parallel_workers_per_gather = 2; set parallel_setup_cost = 0; set min_parallel_table_scan_size = 0; select count(*) from t'
    as pg_dump -h $PWD/s -U me postgres | grep -vc '^--'
    as pg_ctl -D pg -w -m fast stop >/dev/null; echo $?; grep -ci 'fatal\\|panic' pg/log; rm -rf pg s log
    ''', '/usr/share/postgresql-common setpriv', 'postgresql', root=True)
case('redis', f'''
    p=$(free); redis-server --port $p --bind 127.0.0.1 --save '' --dir $PWD --logfile $PWD/log >out 2>&1 & ready $p
    c="redis-cli -p $p"; $c set a 1; $c incr a; $c rpush l x y; $c lrange l 0 -1; $c eval 'return 6*7' 0
    $c bgsave; for i in $(seq 100); do [ -s dump.rdb ] && break; sleep 0.05; done; $c shutdown nosave; wait; echo $?; grep -c 'ready to accept' log -i; rm -f log out dump.rdb
    ''', 'redis-server', 'redis-server')
case('mariadb', '''
    mkdir d; mariadb-install-db --no-defaults --datadir=$PWD/d --auth-root-authentication-method=normal --user=root --skip-test-db >log 2>&1; echo $?
    mariadbd --no-defaults --datadir=$PWD/d --socket=$PWD/s --skip-networking --user=root --pid-file=$PWD/p >>log 2>&1 &
    for i in $(seq 600); do [ -S s ] && break; sleep 0.05; done
    mariadb --no-defaults -S s -u root -Ne 'create database x; create table x.t(a int); insert into x.t values (1),(2); select sum(a) from x.t; select nothing'; echo $?
    mariadb-admin --no-defaults -S s -u root shutdown; wait; echo $?; rm -rf d log s p aria*
    ''', 'mariadbd mariadb-install-db', 'mariadb-server', root=True)
case('memcached', f'''
    p=$(free); memcached -u root -l 127.0.0.1 -p $p -U 0 -P $PWD/pid & ready $p
    exec 3<>/dev/tcp/127.0.0.1/$p; printf 'set k 0 0 3\\r\\nabc\\r\\nget k\\r\\nquit\\r\\n' >&3; cat <&3; kill %1; wait; echo $?; rm -f pid
    ''', 'memcached', 'memcached', varies=[(rb'Signal handled[^\n]*\n', b'')])

# ---- servers

case('nginx', f'''
    p=$(free); mkdir l; echo page >index.html; cat >n.conf <<E
    user root; worker_processes 2; pid $PWD/l/pid; error_log $PWD/l/error;
    events {{}} http {{ access_log off; client_body_temp_path l; proxy_temp_path l; fastcgi_temp_path l; uwsgi_temp_path l; scgi_temp_path l;
    server {{ listen 127.0.0.1:$p; root $PWD; }} }}
    E
    nginx -p $PWD -c n.conf -t; nginx -p $PWD -c n.conf; ready $p
    curl -s http://127.0.0.1:$p/; curl -s -o /dev/null -w '%{{http_code}}\\n' http://127.0.0.1:$p/none
    nginx -p $PWD -c n.conf -s reload; sleep 0.2; curl -s http://127.0.0.1:$p/
    nginx -p $PWD -c n.conf -s quit; for i in $(seq 100); do [ -e l/pid ] || break; sleep 0.05; done; rm -rf l n.conf
    ''', 'nginx curl', 'nginx-light', root=True, varies=[(rb'\[\w+\] \d+#\d+', b'[]'), (rb'\d{4}/\d\d/\d\d \d\d:\d\d:\d\d ', b'')])
case('lighttpd', f'''
    p=$(free); echo page >index.html
    printf 'server.document-root = "%s"\\nserver.port = %s\\nserver.bind = "127.0.0.1"\\nindex-file.names = ("index.html")\\n' $PWD $p >c
    lighttpd -t -f c >/dev/null; echo $?; lighttpd -D -f c 2>log & ready $p; curl -s http://127.0.0.1:$p/; kill %1; wait; echo $?; rm c log
    ''', 'lighttpd curl', 'lighttpd')
case('python http.server', f'''
    p=$(free); echo page >index.html; /usr/bin/python3 -m http.server --bind 127.0.0.1 $p >/dev/null 2>log & ready $p
    curl -s http://127.0.0.1:$p/; curl -s -o /dev/null -w '%{{http_code}}\\n' http://127.0.0.1:$p/none; kill -INT %1; kill %1; wait; rm log
    ''', 'curl', 'curl')
case('haproxy', f'''
    p=$(free); printf 'defaults\\n mode http\\n timeout client 1s\\n timeout server 1s\\n timeout connect 1s\\nfrontend f\\n bind 127.0.0.1:%s\\n http-request return status 200 content-type text/plain string hi\\n' $p >c
    haproxy -c -q -f c; echo $?; haproxy -q -f c & ready $p; curl -s http://127.0.0.1:$p/; echo; kill %1; wait; echo $?; rm c
    ''', 'haproxy curl', 'haproxy')
case('sshd and ssh', f'''
    p=$(free); mkdir -p k; chmod 700 k; ssh-keygen -q -t ed25519 -N '' -f k/h; ssh-keygen -q -t ed25519 -N '' -f k/u; cp k/u.pub k/a
    printf 'HostKey %s/k/h\\nAuthorizedKeysFile %s/k/a\\nStrictModes no\\nUsePAM no\\nPidFile none\\nPermitRootLogin yes\\n' $PWD $PWD >c
    mkdir -p /run/sshd; /usr/sbin/sshd -t -f c; echo $?; /usr/sbin/sshd -D -e -p $p -o ListenAddress=127.0.0.1 -f $PWD/c 2>log & ready $p
    ssh -q -p $p -i k/u -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -F none root@127.0.0.1 'echo inside; exit 5'; echo $?
    kill %1; wait; rm -rf k c log
    ''', '/usr/sbin/sshd ssh', 'openssh-server', root=True)
case('socat', "echo text | socat - EXEC:'tr a-z A-Z'; socat -u OPEN:a CREATE:b; cat b; socat - UNIX-CONNECT:none; echo $?", 'socat', 'socat',
     files={'a': 'file\n'}, varies=[(rb'socat\[\d+\]|\d{4}/\d\d/\d\d \d\d:\d\d:\d\d', b'')])

# ---- archives, copies, files

case('git', GIT + '''
    git -c init.defaultBranch=main init -q . && echo text >file && git add file
    git -c commit.gpgsign=false commit -q -m first && git log --stat && git fsck --no-progress
    git clone -q . copy && git -C copy rev-parse HEAD && git repack -q -a -d && git gc -q
    git -c core.pager=cat diff HEAD; git grep text; git archive HEAD | tar t; git checkout nothing; echo $?
    rm -rf .git/index .git/logs copy .git/hooks .git/objects/pack/*.rev
    ''', 'git', 'git', ci=True)
case('mercurial', 'hg init r; cd r; echo a >a; hg add a; hg commit -u me -d "0 0" -m one; hg log; hg verify -q; cd ..; rm -rf r', 'hg', 'mercurial')
case('tar over pipes', '''
    mkdir d; seq 1000 >d/a; ln -s a d/b; tar --owner=0 --group=0 --mtime=@0 -cf - d | tee >(sha256sum >sum) | (mkdir e; tar -C e -xf -); sleep 0.2; cat sum
    tar czf d.tgz d --mtime=@0; tar tzf d.tgz; tar cJf - d | tar tJf -; tar xf missing; echo $?; rm d.tgz
    ''', 'tar', 'tar', ci=True)
case('rsync', 'mkdir d; seq 100 >d/a; rsync -a d/ e/; seq 50 >d/a; touch -d @0 d/a; rsync -ai d/ e/; rsync -a missing f; echo $?; cmp d/a e/a', 'rsync', 'rsync',
     varies=[(rb'rsync error:[^\n]*', b'')])
case('cpio and ar', 'seq 100 >a; touch -d @0 a; echo a | cpio -o --reproducible >c 2>log; cat log; mkdir d; cd d; cpio -i <../c; ls', 'cpio', 'cpio',
     varies=[(rb'^07070[\s\S]*', b'')])
case('compressors', '''
    seq 20000 >a; for c in gzip bzip2 xz zstd lz4 pigz brotli; do command -v $c >/dev/null || continue; $c -c a >b.$c; $c -dc b.$c | cmp - a && echo $c; done
    zstd -q -T2 a -o a.zst; zip -qX z.zip a; unzip -tq z.zip; 7z a -mmt=2 -bso0 -bsp0 s.7z a; 7z t s.7z | grep -c Ok; xz -t a; echo $?; rm -f *.zip *.7z b.gzip b.pigz
    ''', 'zstd xz zip', 'zstd')
case('pv and parallel', "seq 1000 | pv -q | wc -l; seq 5 | parallel -k --will-cite 'echo {} $(({} * {}))'; parallel --will-cite exit ::: 0 1; echo $?; rm -rf .parallel",
     'pv parallel', 'parallel')
case('gpg', '''
    mkdir -m 700 g; export GNUPGHOME=$PWD/g; gpg -q --batch --passphrase '' --quick-gen-key a@b default default never; echo secret >s
    gpg -q --batch --trust-model always -r a@b -e s; gpg -q -d s.gpg; gpg -q --batch -b s; gpg -q --verify s.sig s 2>/dev/null; echo $?; gpgconf --kill all; rm -rf g s.gpg s.sig
    ''', 'gpg', 'gnupg', varies=[(rb'gpg: [^\n]*\n', b'')])
case('openssl', '''
    printf abc | openssl dgst -sha256; openssl genpkey -algorithm ed25519 -out k; openssl pkey -in k -pubout | wc -l; printf abc >m
    openssl pkeyutl -sign -inkey k -rawin -in m | wc -c; openssl enc -aes-256-ctr -pbkdf2 -k x -S 0011223344556677 -in m | xxd -p; openssl nothing 2>/dev/null; echo $?; rm k
    ''', 'openssl', 'openssl', ci=True)
case('curl and wget', 'curl -s file://$PWD/a; curl -s http://127.0.0.1:1/; echo $?; wget -q -O- http://127.0.0.1:1/; echo $?', 'curl wget', 'wget', files={'a': 'local\n'})
case('jq', '''echo '{"a": [1, 2, {"b": null}]}' | jq -c '.a | map(type)'; echo x | jq .; echo $?''', 'jq', 'jq')
case('patch and diff', "diff -u a b >p; patch a <p; cmp a b; patch -R c <p; echo $?", 'patch', 'patch', files={'a': '1\n2\n', 'b': '1\n3\n', 'c': 'x\n'},
     varies=[(rb'\d{4}-\d\d-\d\d [^\n]*', b'')])

# ---- pictures, sound, text

case('ffmpeg', '''
    ffmpeg -v error -nostdin -f lavfi -i testsrc=size=64x48:rate=5:duration=1 -c:v mpeg4 -threads 4 -bitexact -y a.avi; sha256sum a.avi
    ffprobe -v error -show_entries stream=width,nb_frames -of csv a.avi; ffmpeg -v error -nostdin -i a.avi -f framemd5 -; ffmpeg -v error -i none; echo $?
    ''', 'ffmpeg', 'ffmpeg')
case('ghostscript', '''
    printf '%%!PS\\n/Helvetica findfont 20 scalefont setfont 10 10 moveto (hello) show showpage\\n' >a.ps
    gs -q -dSAFER -dBATCH -dNOPAUSE -sDEVICE=pnggray -r30 -sOutputFile=a.png a.ps; file -b a.png 2>/dev/null; gs -q -dBATCH -dNOPAUSE none.ps; echo $?
    ''', 'gs', 'ghostscript')
case('imagemagick', 'convert -size 40x30 gradient:red-blue -resize 50% -strip a.png; identify -format "%w %h %k\\n" a.png; convert none.png b.png 2>/dev/null; echo $?; rm a.png',
     'convert', 'imagemagick')
case('graphviz', "echo 'digraph { a -> b; b -> c }' | dot -Tplain; echo 'digraph {' | dot -Tplain 2>/dev/null; echo $?", 'dot', 'graphviz')
case('gnuplot', "gnuplot -e 'set terminal dumb 40 10; plot x**2 notitle'; gnuplot -e 'nothing' 2>/dev/null; echo $?", 'gnuplot', 'gnuplot-nox')
case('sox', 'sox -R -n -r 8000 -b 16 a.wav synth 0.1 sine 440; soxi -s a.wav; sox -R a.wav -n stat 2>&1 | head -2', 'sox', 'sox')
case('groff', "printf '.TH X 1\\n.SH NAME\\nx \\\\- y\\n' | groff -man -Tascii | grep .", 'groff', 'groff')

# ---- those that look into programs

case('gdb on a running one', '''
    gcc -g -O0 -o w w.c; ./w & sleep 0.2
    gdb -q -nx -batch -p $! -ex 'set pagination off' -ex 'frame function main' -ex 'print n' -ex 'set var n = 9' -ex 'info threads' -ex detach 2>gdb.err | grep '^\\$1\\|^\\* 1'
    kill -USR1 $!; wait $!; echo $?; rm -f gdb.err
    ''', 'gdb gcc', 'gdb', files={'w.c': '''
    #include <signal.h>
    #include <unistd.h>
    #include <stdlib.h>
    int n = 4;
    static void end(int s) { (void)s; _exit(n); }
    int main(void) { signal(SIGUSR1, end); for (;;) sleep(1); }
    '''}, varies=[(rb'0x[0-9a-f]+', b'X'), (rb'LWP \d+|process \d+', b'P')], root=True)
case('gdb starts one', "gcc -g -o a a.c; gdb -q -nx -batch -ex 'break main' -ex run -ex bt -ex continue ./a 2>&1 | grep '^#0\\|hello\\|exited'", 'gdb gcc', 'gdb', files=HELLO,
     varies=[(rb'process \d+', b'P')])
case('strace', "strace -f -qq -e trace=write,execve -o log bash -c 'echo a; /bin/echo b'; sed 's/^[0-9]* *//; s/0x[0-9a-f]*.*//' log; strace -e trace=none false; echo $?",
     'strace', 'strace', varies=[(rb'execve\([^\n]*', b'execve'), (rb'\n\d+ ', b'\nN '), (rb'^\d+ ', b'N ')])
case('ltrace', "gcc -O0 -no-pie -fcf-protection=none -Wl,-z,lazy -o a a.c; ltrace -o log ./a; grep -c puts log; rm log", 'ltrace gcc', 'ltrace', files=HELLO)
case('valgrind', "gcc -g -O0 -o l l.c; valgrind -q --leak-check=full --error-exitcode=3 ./l; echo $?", 'valgrind gcc', 'valgrind', files={'l.c': '''
    #include <stdlib.h>
    int main(void) { char *p = malloc(7); p[7] = 1; return 0; }
    '''}, varies=[(rb'==\d+==', b'=='), (rb'0x[0-9A-Fa-f]+', b'X')])
case('lsof and proc', "exec 7<a; lsof -p $$ -a -d 7 -Fn; grep -c . /proc/self/status; cat /proc/self/comm; tr '\\0' ' ' </proc/self/cmdline; grep Threads /proc/self/status", 'lsof', 'lsof',
     files={'a': ''}, varies=[(rb'\np\d+|^p\d+', b'p')])

# ---- those that change who or where they are

case('su and sudo', f'''
    su -s /bin/bash -c 'id -un; exit 5' nobody; echo $?; sudo -n -u nobody id -un; {OTHER} sudo -n true; echo $?; {OTHER} su -c id 2>&1 </dev/null; echo $?
    ''', 'su sudo', 'sudo', root=True, varies=[(rb'Password: ', b'')])
case('passwd and ping', f'passwd -S root; {OTHER} passwd -S; echo $?; {OTHER} ping -c1 -W1 127.0.0.1 | head -1; newgrp </dev/null; echo $?; chage -l root | wc -l', 'passwd ping setpriv',
     'iputils-ping', root=True)
case('setuid of our own', f'''
    cat >s.c <<<'#include <stdio.h>
    #include <unistd.h>
    int main(void) {{ dprintf(1, "%d %d\\n", getuid(), geteuid()); execl("/bin/echo", "echo", "from a setuid program", (char *)0); return 1; }}'
    gcc -o s s.c; chmod 4755 s; {OTHER} ./s
    ''', 'gcc setpriv', root=True)
case('chroot', '''
    mkdir -p r/bin; cp $(command -v busybox) r/bin/; chroot r /bin/busybox sh -c 'echo inside; ls /; exit 4'; echo $?
    ''', 'busybox', 'busybox-static', root=True)
case('chroot with a libc', '''
    mkdir -p r; for f in /bin/bash $(LD_PRELOAD= ldd /bin/bash | grep -o '/[^ ]*'); do mkdir -p r$(dirname $f); cp -L $f r$f; done
    chroot r /bin/bash -c 'echo inside; exit 4'; echo $?; rm -rf r
    ''', root=True, explained='where the path leads nowhere',
     ours=[(rb"ERROR: ld\.so: object '[^']*libprof\.so' from LD_PRELOAD cannot be preloaded \(cannot open shared object "
            rb'file\): ignored\.\n', b'')])
case('unshare', "unshare -m bash -c 'mount -t tmpfs x /mnt && ls /mnt | wc -l'; unshare -pf --mount-proc bash -c 'echo $$; ps ax | wc -l'; unshare -n ip -o link | wc -l; unshare -U -r id -u",
     'unshare ip', 'util-linux', root=True)
case('bwrap', "bwrap --ro-bind / / --dev /dev --proc /proc --unshare-all --die-with-parent bash -c 'echo $$; id -u; exit 3'; echo $?", 'bwrap', 'bubblewrap')
case('setpriv, nice, ionice, taskset, chrt', f"{OTHER} id -u; nice -n 5 bash -c nice; ionice -c 3 ionice; taskset -c 0 nproc; chrt -b 0 chrt -p 0 >/dev/null; echo $?; setpriv --no-new-privs --bounding-set=-all grep NoNew /proc/self/status; flock f echo locked; setsid -w bash -c 'exit 3'; echo $?",
     'setpriv taskset', 'util-linux', root=True)
case('systemd-run', "systemd-run --quiet --wait --pipe --collect bash -c 'echo unit; exit 4'; echo $?", 'systemd-run /run/systemd/system', 'systemd', root=True)
case('numactl', "numactl --physcpubind=0 nproc; numactl --show | head -1", 'numactl', 'numactl')

# ---- other libraries that are preloaded, before us and after

for library, package in (('libjemalloc.so.2', 'libjemalloc2'), ('libtcmalloc_minimal.so.4', 'libtcmalloc-minimal4')):
    where = '/usr/lib/x86_64-linux-gnu/' + library
    case(f'{library} before and after', f'''
        for p in "{where}${{LD_PRELOAD:+:$LD_PRELOAD}}" "${{LD_PRELOAD:+$LD_PRELOAD:}}{where}"; do
            LD_PRELOAD=$p /usr/bin/python3 -c 'import threading as t; a = [t.Thread(target=lambda: [bytearray(999) for i in range(9999)]) for i in range(4)]; [x.start() for x in a]; [x.join() for x in a]; print("libprof" in open("/proc/self/maps").read(), "{library.split('.')[0]}" in open("/proc/self/maps").read())'
        done''', where, package, ours=[(rb'True True', b'False True')], explained='our own mapping')
case('fakeroot', "fakeroot bash -c 'touch a; chown 1:1 a; stat -c %u a; id -u; tar cf - a --mtime=@0 | tar tvf - | cut -c1-20'", 'fakeroot', 'fakeroot')
case('eatmydata', 'eatmydata sqlite3 d.db "create table t(a); insert into t values (1); select * from t"; eatmydata false; echo $?; rm d.db', 'eatmydata sqlite3', 'eatmydata')
case('faketime', "faketime '2020-02-02 02:02:02' date +%F; faketime -f '@2021-01-01 00:00:00 x10' /usr/bin/python3 -c 'import time; print(time.gmtime().tm_year)'; P=$(echo /usr/lib/*/faketime/libfaketime.so.1); LD_PRELOAD=${LD_PRELOAD:+$LD_PRELOAD:}$P FAKETIME='2019-01-01 00:00:00' date +%Y",
     'faketime', 'faketime')

# ---- at the edges

case('static programs', '''
    gcc -static -o a a.c && ./a; echo $?; gcc -static-pie -o b a.c && ./b; echo $?; busybox true; echo $?
    ''', 'gcc busybox', 'busybox-static', files=HELLO)
case('2,000 threads', '''
    cat >t.c <<'E'
    #include <pthread.h>
    #include <stdio.h>
    #include <stdatomic.h>
    static atomic_int n; static pthread_barrier_t b;
    static void *f(void *a) { (void)a; n++; pthread_barrier_wait(&b); return 0; }
    int main(void) { static pthread_t t[2000]; pthread_attr_t a; pthread_attr_init(&a); pthread_attr_setstacksize(&a, 65536); pthread_barrier_init(&b, 0, 2001);
    for (int i = 0; i < 2000; i++) if (pthread_create(t + i, &a, f, 0)) return puts("no thread");
    pthread_barrier_wait(&b); for (int i = 0; i < 2000; i++) pthread_join(t[i], 0); printf("%d\\n", n); return 7; }
    E
    gcc -O1 -pthread -o t t.c && ./t; echo $?
    ''', 'gcc')
case('closed descriptors', '''
    for c in '0<&-' '1>&-' '2>&-' '0<&- 1>&- 2>&-'; do
        eval "bash -c 'exec 9>>log; ls -l /proc/self/fd | wc -l >&9; echo x; echo \\$? >&9' $c"
        eval "/usr/bin/python3 -c 'import os; f = os.open(\\"f\\", os.O_RDWR | os.O_CREAT); os.write(os.open(\\"log\\", os.O_WRONLY | os.O_APPEND), b\\"%d\\\\n\\" % f)' $c"
        eval "cat a >out $c"; echo $? >>log
    done 2>/dev/null; cat log''', files={'a': 'text\n'})
case('few descriptors', '''
    for n in 3 4 5 8 20; do (ulimit -n $n; exec /usr/bin/python3 -c 'print(1)' >>log 2>&1); echo $n $? >>log; (ulimit -n $n; cat a >>log 2>&1); echo $? >>log; done
    (ulimit -n 40; exec /usr/bin/python3 -c '
    import os
    n = 0
    try:
        while 1: os.open("/dev/null", 0); n += 1
    except OSError as e: print(n, e)'); cat log''', files={'a': 'text\n'})
case('little address space', '''
    for m in 20000 60000 300000; do (ulimit -v $m; exec /usr/bin/python3 -S -c '
    a = []
    try:
        while 1: a.append(bytearray(1 << 20))
    except MemoryError: a = None; print("full")' 2>&1 | tail -1); (ulimit -v $m; exec bash -c 'echo $((1 + 1))'); echo $?; done''')
case('few processes', '''
    as() { setpriv --reuid=54322 --regid=54322 --clear-groups "$@"; }
    as prlimit --nproc=3 dash -c 'sleep 0.2 & sleep 0.2 & sleep 0.2 & sleep 0.2 & wait; echo end'; echo $?
    as prlimit --nproc=1 dash -c '/bin/true; echo not here'; echo $?
    as /usr/bin/python3 -c '
    import os, resource, threading
    resource.setrlimit(resource.RLIMIT_NPROC, (2, 2))
    t = threading.Event()
    threading.Thread(target=t.wait).start()
    try: threading.Thread(target=print).start()
    except RuntimeError as e: print(e)
    try: os.fork()
    except OSError as e: print(e)
    t.set()'
    ''', 'setpriv dash', root=True)
case('small files', "ulimit -f 8; bash -c 'yes | head -c 100000 >f' 2>/dev/null; echo $?; trap '' XFSZ; dd if=/dev/zero of=g bs=1k count=100 2>&1 | head -1; stat -c %s f g",
     varies=[(rb'bash: line \d+: +\d+', b'bash:')])
case('io_uring', "fio --name=x --ioengine=io_uring --rw=randwrite --bs=4k --size=1m --iodepth=8 --filename=f --minimal >log 2>&1; echo $?; stat -c %s f; rm -f log f", 'fio', 'fio')
case('seccomp', '''/usr/bin/python3 -c '
    import ctypes, os, struct
    code = [(0x20, 0, 0, 0), (0x15, 0, 1, 39), (6, 0, 0, 0x50000 | 77), (6, 0, 0, 0x7fff0000)]
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *c) for c in code))
    prog = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(text)))
    libc = ctypes.CDLL(None, use_errno=True)
    print(libc.prctl(38, 1, 0, 0, 0), libc.prctl(22, 2, prog, 0, 0))
    print(libc.syscall(39), ctypes.get_errno(), flush=True)
    os.execv("/bin/echo", ["echo", "after"])' ''')
case('seccomp that kills', '''/usr/bin/python3 -c '
    import ctypes, os
    print("strict", flush=True)
    libc = ctypes.CDLL(None)
    libc.prctl(22, 1, 0, 0, 0)
    libc.getpid()
    libc.syscall(39)'; echo $?''', varies=[(rb'bash: line \d+: +\d+', b'bash:')])
case('not dumpable, and a name of its own', '''/usr/bin/python3 -c '
    import ctypes, os
    libc = ctypes.CDLL(None)
    libc.prctl(4, 0, 0, 0, 0); libc.prctl(15, b"renamed", 0, 0, 0)
    print(libc.prctl(3, 0, 0, 0, 0), open("/proc/self/comm").read())
    pid = os.fork()
    if not pid: os.execv("/bin/cat", ["cat", "/proc/self/comm"])
    os.waitpid(pid, 0)' ''')
case('exec from memory', '''/usr/bin/python3 -c '
    import os
    f = os.memfd_create("prog")
    os.write(f, open("/bin/echo", "rb").read())
    os.execve(f, ["echo", "from memory"], dict(os.environ))' ''')
case('vfork and posix_spawn', '''/usr/bin/python3 -c '
    import os, subprocess
    for i in range(20):
        p = os.posix_spawn("/bin/sh", ["sh", "-c", "exit %d" % i], os.environ)
        assert os.waitpid(p, 0)[1] >> 8 == i
    print(subprocess.run(["/bin/sh", "-c", "exit 7"], close_fds=False).returncode)' ''')
case('signals and cores', '''
    for s in TERM KILL SEGV ABRT PIPE; do bash -c "ulimit -c 0; kill -$s \\$\\$"; echo $?; done; yes | head -1; (trap '' PIPE; yes 2>&1 | head -1)
    bash -c 'sleep 5 & kill -STOP $!; kill -CONT $!; kill $!; wait $!; echo $?'
    ''', varies=[(rb'bash: line \d+: +\d+', b'bash:')])
case('a daemon', '''
    /usr/bin/python3 -c '
    import os, time
    if os.fork(): os._exit(0)
    os.setsid()
    if os.fork(): os._exit(0)
    os.chdir("/"); os.umask(0)
    f = os.open(os.environ["WORK"] + "/left", os.O_WRONLY | os.O_CREAT, 0o666)
    for i in range(3): os.close(i)
    os.write(f, b"%d" % os.open("/dev/null", 0)); os._exit(0)'
    for i in $(seq 100); do [ -s left ] && break; sleep 0.05; done; cat left''')
