// Package programs lists what well-known programs do with their arguments: which of them
// run code or other programs, and which only print. The validation of command rules and the
// code that binds an approval to the files that a command runs both use these lists and no
// others, so that they agree on which programs are harmless.
//
// Names are those of programs without a path, in lower case. A version after a name, as in
// python3.12, makes no difference.
package programs

import (
	"slices"
	"strings"
)

// base is a name without its version: 3, 3.12, -5.4, or 3.13t as special builds are called.
func base(name string) string {
	letters := strings.TrimRight(name, "abcdefghijklmnopqrstuvwxyz")
	if len(name)-len(letters) > 2 || letters == strings.TrimRight(letters, "0123456789") {
		letters = name
	}
	return strings.TrimRight(letters, "0123456789.-")
}

// Shell reports whether a program is a shell.
func Shell(name string) bool {
	return slices.Contains([]string{"sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh", "yash", "fish", "csh", "tcsh", "pwsh", "busybox-sh"}, base(name))
}

// Evaluates reports whether a program is a shell, or a builtin that runs the text or the
// file in its argument.
func Evaluates(name string) bool {
	return Shell(name) || slices.Contains([]string{"eval", "source", ".", "trap"}, name)
}

// Interprets reports whether a program runs code that it is given, as a script or in a text.
func Interprets(name string) bool {
	return slices.Contains([]string{
		"python", "pypy", "ipython", "perl", "ruby", "irb", "node", "nodejs", "deno", "bun", "tsx", "ts-node", "php", "lua", "luajit", "tclsh", "wish", "expect", "osascript",
		"awk", "gawk", "mawk", "nawk", "sed", "gsed", "ed", "ex", "vi", "vim", "nvim", "emacs", "gdb", "lldb", "sqlite", "psql", "mysql", "mariadb", "duckdb", "mongosh", "redis-cli",
		"m", "dc", "guile", "scheme", "racket", "sbcl", "clisp", "julia", "r", "rscript", "groovy", "java", "javaw", "jshell", "jrunscript", "kotlin", "scala", "clojure", "clj", "ghci", "runghc",
		"runhaskell", "ocaml", "elixir", "iex", "erl", "escript", "octave", "gnuplot", "dart", "swift", "v", "zig", "crystal", "raku", "wasmtime", "wasmer", "qemu", "wine",
		"osqueryi", "ansible", "terraform", "tofu", "pulumi", "jupyter",
	}, base(name))
}

// Starts reports whether the purpose of a program is to start others with its operands.
func Starts(name string) bool {
	return slices.Contains([]string{
		"env", "xargs", "parallel", "nice", "ionice", "chrt", "taskset", "numactl", "nohup", "timeout", "stdbuf", "setsid", "setpriv", "capsh", "prlimit", "setarch", "linux32", "linux64", "sudo", "doas", "su",
		"runuser", "pkexec", "sg", "newgrp", "command", "builtin", "exec", "time", "watch", "strace", "ltrace", "perf", "valgrind", "gdb", "flock", "chroot", "unshare", "nsenter", "bwrap", "firejail", "script",
		"scriptreplay", "expect", "ssh", "mosh", "tmux", "screen", "dtach", "abduco", "busybox", "toybox", "systemd-run", "start-stop-daemon", "daemon", "daemonize", "dbus-run-session", "dbus-launch", "xvfb-run",
		"fakeroot", "fakechroot", "faketime", "entr", "inotifywait", "watchexec", "nodemon", "at", "batch", "crontab", "coproc", "rlwrap", "unbuffer", "socat", "nc", "ncat", "netcat", "proot", "choom", "cgexec",
		"hyperfine", "npx", "pnpx", "bunx", "uvx", "pipx", "run-parts", "caffeinate", "eatmydata", "torsocks", "torify", "proxychains", "ld.so", "ltrace", "uftrace", "direnv", "chpst", "softlimit", "envdir",
		"setuidgid", "s6-setuidgid", "tini", "dumb-init", "catchsegv", "fd", "fdfind", "find",
	}, name)
}

// Packs reports whether an operand of a program may be its old way to write options, some
// of which start programs.
func Packs(name string) bool {
	return slices.Contains([]string{"tar", "gtar", "bsdtar", "ar", "cpio", "pax"}, name)
}

// Files are the files of the current folder that a program runs or follows without their
// being named in the command. The result is nil if there are none.
func Files(name string) []string {
	if files := projectFiles(name); files != nil {
		return files
	}
	return buildFiles(name)
}

