# SPDX-License-Identifier: LGPL-2.1-or-later
# What bash does with the tables that stand above this in the completion of scrub.
# shellcheck shell=bash
_scrub_complete_values()
{
	local values=$1 current=$2

	case $values in
	-d | -f) mapfile -t COMPREPLY < <(compgen "$values" -- "$current") ;;
	*) mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current") ;;
	esac
}

_scrub()
{
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local verb=${COMP_WORDS[1]} values

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$_scrub_verbs --help --version" -- "$current")
		return
	fi
	# bash takes "--option=value" apart at the "=".
	if [ "$current" = "=" ]; then
		current=
	elif [ "$previous" = "=" ] && [ "$COMP_CWORD" -ge 3 ]; then
		previous=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if values=$(_scrub_values "$previous"); then
		_scrub_complete_values "$values" "$current"
		return
	fi
	case $verb:$current in
	*:-*) _scrub_complete_values "$(_scrub_options "$verb")" "$current" ;;
	help:*) _scrub_complete_values "$_scrub_verbs" "$current" ;;
	config:*)
		_scrub_complete_values "$_scrub_settings" "$current"
		[ ${#COMPREPLY[@]} -gt 0 ] && compopt -o nospace 2>/dev/null
		;;
	esac
}
