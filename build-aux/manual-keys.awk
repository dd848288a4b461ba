# SPDX-License-Identifier: Apache-2.0
# awk -f manual-keys.awk lib/state/config/config-table.c docs/wheelcache.conf.5: prints the manual page of the configuration.
# Its text is that of docs/wheelcache.conf.5. From the rows of the table come the default of each key, whether it needs a
# restart, and the whole text of a key of which the manual says no more.

# --- the rows ---

FILENAME ~ /\.c$/ && /^\tROW\(|^\};/ {
	read_row()
	row = ""
}
FILENAME ~ /\.c$/ {
	if (row != "" || /^\tROW\(/)
		row = row " " $0
	next
}

# ROW("section", "key", …, NULL or "default", RELOAD or RESTART, "help" "of several lines"),
function read_row(  part, count, i, name) {
	if (row == "")
		return
	count = split(row, part, "\"")
	name = part[2] " " part[4]
	fallback[name] = part[5] ~ /NULL, / ? "none" : ""
	for (i = 5; part[i] !~ /RELOAD|RESTART/; i += 2)
		fallback[name] = fallback[name] part[i + 1]
	restart[name] = part[i] ~ /RESTART/
	for (i++; i <= count; i += 2)
		help[name] = help[name] part[i]
	sub(/ Default: none\.$/, "", help[name])
	sub(/ Default: /, " Without it: ", help[name])
	of_section[part[2]] = of_section[part[2]] " " part[4]
}

# --- the manual ---

/^\.S[hs] / {
	section = ""
}
/^\.Ss \[[a-z]+.*\] section$/ {
	section = substr($2, 2)
	sub(/\]$/, "", section)
}
/^\.Bl / {
	depth++
}
section != "" && depth == 1 && /^\.(It Ic [a-z0-9-]+|El)$/ {
	end_item()
	if ($1 == ".It")
		key = $3
	else if (has_keys)
		add_items()
	has_keys = $1 == ".It"
}
/^\.El$/ {
	depth--
}
{
	print
	last = $0
}

# The end of the text of the key.
function end_item(  name) {
	if (key == "")
		return
	name = section " " key
	if (!(name in fallback)) {
		print "manual-keys.awk: [" section "] " key " is no key" >"/dev/stderr"
		exit 1
	}
	if (last ~ /^\.It /)
		print help[name]
	if (last == ".El")
		print ".Pp"
	if (restart[name])
		print "Takes effect after a restart."
	print "Default: " fallback[name] "."
	written[name] = 1
	key = ""
}

# Items for the keys of the section of which the manual has none.
function add_items(  i, keys, count) {
	count = split(of_section[section], keys, " ")
	for (i = 1; i <= count; i++)
		if (!((section " " keys[i]) in written)) {
			key = keys[i]
			print ".It Ic " key
			last = ".It "
			end_item()
		}
}
