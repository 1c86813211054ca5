# SPDX-License-Identifier: Apache-2.0
"""A terminal for tests: a pseudo-terminal with a program in it, and a screen that understands the
few control sequences that gpustarve and the test's own programs send, so that what a person would
see, scrolled-off lines included, can be compared with what the program wrote."""
import codecs
import fcntl
import os
import pty
import re
import select
import struct
import termios
import time

import gs

TOKEN = re.compile(r'\x1b\[([0-9;?]*)([A-Za-z])|\x1b([78D])|([\r\n\b])|([^\x1b\r\n\b]+)', re.S)


class Screen:
    """Rows of text with a scrolling region; what scrolls off the top of a full-height region is
    kept, as terminals do."""

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.line = [''] * rows
        self.gone = []
        self.row = self.column = 0
        self.top, self.bottom = 0, rows - 1
        self.saved = (0, 0)
        self.full = False  # the cursor stands behind the last column
        self.unknown = []

    def resize(self, rows, columns):
        while len(self.line) > rows:
            if self.row < rows:
                self.line.pop()
            else:
                self.gone.append(self.line.pop(0))
                self.row -= 1
        self.line += [''] * (rows - len(self.line))
        self.rows, self.columns = rows, columns
        self.top, self.bottom = 0, rows - 1
        self.column = min(self.column, columns - 1)

    def index(self):
        if self.row == self.bottom:
            gone = self.line.pop(self.top)
            if self.top == 0:
                self.gone.append(gone)
            self.line.insert(self.bottom, '')
        elif self.row < self.rows - 1:
            self.row += 1

    def put(self, text):
        for c in text:
            if self.full:
                self.column, self.full = 0, False
                self.index()
            old = self.line[self.row].ljust(self.column)
            self.line[self.row] = old[:self.column] + c + old[self.column + 1:]
            self.full = self.column == self.columns - 1
            self.column = min(self.column + 1, self.columns - 1)

    def control(self, numbers, letter):
        n = [int(x) for x in numbers.split(';') if x.isdigit()]
        if letter == 'm':
            return
        self.full = False
        if letter == 'K' and not n:
            self.line[self.row] = self.line[self.row][:self.column]
        elif letter == 'H':
            row, column = (n + [1, 1])[:2]
            self.row, self.column = min(row, self.rows) - 1, min(column, self.columns) - 1
        elif letter == 'r':
            self.top, self.bottom = (n[0] - 1, n[1] - 1) if len(n) == 2 else (0, self.rows - 1)
            self.row = self.column = 0
        elif letter == 'A':
            self.row = max(self.row - n[0], self.top if self.row >= self.top else 0)
        else:
            self.unknown.append(numbers + letter)

    def feed(self, text):
        for numbers, letter, escape, move, plain in TOKEN.findall(text):
            if letter:
                self.control(numbers, letter)
            elif escape == '7':
                self.saved = (self.row, self.column, self.full)
            elif escape == '8':
                self.row, self.column, self.full = self.saved
                self.row = min(self.row, self.rows - 1)
            elif escape == 'D':
                self.index()
            elif move == '\r':
                self.column, self.full = 0, False
            elif move == '\n':
                self.index()
            elif plain:
                self.put(plain)

    def all(self):
        return [l.rstrip() for l in self.gone + self.line]


class Terminal:
    def __init__(self, argv, rows=24, columns=80, env=None):
        self.screen = Screen(rows, columns)
        self.raw = ''
        self.text = codecs.getincrementaldecoder('utf-8')('replace')  # a read may end within a character ...
        self.held = ''  # ... or within an escape sequence
        go, wait = os.pipe()
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.read(go, 1)  # until the terminal has its size
            os.execvpe(argv[0], [str(a) for a in argv], env or os.environ)
        self.size(rows, columns)
        self.before = termios.tcgetattr(self.fd)
        os.write(wait, b'x')
        os.close(wait)
        os.close(go)
        self.status = None

    def size(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        self.size(rows, columns)

    def read(self, timeout):
        """Takes what there is; False at the end."""
        if not select.select([self.fd], [], [], timeout)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        if not data:
            return False
        text = self.text.decode(data)
        self.raw += text
        text = self.held + text
        self.held = re.search(r'(\x1b(\[[\d;?]*)?)?\Z', text)[0]
        self.screen.feed(text[:len(text) - len(self.held)])
        return True

    def until(self, pattern, start=0, timeout=120):
        """Waits for it in all that was written from @start on; its match, or None."""
        end = time.monotonic() + timeout * gs.PATIENCE
        while True:
            found = re.search(pattern, self.raw[start:], re.S)
            if found or time.monotonic() > end or not self.read(1):
                return found or re.search(pattern, self.raw[start:], re.S)

    def key(self, data):
        os.write(self.fd, data)

    def settings(self):
        return termios.tcgetattr(self.fd)

    def finish(self, timeout=120):
        end = time.monotonic() + timeout * gs.PATIENCE
        while self.read(1):
            if time.monotonic() > end:
                os.kill(self.pid, 9)
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)
        return self.status