// buildFiles are those of programs that build.
func buildFiles(name string) []string {
	switch name {
	case "make", "gmake", "bmake", "pmake", "remake", "colormake":
		return []string{"GNUmakefile", "makefile", "Makefile", "BSDmakefile"}
	case "just":
		return []string{"justfile", "Justfile", ".justfile", ".env"}
	case "task", "go-task":
		return []string{"Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml", "Taskfile.dist.yaml"}
	case "ninja", "samu":
		return []string{"build.ninja"}
	case "cmake", "ctest", "cpack":
		return []string{"CMakeLists.txt", "CMakePresets.json", "CMakeUserPresets.json", "CTestTestfile.cmake"}
	case "meson":
		return []string{"meson.build"}
	case "scons":
		return []string{"SConstruct", "Sconstruct", "sconstruct"}
	case "rake":
		return []string{"Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb"}
	case "bundle", "bundler":
		return []string{"Gemfile", "gems.rb", ".bundle/config"}
	case "gradle", "gradlew":
		return []string{"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.properties", "gradlew"}
	case "mvn", "mvnd", "mvnw":
		return []string{"pom.xml", ".mvn/extensions.xml", ".mvn/maven.config", ".mvn/jvm.config", "mvnw"}
	case "ant":
		return []string{"build.xml"}
	case "sbt":
		return []string{"build.sbt", "project/build.properties", "project/plugins.sbt"}
	case "bazel", "bazelisk", "buck", "buck2", "pants", "please":
		return []string{"BUILD", "BUILD.bazel", "WORKSPACE", "WORKSPACE.bazel", "MODULE.bazel", ".bazelrc", "BUCK", ".buckconfig", "pants.toml"}
	case "mage":
		return []string{"magefile.go"}
	case "tox", "nox", "invoke", "inv", "fab", "doit", "waf":
		return []string{"tox.ini", "noxfile.py", "tasks.py", "fabfile.py", "dodo.py", "wscript", "waf", "setup.cfg", "pyproject.toml"}
	case "msbuild", "xbuild", "dotnet", "nuke":
		return []string{"Directory.Build.props", "Directory.Build.targets", "global.json", "nuget.config", "NuGet.Config"}
	case "xcodebuild", "rebar3", "mix", "lein", "stack", "cabal", "dune", "shards", "nimble", "premake5", "qmake":
		return []string{"rebar.config", "mix.exs", "project.clj", "stack.yaml", "cabal.project", "Setup.hs", "dune", "dune-project", "shard.yml", "premake5.lua"}
	case "gulp", "grunt", "webpack", "vite", "rollup", "esbuild", "eslint", "prettier", "jest", "vitest", "mocha", "tsc", "turbo", "nx", "lerna":
		return []string{"package.json", "gulpfile.js", "Gruntfile.js", "webpack.config.js", "vite.config.js", "vite.config.ts", "rollup.config.js", "eslint.config.js", "jest.config.js", "turbo.json", "nx.json"}
	}
	return nil
}

// projectFiles are those of programs that manage packages, containers and services.
func projectFiles(name string) []string {
	switch name {
	case "npm", "pnpm", "yarn":
		return []string{"package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs"}
	case "composer":
		return []string{"composer.json"}
	case "pip", "uv", "poetry", "pdm", "hatch":
		return []string{"pyproject.toml", "setup.py", "setup.cfg", "uv.toml"}
	case "cargo":
		return []string{"Cargo.toml", "build.rs", ".cargo/config.toml", ".cargo/config"}
	case "docker", "podman", "nerdctl", "docker-compose", "podman-compose", "buildah":
		return []string{"Dockerfile", "Containerfile", "compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml", "docker-compose.override.yml", "compose.override.yaml"}
	case "vagrant", "skaffold", "tilt", "procfile", "foreman", "honcho", "overmind", "hivemind":
		return []string{"Vagrantfile", "skaffold.yaml", "Tiltfile", "Procfile"}
	case "pre-commit", "lefthook", "husky":
		return []string{".pre-commit-config.yaml", "lefthook.yml"}
	}
	return nil
}

// Tools are programs with subcommands that do different things.
func Tools() []string {
	return []string{
		"npm", "pnpm", "yarn", "composer", "pip", "pip3", "uv", "poetry", "pdm", "hatch", "cargo", "docker", "podman", "nerdctl", "docker-compose", "podman-compose", "buildah", "bundle", "bundler", "gem",
		"dotnet", "mix", "stack", "cabal", "rustup", "nix", "snap", "flatpak", "dnf", "yum", "apk", "pacman", "conda", "mamba",
	}
}

