# SPDX-License-Identifier: Apache-2.0
# awk -v to=FOLDER -f manual-pages.awk cli/*.c cli/*/*.c docs/wheelcache.1: writes a manual page for each command of the
# program to FOLDER, and wheelcache.1 without these parts. Everything is said once, in docs/wheelcache.1; the line of each
# command comes from its row in the sources.

# --- the sources of the commands ---

FILENAME ~ /\.c$/ && /^\t\.name = "/ {
	split($0, word, "\"")
	name = word[2]
}
FILENAME ~ /\.c$/ && /^\t\.help = "/ {
	split($0, word, "\"")
	help[name] = word[2]
}
FILENAME ~ /\.c$/ {
	next
}

# --- the manual ---

/^\.Dd / {
	date = $0
}
/^\.Sh / {
	part = ""
	if ($2 == "WHAT")
		list_commands()
}
# The sections of one group need not be together: "evidence list" comes behind "view".
/^\.Ss wheelcache / {
	part = $3
	if (!(part in body))
		order[++count] = part
	body[part] = body[part] (NF > 3 ? $0 "\n" : "")
	next
}
/^\.Sh SYNOPSIS/ {
	in_synopsis = 1
}
/^\.Sh DESCRIPTION/ {
	in_synopsis = 0
}
{
	line = $0
	sub(/^\.Sx wheelcache /, ".Xr wheelcache-", line)
	if (line != $0)
		sub(/-[a-z]+/, "& 1", line)
}
part != "" {
	if (line ~ /^\.Nm( [.,;:)])?$/)
		line = ".Nm wheelcache" substr(line, 4)
	body[part] = body[part] line "\n"
	next
}
in_synopsis && /^\.Nm$/ {
	block++
}
in_synopsis && block {
	synopsis[block] = synopsis[block] (line == ".Nm" ? ".Nm wheelcache" : line) "\n"
}
{
	overview = overview line "\n"
}

function list_commands(  i, text) {
	overview = overview ".Sh COMMANDS\nEach command has a page of its own:\n.Bl -tag -width Ds\n"
	for (i = 1; i <= count; i++) {
		text = help[order[i]]
		overview = overview ".It Xr wheelcache-" order[i] " 1\n" toupper(substr(text, 1, 1)) substr(text, 2) ".\n"
	}
	overview = overview ".El\n"
}

# The lines of SYNOPSIS for a command: those whose first word it is, alone or beside others (".Cm yank | unyank").
function synopsis_of(command,  i, lines, found, heads, own) {
	found = ""
	for (i = 1; i <= block; i++) {
		split(synopsis[i], lines, "\n")
		heads = " " substr(lines[2], 5) " "
		if (lines[2] !~ /^\.Cm / || !index(heads, " " command " "))
			continue
		own = synopsis[i]
		sub(/\n\.Cm [^\n]*\n/, "\n.Cm " command "\n", own)
		found = found own
	}
	return found
}

function write_page(command,  file) {
	file = to "/wheelcache-" command ".1"
	printf ".\\\" SPDX-License-Identifier: Apache-2.0\n.\\\" made of docs/wheelcache.1\n%s\n", date >file
	printf ".Dt WHEELCACHE-%s 1\n.Os\n.Sh NAME\n.Nm wheelcache-%s\n.Nd %s\n", toupper(command), command, help[command] >file
	printf ".Sh SYNOPSIS\n%s.Sh DESCRIPTION\n%s", synopsis_of(command), body[command] >file
	printf ".Sh SEE ALSO\n.Xr wheelcache 1 ,\n.Xr wheelcache.conf 5\n" >file
	close(file)
}

END {
	for (i = 1; i <= count; i++)
		write_page(order[i])
	printf "%s", overview >(to "/wheelcache.1")
}
