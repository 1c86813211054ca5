# SPDX-License-Identifier: Apache-2.0
"""What a shell offers behind a line: in bash by calling the completion as bash does, in zsh by
pressing a key in an interactive shell in a pseudo-terminal. Many lines per shell, for starting
one takes its time."""
import os
import shutil
import subprocess

import gs

FOLDER = os.path.join(gs.SOURCE, 'completion')

# Words of a line come separated by tabs, so that none is split again; `=` is a word in bash.
BASH = r'''
source "$1"
declare -F _command_offset && exit 9
while IFS= read -r line; do
	IFS=$'\t' read -r -a COMP_WORDS <<<"$line."
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMP_WORDS[COMP_CWORD]=${COMP_WORDS[COMP_CWORD]%.}
	COMPREPLY=()
	how=$(complete -p "${COMP_WORDS[0]}")
	[[ $how =~ -F\ ([^ ]+) ]] && "${BASH_REMATCH[1]}"
	(IFS=$'\t'; printf '%s\n' "${COMPREPLY[*]}")
done
'''

# Each set of matches goes through compadd, whose own answer to -A is what fits. They go into a file,
# past the terminal, which would fold and colour them.
ZSH_RC = r"""
PS1= PROMPT= RPROMPT=
stty -echo
fpath=('%(completion)s' $fpath)
autoload -U compinit
compinit -D -u
setopt no_beep
unset zle_bracketed_paste
compadd() {
	if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
		builtin compadd "$@"
		return
	fi
	local -a found
	builtin compadd -A found "$@"
	local hit
	for hit in $found; do print -r -- "$IPREFIX$hit" >>%(answers)s; done
	builtin compadd "$@"
}
collect() {
	_main_complete
	compstate[list]= compstate[insert]=
	print -r -- ENDED >>%(answers)s
	print DONE
}
zle -C show-found complete-word collect
bindkey -e
bindkey '^T' show-found
print READY
"""

ZSH = r"""
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "source $1"
zpty -r z out '*READY*'
while IFS= read -r line; do
	zpty -w -n z $'\C-u'"$line"$'\C-t'
	zpty -r z out '*DONE*'
done
zpty -w z exit
"""


def in_bash(lines, folder):
    """Each line a list of words, the last one being typed; returns a list of words for each."""
    env = gs.environment(PATH=os.environ['PATH'])
    done = subprocess.run(['bash', '--norc', '-c', BASH, 'bash', os.path.join(FOLDER, 'gpustarve.bash')],
                          input=''.join('\t'.join(words) + '\n' for words in lines), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env=env, timeout=240)
    gs.equal((done.returncode, done.stderr), (0, ''), 'bash')
    return [[w for w in line.split('\t') if w] for line in done.stdout.split('\n')[:-1]]


def in_zsh(lines, folder):
    """The same by zsh; None where there is no zsh."""
    if not shutil.which('zsh'):
        return None
    rc, answers = os.path.join(folder, '.completing.zsh'), os.path.join(folder, '.answers')
    with open(rc, 'w', encoding='utf-8') as f:
        f.write(ZSH_RC % {'completion': FOLDER, 'answers': answers})
    open(answers, 'w').close()
    env = gs.environment(PATH=os.environ['PATH'], TERM='dumb', HOME=folder, ZDOTDIR=folder)
    done = subprocess.run(['zsh', '-f', '-c', ZSH, 'zsh', rc], text=True, cwd=folder, env=env, timeout=240,
                          input=''.join(' '.join(words) + '\n' for words in lines),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    gs.equal((done.returncode, done.stderr), (0, ''), 'zsh')
    with open(answers, encoding='utf-8') as f:
        return [list(dict.fromkeys(text.split('\n')[:-1])) for text in f.read().split('ENDED\n')[:-1]]
