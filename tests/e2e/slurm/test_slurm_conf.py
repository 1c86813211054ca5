# SPDX-License-Identifier: Apache-2.0
"""The install script for SLURM: what it writes, that it refuses to replace what the site has, chains
it if asked to, does nothing twice, and puts everything back byte for byte."""
# ctest: labels=e2e,slurm
import concurrent.futures
import os
import re
import stat
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import hooks

CONFS = {
    'plain': 'ClusterName=big\nSlurmUser=root\nNodeName=n1\n',
    'no end': 'ClusterName=big\nSlurmUser=root\nNodeName=n1',
    'crlf and tabs': 'ClusterName=big\r\n\tSlurmUser = root # TaskProlog=/x\r\n\r\n#Prolog=/y\r\n',
    'bytes': 'ClusterName=big\nSlurmUser=root\n# \xff\xfe\x01 é "\n\n\n',
}
OWN = '''ClusterName=big
SlurmUser=root
taskprolog = "/site/task prolog.sh" # ours
Prolog=/site/prolog.d/[0-9]*
EPILOG=/site/epilog
EpilogSlurmctld=/site/ctld
MailProg=/site/mail
PrologFlags=Serial
NodeName=n1
'''
PARTS = 'taskprolog,prolog,epilog,epilogslurmctld,mailprog'


class Site:
    def __init__(self, where, conf, plugstack=None):
        self.where = where
        self.p = hooks.Prefix(where)
        os.unlink(os.path.join(self.p.scripts, 'site.conf'))
        for name in ('gpustarve', 'gpustarve-collector'):
            self.p.program(name)
        self.conf = os.path.join(where, 'etc', 'slurm.conf')
        self.plugstack = os.path.join(where, 'etc', 'plugstack.conf')
        self.settings = os.path.join(self.p.scripts, 'site.conf')
        os.mkdir(os.path.dirname(self.conf))
        self.write(self.conf, conf)
        os.chmod(self.conf, 0o640)
        if plugstack is not None:
            self.write(self.plugstack, plugstack)

    def write(self, path, text):
        with open(path, 'wb') as f:
            f.write(text.encode('latin-1'))

    def read(self, path):
        with open(path, 'rb') as f:
            return f.read().decode('latin-1')

    def spank(self):
        plugin = os.path.join(os.path.dirname(self.p.lib), 'slurm', 'gpustarve.so')
        os.makedirs(os.path.dirname(plugin))
        self.write(plugin, '')
        return os.path.realpath(plugin)

    def install(self, *options, want=0, stdin=None):
        done = subprocess.run(
            [os.path.join(self.p.scripts, 'install'), '--slurm-conf', self.conf, '--site', self.settings,
             *options], env={}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, cwd='/', check=False, timeout=300)
        text = (done.stdout + done.stderr).decode('utf-8', 'replace')
        gs.equal(done.returncode, want, f'install {options}: {text}')
        return text

    def undo(self, text):
        """slurm.conf first; scripts and settings, once Slurm goes by it."""
        settings = self.read(self.settings)
        said = self.install('--undo')
        gs.check('once more --undo' in said, f'undo: {said}')
        gs.equal((self.read(self.conf), self.read(self.settings)), (text, settings), 'undone once')
        gs.check('all is as it was' in self.install('--undo'), 'undone twice')

    def tree(self):
        """Every file with its mode, times left out, and bytes."""
        out = {}
        for top, folders, files in os.walk(self.where):
            for name in folders + files:
                path = os.path.join(top, name)
                st = os.lstat(path)
                data = self.read(path) if stat.S_ISREG(st.st_mode) else None
                out[path] = (st.st_mode, st.st_uid, data)
        return out

    def value(self, key):
        lines = re.findall(rf'(?mi)^{key}=(.*)$', self.read(self.conf))
        gs.equal(len(lines), 1, f'{key} is set once: {lines}')
        return lines[0] if lines else None

    def options(self):
        return ('--set', f'state={self.where}/state', '--dir', f'{self.where}/shared/%u')


