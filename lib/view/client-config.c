// SPDX-License-Identifier: Apache-2.0
#include "lib/view/client-config.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/format/escape.h"

enum { TEXT_MOST = 1 << 20 };

// The token in the file that pip, uv and curl read passwords from.
#define NETRC                                                                                                          \
	"machine <host>\n"                                                                                             \
	"login __token__\n"                                                                                            \
	"password TOKEN\n"
#define NETRC_PATH "~/.netrc, mode 600. TOKEN is from: wheelcache token add --read"

// clang-format off
const struct client_template client_template[] = {
	{"pip", "pip", "~/.config/pip/pip.conf, /etc/pip.conf, or pip.conf in a virtual environment", "#", false,
		"[global]\n"
		"index-url = <index>\n"
		"?http trusted-host = <netloc>\n"},
	{"pip", "pip", NETRC_PATH, "#", true, NETRC},

	{"uv", "uv", "~/.config/uv/uv.toml; in pyproject.toml the section is [[tool.uv.index]]", "#", false,
		"[[index]]\n"
		"name = \"wheelcache\"\n"
		"url = \"<index>\"\n"
		"default = true\n"},
	{"uv", "uv", "the environment. TOKEN is from: wheelcache token add --read", "#", true,
		"export UV_INDEX_WHEELCACHE_USERNAME=__token__\n"
		"export UV_INDEX_WHEELCACHE_PASSWORD=TOKEN\n"},

	{"poetry", "Poetry", "pyproject.toml", "#", false,
		"[[tool.poetry.source]]\n"
		"name = \"wheelcache\"\n"
		"url = \"<index>\"\n"
		"priority = \"primary\"\n"},
	{"poetry", "Poetry", "the environment. TOKEN is from: wheelcache token add --read", "#", true,
		"export POETRY_HTTP_BASIC_WHEELCACHE_USERNAME=__token__\n"
		"export POETRY_HTTP_BASIC_WHEELCACHE_PASSWORD=TOKEN\n"},

	{"pdm", "PDM", "pyproject.toml. The name pypi replaces PDM's own index", "#", false,
		"[[tool.pdm.source]]\n"
		"name = \"pypi\"\n"
		"?open url = \"<index>\"\n"
		"?token url = \"<scheme>://__token__:${WHEELCACHE_TOKEN}@<rest>\"\n"
		"?http verify_ssl = false\n"},
	{"pdm", "PDM", "the environment. TOKEN is from: wheelcache token add --read", "#", true,
		"export WHEELCACHE_TOKEN=TOKEN\n"},

	{"tox", "tox", "tox.ini", "#", false,
		"[testenv]\n"
		"set_env =\n"
		"?open     PIP_INDEX_URL = <index>\n"
		"?open     UV_DEFAULT_INDEX = <index>\n"
		"?token     PIP_INDEX_URL = <scheme>://__token__:{env:WHEELCACHE_TOKEN}@<rest>\n"
		"?token     UV_DEFAULT_INDEX = <scheme>://__token__:{env:WHEELCACHE_TOKEN}@<rest>\n"
		"?http     PIP_TRUSTED_HOST = <netloc>\n"},
	{"tox", "tox", "the environment. TOKEN is from: wheelcache token add --read", "#", true,
		"export WHEELCACHE_TOKEN=TOKEN\n"},

	{"github", "GitHub Actions", ".github/workflows/test.yml", "#", false,
		"?token # The secret WHEELCACHE_TOKEN of the repository is from: wheelcache token add --read\n"
		"name: test\n"
		"on: [push, pull_request]\n"
		"jobs:\n"
		"  test:\n"
		"    runs-on: ubuntu-latest\n"
		"    env:\n"
		"?open       PIP_INDEX_URL: <index>\n"
		"?open       UV_DEFAULT_INDEX: <index>\n"
		"?token       PIP_INDEX_URL: <scheme>://__token__:${{ secrets.WHEELCACHE_TOKEN }}@<rest>\n"
		"?token       UV_DEFAULT_INDEX: <scheme>://__token__:${{ secrets.WHEELCACHE_TOKEN }}@<rest>\n"
		"?http       PIP_TRUSTED_HOST: <netloc>\n"
		"    steps:\n"
		"      - uses: actions/checkout@v4\n"
		"      - uses: actions/setup-python@v5\n"
		"        with:\n"
		"          python-version: \"3.12\"\n"
		"      - run: python -m pip install -r requirements.txt\n"},

	{"gitlab", "GitLab CI", ".gitlab-ci.yml", "#", false,
		"?token # The masked variable WHEELCACHE_TOKEN of the project is from: wheelcache token add --read\n"
		"test:\n"
		"  image: python:3.12\n"
		"  variables:\n"
		"?open     PIP_INDEX_URL: <index>\n"
		"?open     UV_DEFAULT_INDEX: <index>\n"
		"?token     PIP_INDEX_URL: <scheme>://__token__:${WHEELCACHE_TOKEN}@<rest>\n"
		"?token     UV_DEFAULT_INDEX: <scheme>://__token__:${WHEELCACHE_TOKEN}@<rest>\n"
		"?http     PIP_TRUSTED_HOST: <netloc>\n"
		"  script:\n"
		"    - python -m pip install -r requirements.txt\n"},

	{"jenkins", "Jenkins", "Jenkinsfile", "//", false,
		"?token // The credential wheelcache-token, of the kind \"Secret text\", is from: wheelcache token add --read\n"
		"pipeline {\n"
		"    agent any\n"
		"    environment {\n"
		"?token         WHEELCACHE_TOKEN = credentials('wheelcache-token')\n"
		"?http         PIP_TRUSTED_HOST = '<netloc>'\n"
		"?open         PIP_INDEX_URL = '<index>'\n"
		"?open         UV_DEFAULT_INDEX = '<index>'\n"
		"    }\n"
		"    stages {\n"
		"        stage('test') {\n"
		"            steps {\n"
		"                sh '''\n"
		"?token                     export PIP_INDEX_URL=<scheme>://__token__:$WHEELCACHE_TOKEN@<rest>\n"
		"?token                     export UV_DEFAULT_INDEX=$PIP_INDEX_URL\n"
		"                    python3 -m venv venv\n"
		"                    venv/bin/pip install -r requirements.txt\n"
		"                '''\n"
		"            }\n"
		"        }\n"
		"    }\n"
		"}\n"},

	{"zuul", "Zuul", ".zuul.yaml", "#", false,
		"- job:\n"
		"    name: wheelcache-client\n"
		"    description: Lets pip and uv install from wheelcache.\n"
		"    pre-run: playbooks/wheelcache.yaml\n"
		"?token     secrets:\n"
		"?token       - wheelcache\n"},
	{"zuul", "Zuul", "playbooks/wheelcache.yaml", "#", false,
		"?token # The secret wheelcache, whose member is token, is from: wheelcache token add --read\n"
		"- hosts: all\n"
		"  tasks:\n"
		"    - name: Set the index of pip\n"
		"      become: true\n"
		"      ansible.builtin.copy:\n"
		"        dest: /etc/pip.conf\n"
		"        mode: \"0644\"\n"
		"        content: |\n"
		"          [global]\n"
		"          index-url = <index>\n"
		"?http           trusted-host = <netloc>\n"
		"    - name: Make the folder of uv's configuration\n"
		"      become: true\n"
		"      ansible.builtin.file:\n"
		"        path: /etc/uv\n"
		"        state: directory\n"
		"        mode: \"0755\"\n"
		"    - name: Set the index of uv\n"
		"      become: true\n"
		"      ansible.builtin.copy:\n"
		"        dest: /etc/uv/uv.toml\n"
		"        mode: \"0644\"\n"
		"        content: |\n"
		"          [[index]]\n"
		"          url = \"<index>\"\n"
		"          default = true\n"
		"?token     - name: Give pip and uv the token\n"
		"?token       no_log: true\n"
		"?token       ansible.builtin.copy:\n"
		"?token         dest: ~/.netrc\n"
		"?token         mode: \"0600\"\n"
		"?token         content: |\n"
		"?token           machine <host>\n"
		"?token           login __token__\n"
		"?token           password {{ wheelcache.token }}\n"},

	{"docker", "Docker", "Dockerfile", "#", false,
		"?token # docker build --secret id=netrc,src=$HOME/.netrc .\n"
		"FROM python:3.12\n"
		"ENV PIP_INDEX_URL=<index> UV_DEFAULT_INDEX=<index>\n"
		"?http ENV PIP_TRUSTED_HOST=<netloc>\n"
		"COPY requirements.txt .\n"
		"?open RUN pip install --no-cache-dir -r requirements.txt\n"
		"?token RUN --mount=type=secret,id=netrc,target=/root/.netrc pip install --no-cache-dir -r requirements.txt\n"},
	{"docker", "Docker", NETRC_PATH, "#", true, NETRC},
};
// clang-format on

