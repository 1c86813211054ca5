# SPDX-License-Identifier: Apache-2.0
# Completion of gpustarve and gpustarve-collector for bash. Needs nothing but bash 4.4; found by
# bash-completion where it is installed, else:  source gpustarve.bash
# The tables are those of `--help`; build/tests/completions --write FILE makes them anew, and
# tests/e2e/house/test_completion.py compares them.

# ---- of the tables of options, by completions.c ----
_gpustarve_commands='run top report runs verify check fit loader import export job put dump digest fleet node pulses prices demo doctor'

declare -A _gpustarve_options=(
	[run]='-o --output --price --price-model --label --no-identities --unit --level --max-overhead --max-trace --collector --alert --budget --exec --no-projection --open --no-report -q --quiet'
	[top]='--run --store --interval --once --sort --price --price-model --token-file --ca-file'
	[report]='--format -o --output --open --price --price-model --window --waste --unit --job --dir --cluster --runs-per-month --no-projection'
	[runs]='--last --format'
	[verify]='-q --quiet'
	[check]='--budget --baseline --update-baseline --add-to-baseline --require-baseline --alpha --min-effect --run-spread --warmup --at-step --baselines --faster --scale-to --replay --price --price-model --window --waste --fail-on-warn -o --output --also --format'
	[fit]='--provider --price-model --price --format'
	[loader]='--step-ms --from --seconds --format'
	[import]='-o --output -q --quiet'
	[export]='--format -o --output --table --price --price-model --window -q --quiet'
	[job]='-d --dir --cluster --price --price-model --lose --token-file --ca-file'
	[put]='--segment-bytes'
	[dump]='--samples --batches --steps --estimate --streams --since'
	[digest]='--store -o --output --team --revision --provisional --resume --price --price-model --with-runs --from --flush --budget --exec'
	[fleet]='--store --by --since --until --team --top --plan --reserved --own --prices --currency --timezone --sacct --invoice --require-label --budget --exec --partial --format --links -o --output'
	[node]='--store --team --look --every --for --price-model'
	[pulses]='--store --since --budget --usd-per-gpu-hour'
	[prices]='-o --output --provider --date --price-model'
	[demo]='--open --path'
	[doctor]='--pid --job --pod'
	[collector]='--dir --unix --any-user --listen --cert --key --client-ca --token-file --no-token --insecure-http --admission --inject --limits --limit --quota --keep --keep-label --store --archive --work --reports --once --again --budget --sweep --dry-run --alert --exec --usd-per-gpu-hour --upstream --upstream-token-file --upstream-ca --upstream-cert --upstream-key --upstream-exec --outbox-max --forwarded --linger --gateway --gateway-memory --gather --until-eof --grace --silence --idle-exit --ready-fd --foreground --verbose --version'
)