def put_in_place(s, text, plugstack):
    folder, plugin = s.where, s.spank()
    before = s.tree()
    s.install(*s.options())
    for part, key in (('taskprolog', 'TaskProlog'), ('prolog', 'Prolog'), ('epilog', 'Epilog'),
                      ('epilogslurmctld', 'EpilogSlurmctld')):
        gs.equal(s.value(key), os.path.join(s.p.scripts, part), f'{text!r}: {key}')
    gs.equal(s.value('PrologFlags'), 'Alloc', f'{text!r}: PrologFlags')
    gs.check('MailProg' not in s.read(s.conf), f'{text!r}: mail stays as it is')
    gs.check(s.read(s.conf).startswith(text), f'{text!r}: the rest stands as it stood')
    gs.equal(stat.S_IMODE(os.stat(s.conf).st_mode), 0o640, f'{text!r}: its mode')
    gs.check(f'\noptional {plugin} dir={folder}/shared/%u\n' in s.read(s.plugstack),
             f'{text!r}: plugstack.conf: {s.read(s.plugstack)!r}')
    gs.check(s.read(s.plugstack).startswith(plugstack or ''), f"{text!r}: the site's plugins stay")
    gs.equal(stat.S_IMODE(os.stat(folder + '/shared').st_mode), 0o1777, f'{text!r}: shared/')
    gs.equal(stat.S_IMODE(os.stat(folder + '/state').st_mode), 0o700, f'{text!r}: state/')
    return before


def round_trips(where):
    for name in ('crlf and tabs', 'bytes'):
        text = CONFS[name]
        folder = os.path.join(where, f'trip {name}'.replace(' ', '-'))
        os.mkdir(folder)
        plugstack = None if name == 'bytes' else 'optional other.so x=1'
        s = Site(folder, text, plugstack)
        before = put_in_place(s, text, plugstack)
        s.undo(text)
        gs.equal(s.tree(), before, f'{name}: undone')


def twice(where):
    s = Site(where, CONFS['no end'])
    before = s.tree()
    gs.check('would write' in s.install('--dry-run', *s.options()), 'it says what it would do')
    gs.equal(s.tree(), before, 'a dry run changes nothing')
    s.install(*s.options())
    once = s.tree()
    gs.check('nothing to do' in s.install(*s.options()), 'a second time')
    gs.equal(s.tree(), once, 'twice is once')
    s.undo(CONFS['no end'])
    gs.equal(s.tree(), before, 'undone')
    s.install('--undo', want=1)


def refuses(where):
    folder = os.path.join(where, 'own')
    os.mkdir(folder)
    s = Site(folder, '')
    for key in ('TaskProlog', 'Prolog', 'Epilog', 'EpilogSlurmctld'):
        s.write(s.conf, f'ClusterName=big\n  {key.upper()} = /site/x\n')
        before = s.tree()
        text = s.install(*s.options(), want=1)
        gs.check(f'the site has {key}=/site/x' in text and '--chain' in text, f'{key}: {text}')
        gs.equal(s.tree(), before, f'{key}: nothing was changed')
    s.install(*s.options(), '--parts', 'taskprolog,prolog,epilog')
    gs.check('  EPILOGSLURMCTLD = /site/x\n' in s.read(s.conf), 'a part that is left out')
    s.undo('ClusterName=big\n  EPILOGSLURMCTLD = /site/x\n')
    gs.equal(s.tree(), before, 'undone')
    s = Site(os.path.join(where), 'ClusterName=big TaskProlog=/a\n')
    for text, why in (('ClusterName=big TaskProlog=/a\n', 'does not stand alone'),
                      ('TaskProlog=/a\nTaskprolog=/b\n', 'more than once'),
                      ('TaskProlog=/a Epilog=/b\n', 'does not stand alone'),
                      ('Include more.conf\n', 'it is included')):
        s.write(s.conf, text)
        s.write(os.path.join(os.path.dirname(s.conf), 'more.conf'), 'x=1\nTaskProlog=/a\n')
        before = s.tree()
        gs.check(why in s.install('--chain', *s.options(), want=1), f'{text!r}: {why}')
        gs.equal(s.tree(), before, f'{text!r}: nothing was changed')
    for options in (('--nonsense',), ('--dir',), ('--set', 'x'), ('--set', 'unknown=1'),
                    ('--set', 'dir=a\nb'), ('--parts', 'x')):
        s.install(*options, want=2)
    s.install('--dir', 'relative/%u', want=1)
    gs.equal(s.tree(), before, 'wrong use changes nothing')


