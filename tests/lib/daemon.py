# SPDX-License-Identifier: Apache-2.0
"""A program under test that serves: started, told from its ready line, killed or stopped, and gone when
the test is, however that ends."""
import ctypes
import os
import shutil
import signal
import subprocess
import sys

import gs


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Daemon:
    """A context manager. What it says on stderr is kept in a file, and shown where the test fails."""

    def __init__(self, root, log, own_root=False):
        self.root, self.own_root, self.process = root, own_root, None
        self.log_path, self.stderr = os.path.join(root, log), None

    def launch(self, argv, ready=True, preexec_fn=None):
        """Starts argv and --ready-fd; the line that comes by it, if that is waited for."""
        def prepare():
            die_with_parent()
            if preexec_fn:
                preexec_fn()
        if self.stderr:
            self.stderr.close()
        self.stderr = open(self.log_path, 'ab')
        read, write = os.pipe()
        passed = [write, *[int(fd) for option, fd in zip(argv, argv[1:]) if option == '--until-eof']]
        self.process = subprocess.Popen([*argv, '--ready-fd', str(write)], pass_fds=passed,
                                        stderr=self.stderr, preexec_fn=prepare)
        os.close(write)
        try:
            line = os.read(read, 512).decode() if ready else ''
        finally:
            os.close(read)
        if ready and not line.startswith('ready'):
            raise RuntimeError('did not start: ' + self.log())
        return line

    def log(self):
        with open(self.log_path, errors='replace') as f:
            return f.read()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self, sig=signal.SIGTERM, timeout=120):
        """Its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(sig)
        return self.process.wait(timeout * gs.PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.stderr.close()
        if kind and kind is not SystemExit:
            sys.stderr.write(self.log()[-6000:])
        if self.own_root:
            shutil.rmtree(self.root, ignore_errors=True)