# Of "command option": the words that its value may be, or what kind of file. An option
# that is not here takes no value.
declare -A _gpustarve_values=(
	[run -o]=@folder
	[run --output]=@folder
	[run --price]=@none
	[run --price-model]='on-demand spot reserved owned'
	[run --label]=@none
	[run --unit]=@none
	[run --level]='0 1 2'
	[run --max-overhead]=@none
	[run --max-trace]=@none
	[run --collector]=@file
	[run --alert]=@none
	[run --budget]=@none
	[run --exec]=@none
	[top --run]=@none
	[top --store]=@none
	[top --interval]=@none
	[top --sort]='waste rank busy idle'
	[top --price]=@none
	[top --price-model]='on-demand spot reserved owned'
	[top --token-file]=@file
	[top --ca-file]=@file
	[report --format]='text json html markdown'
	[report -o]=@file
	[report --output]=@file
	[report --price]=@none
	[report --price-model]='on-demand spot reserved owned'
	[report --window]='job device'
	[report --waste]='@list compute comm copy input.fetch input.prep input.cpu_starved input.pipeline input.handoff input.epoch input.inline input.h2d input.unknown host.dispatch host.cpu_work host.sync host.alloc host.gc host.lock host.checkpoint host.phase host.cpu_starved host.warmup host.net host.wait host.no_work host.unknown device.turnaround device.launch device.dependency device.host_code device.graph device.contention device.lost device.unknown comm.skew excluded.startup excluded.teardown excluded.unobserved excluded.no_process'
	[report --unit]=@none
	[report --job]=@none
	[report --dir]=@folder
	[report --cluster]=@none
	[report --runs-per-month]=@none
	[runs --last]=@none
	[runs --format]='text json'
	[check --budget]=@none
	[check --baseline]=@file
	[check --alpha]=@none
	[check --min-effect]=@none
	[check --run-spread]=@none
	[check --warmup]=@none
	[check --at-step]=@none
	[check --baselines]=@folder
	[check --faster]=@none
	[check --scale-to]=@none
	[check --replay]=@file
	[check --price]=@none
	[check --price-model]='on-demand spot reserved owned'
	[check --window]='job device'
	[check --waste]='@list compute comm copy input.fetch input.prep input.cpu_starved input.pipeline input.handoff input.epoch input.inline input.h2d input.unknown host.dispatch host.cpu_work host.sync host.alloc host.gc host.lock host.checkpoint host.phase host.cpu_starved host.warmup host.net host.wait host.no_work host.unknown device.turnaround device.launch device.dependency device.host_code device.graph device.contention device.lost device.unknown comm.skew excluded.startup excluded.teardown excluded.unobserved excluded.no_process'
	[check -o]=@file
	[check --output]=@file
	[check --also]=@none
	[check --format]='text json junit github gitlab markdown'
	[fit --provider]=@none
	[fit --price-model]='on-demand spot reserved owned'
	[fit --price]=@none
	[fit --format]='text json'
	[loader --step-ms]=@none
	[loader --from]=@file
	[loader --seconds]=@none
	[loader --format]='text json'
	[import -o]=@file
	[import --output]=@file
	[export --format]='perfetto kineto sqlite folded pprof prometheus focus csv'
	[export -o]=@file
	[export --output]=@file
	[export --table]='gaps classes gpus steps outcomes'
	[export --price]=@none
	[export --price-model]='on-demand spot reserved owned'
	[export --window]='job device'
	[job -d]=@folder
	[job --dir]=@folder
	[job --cluster]=@none
	[job --price]=@none
	[job --price-model]='on-demand spot reserved owned'
	[job --lose]=@none
	[job --token-file]=@file
	[job --ca-file]=@file
	[put --segment-bytes]=@none
	[dump --since]=@none
	[digest --store]=@none
	[digest -o]=@file
	[digest --output]=@file
	[digest --team]=@none
	[digest --revision]=@none
	[digest --price]=@none
	[digest --price-model]='on-demand spot reserved owned'
	[digest --from]=@file
	[digest --budget]=@none
	[digest --exec]=@none
	[fleet --store]=@none
	[fleet --by]='team user account project partition qos cluster kind provider instance gpu model week end class line fix compute failed bill month run lost unused hours off-hours plan savings review namespace'
	[fleet --since]=@none
	[fleet --until]=@none
	[fleet --team]=@none
	[fleet --top]=@none
	[fleet --reserved]=@none
	[fleet --own]=@none
	[fleet --prices]=@file
	[fleet --currency]=@file
	[fleet --timezone]=@none
	[fleet --sacct]=@file
	[fleet --invoice]=@file
	[fleet --require-label]=@none
	[fleet --budget]=@none
	[fleet --exec]=@none
	[fleet --format]='text json csv html focus'
	[fleet -o]=@file
	[fleet --output]=@file
	[node --store]=@none
	[node --team]=@none
	[node --look]=@none
	[node --every]=@none
	[node --for]=@none
	[node --price-model]='on-demand spot reserved owned'
	[pulses --store]=@none
	[pulses --since]=@none
	[pulses --budget]=@none
	[pulses --usd-per-gpu-hour]=@none
	[prices -o]=@file
	[prices --output]=@file
	[prices --provider]=@none
	[prices --date]=@none
	[prices --price-model]='on-demand spot reserved owned'
	[doctor --pid]=@none
	[doctor --job]=@none
	[doctor --pod]=@none
	[collector --dir]=@folder
	[collector --unix]=@file
	[collector --listen]=@none
	[collector --cert]=@file
	[collector --key]=@file
	[collector --client-ca]=@file
	[collector --token-file]=@file
	[collector --admission]=@none
	[collector --inject]=@none
	[collector --limits]=@file
	[collector --limit]=@none
	[collector --quota]=@none
	[collector --keep]=@none
	[collector --keep-label]=@none
	[collector --store]=@none
	[collector --archive]=@none
	[collector --work]=@none
	[collector --again]=@none
	[collector --budget]=@none
	[collector --alert]=@none
	[collector --exec]=@none
	[collector --usd-per-gpu-hour]=@none
	[collector --upstream]=@none
	[collector --upstream-token-file]=@file
	[collector --upstream-ca]=@file
	[collector --upstream-cert]=@file
	[collector --upstream-key]=@file
	[collector --upstream-exec]=@none
	[collector --outbox-max]=@none
	[collector --forwarded]='keep remove'
	[collector --linger]=@none
	[collector --gateway]=@none
	[collector --gateway-memory]=@none
	[collector --gather]=@none
	[collector --until-eof]=@none
	[collector --grace]=@none
	[collector --silence]=@none
	[collector --idle-exit]=@none
	[collector --ready-fd]=@none
)
# ---- end of the tables ----

