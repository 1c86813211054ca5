# SPDX-License-Identifier: Apache-2.0
"""What is kept of the runs, for whoever wants to look: summaries, pages and the programs' last words
in one file of bounded size. Traces are too large and stay behind."""
import io
import os
import tarfile

MOST = 11 << 20     # bytes of the file
# In this order, each kind from the smallest: the first are the most telling.
KINDS = (('summary.json', 'run.json'), ('.log',), ('.json',), ('report.html',))


def wanted(scratch):
    """(kind, bytes, path) of what may be kept."""
    found = []
    for place, folders, files in os.walk(scratch):
        folders[:] = [d for d in folders if not os.path.islink(os.path.join(place, d))]
        for name in files:
            path = os.path.join(place, name)
            kind = next((i for i, ends in enumerate(KINDS) if name.endswith(ends)), None)
            if kind is not None and os.path.isfile(path) and not os.path.islink(path):
                found.append((kind, os.path.getsize(path), path))
    return sorted(found)


def pack(scratch, out, most=MOST):
    """Writes @out anew, at most @most bytes; what does not fit is named in left-out.txt inside."""
    part, left_out = out + '.part', []
    with open(part, 'wb') as file:
        with tarfile.open(fileobj=file, mode='w:gz', compresslevel=5) as tar:
            for _, size, path in wanted(scratch):
                # What deflate still holds is small; the worst case is that nothing shrinks.
                if file.tell() + size + 65536 > most:
                    left_out.append(os.path.relpath(path, scratch))
                    continue
                try:
                    tar.add(path, os.path.relpath(path, scratch), recursive=False)
                except OSError:     # it went away meanwhile
                    continue
            if left_out:
                names = '\n'.join(left_out[:500]).encode()
                info = tarfile.TarInfo('left-out.txt')
                info.size = len(names)
                tar.addfile(info, io.BytesIO(names))
    os.replace(part, out)
