# SPDX-License-Identifier: Apache-2.0
"""The .deb and the .rpm, by dpkg-deb and rpmbuild. Neither has scripts of its own: nothing is started, no user is made."""
import gzip
import os
import shutil
import subprocess
import time

from facts import SUMMARY

MAINTAINER = 'gpustarve <gpustarve@localhost>'
MORE = ('gpustarve run in front of the command that trains records every kernel, copy and gap, and ends with a verdict, a\n'
        'report and a cost. gpustarve-collector stores the runs of many nodes.')


def run(argv, **more):
    done = subprocess.run(argv, capture_output=True, text=True, check=False, **more)
    if done.returncode:
        raise SystemExit(f'gpustarve: package: {argv[0]}: {(done.stderr or done.stdout).strip()[-2000:]}')


def squeeze(path, level=9):
    with open(path, 'rb') as f:
        data = f.read()
    with open(path + '.gz', 'wb') as out, gzip.GzipFile(fileobj=out, mode='wb', filename='', mtime=0,
                                                        compresslevel=level) as f:
        f.write(data)
    os.remove(path)


def settle(root, epoch):
    """Times that say nothing of when it was made."""
    for folder, names, files in os.walk(root):
        for name in files:
            os.utime(os.path.join(folder, name), (epoch, epoch))
        for name in names:
            os.chmod(os.path.join(folder, name), 0o755)
            os.utime(os.path.join(folder, name), (epoch, epoch))


def deb(facts, stage, out, work):
    """@stage has usr/. Where man pages are packed and what copyright is called is Debian's policy."""
    root = os.path.join(work, 'deb')
    shutil.copytree(stage, root)
    pages = os.path.join(root, 'usr', 'share', 'man', 'man1')
    for name in sorted(os.listdir(pages)) if os.path.isdir(pages) else []:
        squeeze(os.path.join(pages, name))
    doc = os.path.join(root, 'usr', 'share', 'doc', 'gpustarve')
    shutil.copy(os.path.join(doc, 'LICENSES.txt'), os.path.join(doc, 'copyright'))
    when = time.strftime('%a, %d %b %Y %H:%M:%S +0000', time.gmtime(facts.epoch))
    with open(os.path.join(doc, 'changelog'), 'w', encoding='utf-8') as f:
        f.write(f'gpustarve ({facts.debian}) unstable; urgency=low\n\n  * Commit {facts.commit}.\n\n -- {MAINTAINER}  {when}\n')
    squeeze(os.path.join(doc, 'changelog'))
    size = sum(os.path.getsize(os.path.join(d, n)) for d, _, names in os.walk(root) for n in names)
    os.mkdir(os.path.join(root, 'DEBIAN'))
    with open(os.path.join(root, 'DEBIAN', 'control'), 'w', encoding='utf-8') as f:
        f.write(f'Package: gpustarve\nVersion: {facts.debian}\nArchitecture: {facts.arch}\nMaintainer: {MAINTAINER}\n'
                f'Installed-Size: {(size + 1023) // 1024}\nDepends: libc6 (>= 2.27)\nSection: devel\nPriority: optional\n'
                f'Description: {SUMMARY}\n ' + MORE.replace('\n', '\n ') + '\n')
    settle(root, facts.epoch)
    path = os.path.join(out, f'gpustarve_{facts.debian}_{facts.arch}.deb')
    run(['dpkg-deb', '--root-owner-group', '-Zxz', '-z6', '--build', root, path],
        env=dict(os.environ, SOURCE_DATE_EPOCH=str(facts.epoch)))
    return path


SPEC = '''%global _build_id_links none
%global __os_install_post %{{nil}}
%global debug_package %{{nil}}
Name: gpustarve
Version: {version}
Release: 1
Summary: {summary}
License: Apache-2.0
AutoReqProv: no
Requires: libc.so.6(GLIBC_2.27)(64bit)
%description
{more}
%files
{files}
'''


def rpm(facts, stage, out, work):
    """None where rpmbuild is not there."""
    if not shutil.which('rpmbuild'):
        return None
    top, root = os.path.join(work, 'rpm'), os.path.join(work, 'rpmroot')
    shutil.copytree(stage, root)
    settle(root, facts.epoch)
    os.makedirs(top)
    rows = []
    for folder, _, names in os.walk(root):
        inside = folder[len(root):]
        if inside.startswith(('/usr/lib/gpustarve', '/usr/libexec/gpustarve', '/usr/share/gpustarve',
                              '/usr/share/doc/gpustarve')):
            rows.append(f'%dir %attr(0755, root, root) "{inside}"')
        for name in names:
            mode = os.stat(os.path.join(folder, name)).st_mode & 0o777
            rows.append(f'%attr({mode:04o}, root, root) "{inside}/{name}"')
    spec = os.path.join(top, 'gpustarve.spec')
    with open(spec, 'w', encoding='utf-8') as f:
        f.write(SPEC.format(version=facts.debian, summary=SUMMARY, more=MORE, files='\n'.join(sorted(rows))))
    macros = {'_topdir': top, '_rpmdir': out, '_rpmfilename': '%{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm',
              '_buildhost': 'gpustarve', 'use_source_date_epoch_as_buildtime': '1',
              'clamp_mtime_to_source_date_epoch': '1', '_binary_payload': 'w9.gzdio', 'source_date_epoch_from_changelog': '0'}
    given = [word for name, value in macros.items() for word in ('--define', f'{name} {value}')]
    run(['rpmbuild', '-bb', '--quiet', '--target', facts.machine, '--buildroot', root, *given, spec],
        env=dict(os.environ, SOURCE_DATE_EPOCH=str(facts.epoch)))
    return os.path.join(out, f'gpustarve-{facts.debian}-1.{facts.machine}.rpm')
