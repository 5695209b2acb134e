"""Names of programs by what they are for; read by `commands`."""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


HELPERS = _names("""
    tail head wc sort uniq tee jq yq cut tr xargs column less more true sleep echo printf set
    export source . cd pushd popd
""")
LOOKS = _names("""
    ls pwd find tree du df ps top htop which whereis type whoami id uname date hostname env
    printenv stat file free uptime lsof ss netstat nproc history man groups locale cal ll dir
    exa eza lsblk mount jobs
""")
SHOWS = _names("cat bat nl xxd hexdump zcat strings base64 diff cmp md5sum sha256sum")
SEARCHES = _names("grep rg ag ack egrep fgrep zgrep fd locate")
FILES = _names("""
    mv rm cp mkdir rmdir touch ln chmod chown rsync tar unzip zip gzip patch sed awk perl
    install truncate
""")
HTTP = _names("curl wget http https httpie xh grpcurl")
DATABASES = _names("""
    psql mysql mariadb sqlite3 mongosh mongo redis-cli sqlcmd clickhouse-client duckdb cqlsh
    influx bq sqlplus
""")
DEPLOYS = _names("""
    ansible-playbook kubectl helm terraform tofu pulumi fly flyctl heroku vercel netlify
    serverless systemctl skaffold nomad kamal cap docker-compose aws gcloud az
""")
TESTS = _names("""
    pytest py.test jest vitest mocha ava tap rspec phpunit pest ctest tox nox bats karma
    cypress playwright nextest unittest testify minitest behave cucumber tape
""")
CHECKS = _names("""
    ruff mypy pyright flake8 pylint black isort eslint prettier tsc stylelint clippy golangci-
    lint staticcheck shellcheck rubocop phpstan psalm hadolint yamllint ktlint detekt biome
    oxlint swiftlint pre-commit semgrep bandit tflint vue-tsc standardrb credo dialyzer
""")
BUILDS = _names("""
    make cmake ninja webpack vite rollup esbuild tsup msbuild bazel buck gcc g++ clang javac
    rustc kotlinc swiftc meson ant sbt lein rebar3 stack cabal zig nix-build xcodebuild parcel
""")
RUNNERS = _names("""
    npm pnpm yarn bun deno gradle gradlew mvn mvnw cargo go dotnet make just rake mix swift
    flutter dart composer task sbt bazel php nx turbo lerna rails artisan bundle poe invoke
    gulp grunt ctest cmake zig stack cabal
""")
INSTALLERS = _names("""
    pip pip3 apt apt-get brew gem uv conda poetry pipenv pipx dnf yum apk nvm rustup asdf mise
""")
GIT_HISTORY = _names("log diff show blame grep bisect")
GIT_SAVE = _names("commit push tag merge rebase cherry-pick pull am")
GIT_UNDO = _names("checkout restore reset revert stash clean")
