// SPDX-License-Identifier: Apache-2.0
#include "lib/base/mem.h"
#include "lib/view/client-config.h"

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
