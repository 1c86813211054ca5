# SPDX-License-Identifier: Apache-2.0
"""A root file system whose systemd is process 1, in namespaces of its own, for as long as a script in it takes. What its
units confine themselves with is the kernel's, as on a machine; devices are this machine's, and of a network there is lo alone."""
import os
import subprocess
import time

import gs

# $0: the root; the others: what is mounted where. systemd wants a cgroup that is its own.
INSIDE = r'''r=$0
mount --bind "$r" "$r" && mount -t proc proc "$r/proc" && mount -t sysfs -o ro sysfs "$r/sys" && mount --rbind /dev "$r/dev" &&
mount -t tmpfs none "$r/run" && mount -t cgroup2 none "$r/sys/fs/cgroup" && ip link set lo up || exit 1
mount --bind "$r/proc/sys" "$r/proc/sys" && mount -o remount,bind,ro "$r/proc/sys" || exit 1 # these are not its own to set
for pair; do mkdir -p "$r/${pair##*:}" && mount --bind "${pair%:*}" "$r/${pair##*:}" || exit 1; done
cd "$r" && pivot_root . . && umount -l . && cd / || exit 1 # in a chroot there would be no user namespaces
exec env -i container=podman PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 /lib/systemd/systemd --unit=tried.service --log-target=null'''
UNIT = '''[Unit]
DefaultDependencies=no
Requires=sysinit.target
After=sysinit.target

[Service]
Type=oneshot
ExecStart=/bin/sh -c 'cd /root && sh -ex ./tried.sh >tried.log 2>&1; echo "status $?" >tried.status'
'''


def write(root, name, text):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


def read(root, name):
    try:
        with open(os.path.join(root, name), encoding='utf-8', errors='replace') as f:
            return f.read()
    except FileNotFoundError:
        return ''


def cgroup():
    """A new one below that of cgroup2 in which this process is; None: there is no such here, or none to be made."""
    with open('/proc/mounts', encoding='utf-8') as f, open('/proc/self/cgroup', encoding='utf-8') as g:
        top = next((row.split()[1] for row in f if row.split()[2] == 'cgroup2'), None)
        inside = next((row[3:].strip() for row in g if row.startswith('0::')), '/')
    path = top and f'{top}{inside.rstrip("/")}/gs-booted-{os.getpid()}'
    try:
        os.makedirs(path or '/proc/none', exist_ok=True)
    except OSError:
        return None
    return path


def run(root, script, mounts, seconds):
    """What @script said, and its exit status; None: it did not come to its end, or systemd not so far."""
    for name in 'root/tried.status', 'root/tried.log':
        if os.path.exists(os.path.join(root, name)):
            os.unlink(os.path.join(root, name))
    write(root, 'root/tried.sh', script)
    write(root, 'etc/systemd/system/tried.service', UNIT)
    group = cgroup()
    if not group:
        return '', None
    # Its own cgroup has to be the namespace's top, so it goes there first.
    argv = ['sh', '-c', 'echo $$ >"$0/cgroup.procs" && exec "$@"', group, 'unshare', '--mount', '--pid', '--fork', '--kill-child', '--uts',
            '--ipc', '--net', '--cgroup', '--propagation', 'private', 'sh', '-c', INSIDE, root, *mounts]
    p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        end = time.monotonic() + seconds * gs.PATIENCE
        while p.poll() is None and time.monotonic() < end and not read(root, 'root/tried.status').endswith('\n'):
            time.sleep(.2)
    finally:
        p.kill()  # and with it all of that namespace
        p.wait()
        for _ in range(50):
            if not os.path.exists(group):
                break
            for folder, _, _ in os.walk(group, topdown=False):
                try:
                    os.rmdir(folder)
                except OSError:
                    time.sleep(.2)
    status = read(root, 'root/tried.status')
    return read(root, 'root/tried.log'), int(status.split()[1]) if status else None
