# SPDX-License-Identifier: Apache-2.0
"""What a command takes, told three times: by its table of options in the source, by its --help and
by its page of the manual. And the commands' names and the export formats, for those who repeat
them (completion)."""
import functools
import os
import re

import gs

DOCS = os.path.join(gs.SOURCE, 'docs')
SOURCES = {'run': 'viewer/run/run_options.c', 'check': 'viewer/cmd/check_options.c', 'collector': 'collector/options.c',
           'loader': 'viewer/cmd/loader_feed.c', 'node': 'viewer/cmd/unwrapped.c'}
ENTRY = re.compile(r'\*\*(--?[a-z][a-z-]*)\*\*(?: \*([^*]+)\*)?')
WORD = re.compile(r'(--?[a-z][a-z-]*)(?: ([^\s,]+))?')


class Option:
    """One option: the name of its argument or None, and what is said of it."""

    def __init__(self, argument, text):
        self.argument, self.text = argument, text


def read(*parts):
    with open(os.path.join(*parts), encoding='utf-8', errors='replace') as f:
        return f.read()


def page_path(name):
    return os.path.join(DOCS, f'gpustarve-{name}.md' if name else 'gpustarve.md')


@functools.lru_cache(maxsize=None)
def help_text(name):
    if name == 'collector':
        done = gs.command([gs.CLI + '-collector', '--help'])
    else:
        done = gs.gpustarve(*([name] if name else []), '--help')
    gs.equal(done.returncode, 0, f'{name} --help')
    return done.stdout.decode()


def commands():
    """The commands that `gpustarve --help` lists."""
    return [n for n in re.findall(r'^  ([a-z]+) ', help_text(None), re.M) if n != 'gpustarve']


def formats(name='export'):
    """The formats that a command's --help lists below --format."""
    below = help_text(name).split('  --format F', 1)[1].split('\n\n', 1)[0]
    return re.findall(r'^      ([a-z]+)  ', below, re.M)


def entries(named, text):
    """Options of one entry. A short name before a long one shares its argument."""
    out = {}
    for i, (option, argument) in enumerate(named):
        if not argument and not option.startswith('--') and i + 1 < len(named):
            argument = named[i + 1][1]
        out[option] = Option(argument or None, text)
    return out


def of_help(name):
    out, block = {}, None
    for line in help_text(name).splitlines():
        m = re.match(r'  (-.*?)(?:  +(.*))?$', line)
        if m:
            block = entries(WORD.findall(m.group(1)), m.group(2) or '')
            out.update(block)
        elif block and re.match(r' {6}', line):
            for o in block.values():
                o.text += '\n' + line.strip()
        else:
            block = None
    return out


def of_page(name):
    out, block = {}, None
    for line in read(page_path(name)).splitlines():
        if line.startswith('**-'):
            block = entries(ENTRY.findall(line), '')
            out.update(block)
        elif block is not None and (line.startswith((':   ', '    ')) or not line):
            for o in block.values():
                o.text += line[4:] + '\n'
        else:
            block = None
    return out


def of_source(name):
    """The command's table of options: option to whether it takes an argument."""
    text = read(gs.SOURCE, SOURCES.get(name, f'viewer/cmd/{name}.c'))
    table = text[text.index('static const struct base_opt opt[] = {'):]
    out = {}
    for long, letter, argument in re.findall(r"\{ \"([a-z-]+)\", (?:0|'(.)'), (NULL|\"[^\"]*\"),", table):
        out['--' + long] = argument != 'NULL'
        if letter:
            out['-' + letter] = argument != 'NULL'
    for long in re.findall(r'\{ "([a-z-]+)", \.kind', table):
        out['--' + long] = False
    if '{ BASE_HELP }' in table:
        out.update({'-h': False, '--help': False})
    return out


def operands(text):
    """The words of a usage that stand for something and belong to no option."""
    words = re.sub(r'--?[a-z][a-z-]* [A-Z|a-z0-9,.-]+', ' ', text)
    return set(re.findall(r'\b[A-Z]{2,}\b', words))


def defaults(text):
    """The literal values that a text calls the default."""
    flat = ' '.join(text.replace('`', '').replace('*', '').split())
    out = set(re.findall(r'(?<= )\((\./\S+|\d+)\)', flat))
    out |= set(re.findall(r'([a-z][a-z.-]*) \(default[);,]', flat))
    for said in re.findall(r'[Dd]efault: (.*?)(?:\.(?= |$)|[;)]|$)', flat):
        out |= set(re.findall(r'(?:^|else )(\.?/\S+|\d+|stdout|job)(?=$|[ ,.])', said))
    return out