const size_t client_template_count = ARRAY_SIZE(client_template);

// The words that a text may have.
struct client_words {
	bool needs_token;
	struct buf index, distrusted;
	struct str scheme, rest, netloc, host; // of index
};

static const struct str scheme_end = STR("://");

static struct str cut_slashes(const char *base)
{
	struct str s = str_from(base);
	while (s.len && s.ptr[s.len - 1] == '/')
		s.len--;
	return s;
}

void client_config_url(const struct client_index *x, struct buf *out)
{
	buf_str(out, cut_slashes(x->base));
	if (x->view) {
		buf_putc(out, '/');
		escape_url(out, str_from(x->view));
	}
	if (x->platform) {
		buf_putc(out, '/');
		escape_url(out, str_from(x->platform));
	}
	buf_puts(out, "/simple/");
}

// The host without the port; of IPv6 with the brackets.
static struct str host_of(struct str netloc)
{
	long end = netloc.len && netloc.ptr[0] == '[' ? str_find(netloc, ']') + 1 : str_find(netloc, ':');
	return end > 0 ? str_slice(netloc, 0, (size_t)end) : netloc;
}

// pip uses plain http only with this machine, and with hosts that --trusted-host names.
void client_config_distrusted(struct str base, struct buf *out)
{
	static const struct str plain = STR("http://");
	if (!str_starts(base, plain))
		return;
	struct str rest = str_slice(base, plain.len, base.len);
	struct str netloc = str_cut(&rest, '/');
	struct str host = host_of(netloc);
	if (!str_eq(host, STR("localhost")) && !str_starts(host, STR("127.")) && !str_eq(host, STR("[::1]")))
		buf_str(out, netloc);
}