// Runs reports whether a program runs code or other programs, whatever its arguments are.
func Runs(name string) bool {
	name = strings.ToLower(name)
	return Evaluates(name) || Interprets(name) || Starts(name) && !finds(name) || Packs(name) || Files(name) != nil && !slices.Contains(Tools(), name)
}

// finds reports whether only options of a program start others. Options are validated one
// by one.
func finds(name string) bool { return slices.Contains([]string{"find", "fd", "fdfind"}, name) }

// Subcommands are pairs of a tool and a subcommand, separated by a blank, that run code of
// a project or of a third party.
func Subcommands() []string {
	var out []string
	for _, t := range []struct {
		names []string
		words string
	}{
		{[]string{"npm", "pnpm", "yarn"}, "exec x dlx run run-script rum urn install i in ins add ci clean-install ic install-clean it install-test cit install-ci-test test t tst start stop restart rebuild rb " +
			"init create innit explore pack publish version link ln update up upgrade node workspace workspaces plugin set config c edit deploy patch-commit approve-builds"},
		{[]string{"composer"}, "install i update u require r remove run run-script exec create-project global self-update"},
		{[]string{"pip", "pip3", "uv", "poetry", "pdm", "hatch"}, "install run shell sync add update build tool tools pip lock wheel download publish plugin self env"},
		{[]string{"cargo"}, "run r install bench fix publish package script xtask"},
		{[]string{"docker", "podman", "nerdctl", "buildah", "docker-compose", "podman-compose"}, "run exec build buildx compose create start attach cp commit import load up bud from copy add container image stack swarm service plugin play kube machine unshare"},
		{[]string{"bundle", "bundler"}, "exec install update add open console plugin init gem"},
		{[]string{"gem"}, "install update exec build push cert"},
		{[]string{"dotnet"}, "run exec test build publish pack restore tool msbuild fsi watch new"},
		{[]string{"mix", "stack", "cabal"}, "run test exec build install compile deps do script ghci runghc repl bench new v2-run v2-exec"},
		{[]string{"nix"}, "run shell develop build eval profile repl bundle"},
		{[]string{"snap", "flatpak", "dnf", "yum", "apk", "conda", "mamba", "apt", "apt-get", "brew", "rustup"}, "run install add update upgrade create env init reinstall source build-dep services"},
		{[]string{"git"}, "hook for-each-repo instaweb send-email daemon shell upload-pack receive-pack maintenance"},
		{[]string{"kubectl"}, "create replace patch edit attach plugin set proxy"},
		{[]string{"helm"}, "install upgrade template plugin"},
		{[]string{"gh"}, "alias extension extensions ext codespace cs"},
		{[]string{"systemctl"}, "link enable set-environment import-environment"},
		{[]string{"go"}, "work env fix telemetry"},
	} {
		for _, name := range t.names {
			for word := range strings.FieldsSeq(t.words) {
				out = append(out, name+" "+word)
			}
		}
	}
	return out
}

// Prints reports whether the operands of a program are data, and never run.
func Prints(name string) bool {
	return slices.Contains([]string{
		"echo", "printf", "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "ls", "dir", "cat", "tac", "head", "tail", "wc", "uniq", "cut", "tr", "test", "[", "true", "false", ":", "pwd", "cd", "pushd", "popd",
		"stat", "file", "du", "df", "diff", "cmp", "comm", "paste", "nl", "rev", "seq", "date", "basename", "dirname", "realpath", "readlink", "which", "whereis", "type", "hash", "whatis", "apropos", "help",
		"jq", "column", "fold", "fmt", "tee", "kill", "ps", "pgrep", "sleep", "exit", "return", "break", "continue", "shift", "set", "unset", "wait", "read", "md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum",
		"base64", "xxd", "od", "hexdump", "strings", "id", "whoami", "uname", "hostname", "uptime", "free", "tree", "look", "expr", "let", "mkdir", "rmdir", "touch",
	}, name)
}

// Plain reports whether a program does not run its operands as programs, although values
// of its options may be texts for a shell.
func Plain(name string) bool {
	return slices.Contains([]string{
		"git", "hg", "svn", "cp", "mv", "ln", "rm", "unlink", "install", "chmod", "chown", "chgrp", "sort", "tar", "gzip", "gunzip", "zip", "unzip", "less", "more", "man", "apt", "apt-get", "apt-cache", "dnf", "yum",
		"apk", "brew", "pip", "pip3", "pacman", "dpkg", "rpm", "curl", "wget", "rsync", "scp", "sftp", "export", "declare", "local", "readonly", "typeset", "alias", "unalias", "shopt",
	}, name)
}