def chains(where):
    s = Site(where, OWN)
    before = s.tree()
    site = os.path.join(where, 'site')
    os.mkdir(site)
    s.install('--chain', '--parts', PARTS, *s.options())
    gs.equal(s.value('PrologFlags'), 'Serial,Alloc', 'flags are added to')
    gs.equal(s.value('MailProg'), os.path.join(s.p.scripts, 'mailprog'), 'mail goes through ours')
    gs.check('\nmailer=/site/mail\n' in s.read(s.settings), "to the site's")
    gs.check('nothing to do' in s.install('--chain', '--parts', PARTS, *s.options()), 'twice')
    s.undo(OWN)
    os.rmdir(site)
    gs.equal(s.tree(), before, 'undone')


def chained_scripts(where):
    """The site's is called first, with what SLURM gives; its failure stays one and ends it."""
    s = Site(where, f'TaskProlog="{where}/it\'s;$(x)"\nProlog={where}/p.d/*.sh\nEpilog={where}/none*\n')
    s.p.program('gpustarve-collector')
    own = os.path.join(where, "it's;$(x)")
    s.write(own, '#!/bin/sh\necho "export SITE=$SLURM_JOB_ID $*"\nexit ${SITE_STATUS:-0}\n')
    os.chmod(own, 0o755)
    os.mkdir(os.path.join(where, 'p.d'))
    for name in ('1.sh', '2.sh'):
        s.write(os.path.join(where, 'p.d', name), f'#!/bin/sh\necho {name}\nexit ${{SITE_STATUS:-0}}\n')
        os.chmod(os.path.join(where, 'p.d', name), 0o755)
    s.install('--chain', '--parts', 'taskprolog,prolog,epilog', '--set', f'run={where}/run', *s.options())
    env = {**hooks.JOB, 'SLURM_STEP_ID': '0', 'SLURM_STEP_GPUS': '0', 'SLURM_SUBMIT_DIR': '/home/u'}

    def call(key, **more):
        return subprocess.run([s.value(key), 'an argument'], env={**env, **more}, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    done = call('TaskProlog')
    said = hooks.said(done)
    gs.equal((done.returncode, said.get('SITE'), said.get('LD_PRELOAD')),
             (0, '77 an argument', s.p.lib), 'both speak')
    done = call('TaskProlog', SITE_STATUS='4')
    gs.equal((done.returncode, hooks.said(done)), (4, {'SITE': '77 an argument'}), "the site's fails")
    gs.equal((call('Prolog').stdout, call('Prolog').returncode), (b'1.sh\n2.sh\n', 0), 'a pattern')
    done = call('Prolog', SITE_STATUS='5')
    gs.equal((done.stdout, done.returncode), (b'1.sh\n', 5), 'a pattern, the first fails')
    gs.equal(call('Epilog').returncode, 0, 'a pattern of nothing')
    os.unlink(own)
    gs.equal(call('TaskProlog').returncode, 0, "the site's has gone")


def remembers(where):
    """A second install keeps to the parts and launchers of the first one, and --check knows them. What
    Slurm starts until it reads slurm.conf again is left by the first --undo."""
    s = Site(where, CONFS['plain'])
    s.spank()
    before, launch = s.tree(), os.path.join(where, 'launch')
    parts = 'taskprolog,prolog,mailprog'
    s.install('--parts', parts + ',spank', '--launchers', launch, *s.options())
    gs.check('optional' in s.read(s.plugstack), 'the plugin')
    s.install('--parts', parts)
    gs.check('optional' not in s.read(s.plugstack), 'a part less')
    s.install('--default', 'off')
    gs.equal((s.value('TaskProlog'), s.value('Prolog'), s.value('MailProg')),
             (f'{launch}/taskprolog', f'{launch}/prolog', f'{s.p.scripts}/mailprog'), 'as before')
    gs.check('Epilog=' not in s.read(s.conf), 'no part more')
    os.rename(f'{launch}/prolog', f'{launch}/lost')
    text = s.install('--check', want=1)
    gs.check(f'ok       TaskProlog={launch}/taskprolog, which calls ' in text, f'--check: {text}')
    gs.check(f'MISSING  {launch}/prolog' in text, f'a launcher is missing: {text}')
    os.rename(f'{launch}/lost', f'{launch}/prolog')
    s.install('--undo')
    gs.equal((s.read(s.conf), os.access(f'{launch}/prolog', os.X_OK)), (CONFS['plain'], True), 'once')
    s.install('--undo')
    gs.equal(s.tree(), before, 'twice')


def changed_since(where):
    """What the site changes between install and undo stays."""
    s = Site(where, OWN, 'required a.so\n')
    s.spank()
    s.install('--chain', *s.options())
    s.write(s.conf, s.read(s.conf).replace('NodeName=n1\n', 'NodeName=n[1-2]\n') + 'PartitionName=p\n')
    s.write(s.plugstack, '# new\n' + s.read(s.plugstack))
    s.install('--undo')
    gs.equal(s.read(s.conf), OWN.replace('n1\n', 'n[1-2]\n') + 'PartitionName=p\n', 'slurm.conf')
    gs.equal(s.read(s.plugstack), '# new\nrequired a.so\n', 'plugstack.conf')
    s.install('--chain', *s.options())
    s.write(s.conf, s.read(s.conf) + 'Added=1\n')
    s.install('--chain', '--default', 'off', *s.options())
    gs.check('\ndefault=off\n' in s.read(s.settings), 'a setting is given again')
    s.install('--parts', 'taskprolog', '--chain')
    s.install('--undo')
    gs.equal(s.read(s.conf), OWN.replace('n1\n', 'n[1-2]\n') + 'PartitionName=p\nAdded=1\n',
             'slurm.conf after two installs')


def looks(where):
    s = Site(where, CONFS['plain'])
    gs.check('MISSING' in s.install('--check', want=1), 'nothing is there yet')
    s.install(*s.options())
    os.unlink(s.p.lib)
    text = s.install('--check', want=1)
    gs.check('MISSING  libprof.so' in text, f'no library: {text}')
    with open(s.p.lib, 'w'):
        pass
    text = s.install('--check', want=0 if os.getuid() == 0 else 1)
    gs.check('MISSING' not in text or os.getuid() != 0, f'all there: {text}')
    gs.check('recorded: jobs with GPUs\n' in text, f'who is recorded: {text}')
    os.chmod(s.p.scripts, 0o777)
    gs.check('others than root' in s.install('--check', want=1), 'others could change what root runs')


def partitions(where):
    """--partitions: hooks and plugin are told the same, and --check sees when they are not."""
    s = Site(where, CONFS['plain'] + 'PartitionName=gpu,a100 Nodes=n1\n')
    plugin = s.spank()
    before = s.tree()
    s.install('--partitions', 'gpu, a100', *s.options(), want=1)
    gs.equal(s.tree(), before, 'a list with blanks changes nothing')
    text = s.install('--partitions', 'gpu,gpuu', *s.options())
    gs.check('has no partition gpuu' in text and 'partition gpu\n' not in text, f'a slip: {text}')
    for line in ('default=off', 'partitions_on=gpu,gpuu'):
        gs.check(f'\n{line}\n' in s.read(s.settings), f'settings: {line}')
    line = f'optional {plugin} default=off partitions_on=gpu,gpuu dir={where}/shared/%u\n'
    gs.check(line in s.read(s.plugstack), f'plugstack.conf: {s.read(s.plugstack)}')
    s.write(s.settings, s.read(s.settings).replace('=gpu,gpuu', '=gpu'))
    text = s.install('--check', want=1)
    gs.check('jobs that ask, and all with GPUs in gpu\n' in text, f'who is recorded: {text}')
    gs.check("is not what the settings say" in text, f'changed by hand: {text}')
    s.install('--default', 'on', '--set', 'partitions_on=', '--set', 'partitions_off=gpu')
    text = s.install('--check')
    gs.check('jobs with GPUs; in gpu those that ask\n' in text, f'the other way round: {text}')


TESTS = (round_trips, partitions, remembers, refuses, changed_since, chained_scripts, twice, looks, chains)


def in_scratch(test):
    with gs.scratch() as where:
        os.chmod(where, 0o755)
        test(where)


def main():
    if os.getuid() != 0:
        gs.skip('slurm.conf is root\'s')
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for test in [pool.submit(in_scratch, test) for test in TESTS]:
            test.result()
    gs.finish()


main()
