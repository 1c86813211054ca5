# SPDX-License-Identifier: Apache-2.0
"""Virtual environments of pinned, hashed wheels that lie in the user's cache folder, made once."""
import hashlib
import os
import shutil
import subprocess
import time


def state(python, requirements):
    """What a venv is made of: it is made anew when this changes."""
    digest = hashlib.sha256(os.path.realpath(python).encode())
    for path in requirements:
        with open(path, 'rb') as file:
            digest.update(file.read())
    return digest.hexdigest() + '\n'


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return None


def ended(command):
    """What a command said that failed, or None."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        return done.stdout.decode(errors='replace').strip() or f'{command[0]} ended with {done.returncode}'
    return None


def install(folder, requirements):
    """pip's answer, or None when they are there. Wheels are pinned by hash, whatever index or folder pip is set up to ask."""
    return ended([os.path.join(folder, 'bin', 'python'), '-m', 'pip', 'install', '-q', '--disable-pip-version-check',
                  '--no-deps', '--no-cache-dir', '--only-binary', ':all:', '--require-hashes',
                  *(w for path in requirements for w in ('-r', path))])


def make(folder, python, requirements):
    shutil.rmtree(folder, ignore_errors=True)
    return ended([python, '-m', 'venv', folder]) or install(folder, requirements)


def size(folder):
    done = subprocess.run(['du', '-sm', folder], stdout=subprocess.PIPE)
    return int(done.stdout.split()[0])


def get(folder, python, requirements):
    """Makes the venv unless it is there as it should be. What there is to say, or None."""
    stamp = os.path.join(folder, 'requirements')
    if read(stamp) == state(python, requirements):
        return None
    begin = time.monotonic()
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    failed = make(folder, python, requirements)
    if failed:
        shutil.rmtree(folder, ignore_errors=True)
        return f'{os.path.basename(folder)} cannot be made here; the tests go without it: {failed.splitlines()[-1]}'
    with open(stamp, 'w') as file:
        file.write(state(python, requirements))
    return f'{folder}: {size(folder)} MB in {time.monotonic() - begin:.0f} s'