_gpustarve_words() { # WORDS CURRENT
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_gpustarve_files() { # CURRENT [compgen option...]
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen "${@:2}" -- "$1")
}

# Runs, and folders that hold some; all folders where there is neither, to walk on.
_gpustarve_runs() { # CURRENT
	local path found=()

	compopt -o filenames 2>/dev/null
	while IFS= read -r path; do
		case $path in
		*.gst | *.spool) found+=("$path") ;;
		*) [ -d "$path" ] && compgen -G "$path/*.gst" >/dev/null && found+=("$path") ;;
		esac
	done < <(compgen -f -- "$1")
	if [ ${#found[@]} -eq 0 ]; then
		_gpustarve_files "$1" -d
	else
		COMPREPLY=("${found[@]}")
	fi
}

# The last of names between commas.
_gpustarve_list() { # WORDS CURRENT
	local before= word words=()

	[[ $2 == *,* ]] && before=${2%,*},
	for word in $1; do words+=("$before$word"); done
	_gpustarve_words "${words[*]}" "$2"
}

_gpustarve_value() { # KIND CURRENT
	case $1 in
	@none) ;;
	@file) _gpustarve_files "$2" -f ;;
	@folder) _gpustarve_files "$2" -d ;;
	@list\ *) _gpustarve_list "${1#@list }" "$2" ;;
	*) _gpustarve_words "$1" "$2" ;;
	esac
}

# Where the words of a command of its own begin behind `run`: behind -- or at the first that is no
# option. Empty: not yet.
_gpustarve_inner() {
	local i word

	for ((i = 2; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case $word in
		--) echo $((i + 1)) && return ;;
		-*) [ -n "${_gpustarve_values[run $word]}" ] && i=$((i + 1)) ;;
		=) i=$((i + 1)) ;;
		*) echo "$i" && return ;;
		esac
	done
}

_gpustarve_command() { # FIRST CURRENT: another command's words
	if declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif [ "$1" -eq "$COMP_CWORD" ]; then
		_gpustarve_files "$2" -c
	else
		_gpustarve_files "$2" -f
	fi
}

_gpustarve_operand() { # COMMAND CURRENT
	case $1 in
	top | report | verify | check | fit | export | dump | digest) _gpustarve_runs "$2" ;;
	import) _gpustarve_files "$2" -f ;;
	job) [ "$COMP_CWORD" -eq 2 ] && _gpustarve_words 'begin end comment list' "$2" ;;
	prices)
		if [ "$COMP_CWORD" -eq 2 ]; then
			_gpustarve_words 'list show import' "$2"
		elif [ "${COMP_WORDS[2]}" = import ]; then
			_gpustarve_files "$2" -f
		fi
		;;
	esac
}

_gpustarve_of() { # COMMAND: options, their values, operands
	local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} kind inner

	if [ "$current" = = ]; then # --option=
		current=
	elif [ "$before" = = ]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if [ "$1" = run ]; then
		inner=$(_gpustarve_inner)
		[ -n "$inner" ] && _gpustarve_command "$inner" "$current" && return
	fi
	kind=${_gpustarve_values[$1 $before]}
	if [ -n "$kind" ]; then
		_gpustarve_value "$kind" "$current"
	elif [[ $current == -* ]]; then
		_gpustarve_words "${_gpustarve_options[$1]} -h --help" "$current"
	elif [ "$1" = run ]; then
		_gpustarve_command "$COMP_CWORD" "$current"
	else
		_gpustarve_operand "$1" "$current"
	fi
}

_gpustarve() {
	local name=${COMP_WORDS[1]}

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		_gpustarve_words "$_gpustarve_commands --help --version" "$name"
	elif [[ " $_gpustarve_commands " == *" $name "* ]]; then
		_gpustarve_of "$name"
	fi
}

_gpustarve_collector() {
	COMPREPLY=()
	_gpustarve_of collector
}

complete -F _gpustarve gpustarve
complete -F _gpustarve_collector gpustarve-collector
