# SPDX-License-Identifier: Apache-2.0
# awk -v to=FOLDER -f manual-pages.awk cli/*.c cli/*/*.c docs/wheelcache.1: writes a manual page for each command of the
# program to FOLDER, and wheelcache.1 without these parts. Everything is said once: in docs/wheelcache.1, or in a row of the
# sources, from which come the line of each command, and the options of which the manual says no more than --help.

# --- the sources of the commands: their rows ---

FILENAME ~ /\.c$/ && /^(static )?const struct option_row [a-z_]+\[.*\] = \{$/ {
	split($0, word, "[][ ]+")
	array = FILENAME " " word[index($0, "static") == 1 ? 5 : 4]
	row_text = ""
	next
}
FILENAME ~ /\.c$/ && array != "" {
	if (/^\};/) {
		read_rows(array, row_text)
		array = ""
	}
	row_text = row_text " " $0
	next
}
FILENAME ~ /\.c$/ && /^\t\.name = "/ {
	split($0, word, "\"")
	name = word[2]
	is_command[name] = 1
}
FILENAME ~ /\.c$/ && /^\t\.rows = / {
	delete is_command[name]
}
FILENAME ~ /\.c$/ && /^\t\.help = "/ {
	split($0, word, "\"")
	help[name] = word[2]
}
FILENAME ~ /\.c$/ && /^\t(OPTIONS\(|\.options = )/ {
	split($0, word, "[(),= \t]+")
	options_of[name] = FILENAME " " word[3]
}
FILENAME ~ /\.c$/ && /^\t\.option_count = [0-9]/ {
	limit_of[name] = $3 + 0
}
FILENAME ~ /\.c$/ && /^\t\.shared =/ {
	in_shared = 1
}
FILENAME ~ /\.c$/ && in_shared {
	shared_of[name] = shared_of[name] " " $0
	in_shared = !/,$/
}
FILENAME ~ /\.c$/ {
	next
}

# The rows of an array: {"name", 'letter', "VALUE", "help", …}. Those of the shared ones have [SHARED_NAME] before them.
function read_rows(array, text,  row, field, count, key, help_text) {
	while (match(text, /(\[SHARED_[A-Z_]+\] = )?\{"[a-z-]+", '[^']+', (NULL|"[^"]*"),[ \t]*"([^"\\]|\\.)*"/)) {
		row = substr(text, RSTART, RLENGTH)
		text = substr(text, RSTART + RLENGTH)
		key = array " " ++rows_of[array]
		if (match(row, /^\[SHARED_[A-Z_]+\]/))
			key = substr(row, 9, RLENGTH - 9)
		if (key !~ / /) {
			shared_name[++shared_count] = key
			key = "SHARED " key
		}
		split(row, field, "\"")
		row_name[key] = field[2]
		row_letter[key] = field[3] ~ /\\/ ? "" : substr(field[3], 4, 1)
		row_value[key] = row ~ /', NULL,/ ? "" : field[4]
		sub(/^.*', (NULL|"[^"]*"),[ \t]*"/, "", row)
		help_text = substr(row, 1, length(row) - 1)
		gsub(/\\"/, "\"", help_text)
		row_help[key] = toupper(substr(help_text, 1, 1)) substr(help_text, 2) "."
	}
}

# The keys of the rows of a command, in the order of its help, in keys[1…]; returns their number.
function rows_of_command(command, keys,  count, i, flags) {
	count = 0
	for (i = 1; i <= rows_of[options_of[command]] && (!(command in limit_of) || i <= limit_of[command]); i++)
		keys[++count] = options_of[command] " " i
	flags = shared_of[command]
	if (index(flags, "SHARED_BASE"))
		flags = flags " SHARED(CONFIG) SHARED(CATALOG) SHARED(LOG_LEVEL)"
	for (i = 1; i <= shared_count; i++)
		if (index(flags, "SHARED(" shared_name[i] ")"))
			keys[++count] = "SHARED " shared_name[i]
	return count
}

function item_of(key,  letter, value) {
	letter = row_letter[key] == "" ? "" : "Fl " row_letter[key] " , "
	value = row_value[key] == "" ? "" : " Ar " row_value[key]
	sub(/\.\.\.$/, " ...", value)
	return ".It " letter "Fl Fl " row_name[key] value "\n" row_help[key] "\n"
}

# The section of a command with an item for each option that it does not speak of, at the end of its list of options: the
# row of the option says all that there is to say.
function with_options(command, text,  lines, count, i, keys, rows, has, items, begin, depth, out, end) {
	if (!(command in is_command) || command == "")
		return text
	count = split(text, lines, "\n")
	begin = 0
	for (i = 1; i <= count; i++)
		if (match(lines[i], /^\.It (Fl . , )?Fl Fl [a-z-]+/)) {
			end = substr(lines[i], RSTART, RLENGTH)
			sub(/.* /, "", end)
			has[end] = 1
			begin = begin ? begin : i
		}
	items = ""
	rows = rows_of_command(command, keys)
	for (i = 1; i <= rows; i++)
		if (!(row_name[keys[i]] in has))
			items = items item_of(keys[i])
	if (!("help" in has))
		items = items ".It Fl h , Fl Fl help\nPrint the options and exit.\n"
	if (!begin)
		return text ".Bl -tag -width Ds\n" items ".El\n"
	out = ""
	depth = 0
	for (i = 1; i < count; i++) {
		if (i > begin && lines[i] ~ /^\.Bl/)
			depth++
		if (i > begin && lines[i] ~ /^\.El/ && !depth--) {
			out = out items
			begin = count
		}
		out = out lines[i] "\n"
	}
	return out
}

# --- the manual ---

/^\.Dd / {
	date = $0
}
/^\.Sh / {
	end_section()
	part = ""
	if ($2 == "WHAT")
		list_commands()
}
# The sections of one group need not be together: "evidence list" comes behind "view".
/^\.Ss wheelcache / {
	end_section()
	part = $3
	if (!(part in body))
		order[++count] = part
	body[part] = body[part] (NF > 3 ? $0 "\n" : "")
	section = NF > 3 ? $3 " " $4 : $3
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
	section_text = section_text line "\n"
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

function end_section() {
	if (part != "")
		body[part] = body[part] with_options(section, section_text)
	section_text = ""
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