static void find_words(const struct client_index *x, struct client_words *w)
{
	buf_init(&w->index, TEXT_MOST);
	buf_init(&w->distrusted, TEXT_MOST);
	w->needs_token = x->needs_token;
	client_config_url(x, &w->index);
	struct str all = buf_view(&w->index);
	client_config_distrusted(all, &w->distrusted);
	long end = str_find(all, ':');
	size_t begin = end < 0 || (size_t)end + scheme_end.len > all.len ? 0 : (size_t)end + scheme_end.len;
	w->scheme = str_slice(all, 0, begin ? (size_t)end : 0);
	w->rest = str_slice(all, begin, all.len);
	struct str rest = w->rest;
	w->netloc = str_cut(&rest, '/');
	w->host = host_of(w->netloc);
}

static void client_words_release(struct client_words *w)
{
	buf_release(&w->index);
	buf_release(&w->distrusted);
}

// Cuts the condition off a line. Returns false if the line is not wanted.
static bool take_condition(const struct client_words *w, struct str *line)
{
	const struct {
		struct str word;
		bool holds;
	} condition[] = {
		{STR("?token "), w->needs_token},
		{STR("?open "), !w->needs_token},
		{STR("?http "), w->distrusted.len > 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(condition); i++)
		if (str_starts(*line, condition[i].word)) {
			*line = str_slice(*line, condition[i].word.len, line->len);
			return condition[i].holds;
		}
	return true;
}

static void put_replaced(const struct client_words *w, struct str line, struct buf *out)
{
	const struct {
		struct str word, value;
	} row[] = {
		{STR("<index>"), buf_view(&w->index)},
		{STR("<scheme>"), w->scheme},
		{STR("<rest>"), w->rest},
		{STR("<netloc>"), w->netloc},
		{STR("<host>"), w->host},
	};
	while (line.len) {
		size_t i = 0;
		while (i < ARRAY_SIZE(row) && !str_starts(line, row[i].word))
			i++;
		if (i < ARRAY_SIZE(row))
			buf_str(out, row[i].value);
		else
			buf_putc(out, line.ptr[0]);
		line = str_slice(line, i < ARRAY_SIZE(row) ? row[i].word.len : 1, line.len);
	}
	buf_putc(out, '\n');
}

bool client_config_needs(const struct client_index *x, const struct client_template *t)
{
	return x->needs_token || !t->is_for_token;
}

void client_config_write(const struct client_index *x, const struct client_template *t, struct buf *out)
{
	CLEANUP(client_words_release) struct client_words w;
	struct str rest = str_from(t->text);
	find_words(x, &w);
	buf_printf(out, "%s %s\n", t->marker, t->path);
	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		if (take_condition(&w, &line))
			put_replaced(&w, line, out);
	}
}

bool client_config_has(const char *client)
{
	for (size_t i = 0; i < client_template_count; i++)
		if (strcmp(client_template[i].client, client) == 0)
			return true;
	return false;
}

struct client_index client_config_part(const struct client_index *x, const char *platform)
{
	struct client_index part = {.base = x->base, .needs_token = x->needs_token};
	part.view = x->whole ? x->whole : platform;
	part.platform = x->whole ? platform : NULL;
	return part;
}

static struct jsondoc *part_indexes(const struct client_index *x)
{
	CLEANUP(buf_release) struct buf url = buf_up_to(TEXT_MOST);
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < x->platform_count; i++) {
		const struct client_index part = client_config_part(x, x->platforms[i]);
		struct jsondoc *one = jsondoc_object();
		buf_clear(&url);
		client_config_url(&part, &url);
		jsondoc_put_str(one, "platform", x->platforms[i]);
		jsondoc_put_str(one, "index", url.data);
		jsondoc_add(list, one);
	}
	return list;
}

struct jsondoc *client_config_json(const struct client_index *x, const char *client)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(TEXT_MOST);
	struct jsondoc *doc = jsondoc_object(), *files = jsondoc_array();
	client_config_url(x, &text);
	jsondoc_put_str(doc, "index", text.data);
	jsondoc_put_bool(doc, "needs_token", x->needs_token);
	jsondoc_put(doc, "platforms", part_indexes(x));
	for (size_t i = 0; i < client_template_count; i++) {
		const struct client_template *t = &client_template[i];
		if ((client && strcmp(client, t->client) != 0) || !client_config_needs(x, t))
			continue;
		struct jsondoc *file = jsondoc_object();
		text.len = 0;
		client_config_write(x, t, &text);
		jsondoc_put_str(file, "client", t->client);
		jsondoc_put_str(file, "path", t->path);
		jsondoc_put_str(file, "text", text.data);
		jsondoc_add(files, file);
	}
	jsondoc_put(doc, "files", files);
	return doc;
}
