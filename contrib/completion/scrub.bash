# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for scrub. The layout test compares the words with the table of verbs; make install
# puts the name of the command into the last lines.

# The options of a verb.
_scrub_options()
{
	case $1 in
	init) echo "--quiet --json --state --block-size --parity --no-parity --parity-unit" \
		"--exclude --cross-mounts --help" ;;
	run) echo "--quiet --json --verbose --jobs --reads-in-flight --state --wait --existing" \
		"--allow-missing --allow-moved --force-mounted --map --from-previous --cached" \
		"--repair --kernel --block-size --parity --no-parity" \
		"--parity-unit --exclude --cross-mounts --help" ;;
	verify) echo "--quiet --json --verbose --jobs --reads-in-flight --state --manifest --wait" \
		"--allow-moved --force-mounted --map --cached --kernel --help" ;;
	repair) echo "--quiet --json --state --wait --allow-moved --from --dry-run --force --undo --purge" \
		"--kernel --help" ;;
	accept) echo "--quiet --json --verbose --jobs --reads-in-flight --state --wait --kernel --help" ;;
	status) echo "--quiet --json --state --manifest --help" ;;
	list) echo "--quiet --json --state --manifest --damaged --long --help" ;;
	export) echo "--quiet --state --manifest --wait --format --help" ;;
	config) echo "--quiet --json --state --wait --help" ;;
	bench) echo "--json --block-size --kernel --classic --help" ;;
	help) echo "--help" ;;
	esac
}

_scrub_verbs="init run verify repair accept status list export config bench help"
_scrub_settings="block-size= parity= parity-unit= exclude= cross-mounts= frozen= ctime= inode=
	mtime-window= stale-after= content= copy="

# The values of the option $1: prints words, or the action (-d, -f) for names.
_scrub_values()
{
	case $1 in
	--state | --map) echo -d ;;
	--from) echo -f ;;
	-m | --manifest) echo -f ;;
	--format) echo "sfv json ddrescue" ;;
	--kernel) echo "cycle inet= crc32= xor= fused= without=" ;;
	--block-size) echo "4K 16K 64K 256K 1M" ;;
	--parity) echo "8 16 32 64" ;;
	--parity-unit) echo "64 512 4K" ;;
	*) return 1 ;;
	esac
}

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

complete -o default -o bashdefault -F _scrub scrub
