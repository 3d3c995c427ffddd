package programs

import (
	"slices"
	"strings"
	"testing"
)

func TestRuns(t *testing.T) {
	for name := range strings.FieldsSeq("sh bash5.2 dash fish pwsh eval . source trap python3.12 Python3 perl5.36.0 node18 java sqlite3 psql mysql m4 dc gnuplot awk sed ed vim env xargs nice timeout flock taskset " +
		"setarch prlimit run-parts socat systemd-run hyperfine npx uvx tar bsdtar make gmake just ninja cmake mvn gradle rake gulp jest tox pre-commit") {
		if !Runs(name) {
			t.Errorf("%s is said to run nothing", name)
		}
		if Prints(name) {
			t.Errorf("%s is said to print only", name)
		}
	}
	for name := range strings.FieldsSeq("ls cat grep wc git npm docker cargo go find fd pytest zip cp rm sort mkdir echo pythonic noded luac phpunit gitk node_exporter makeinfo") {
		if Runs(name) {
			t.Errorf("%s is said to run whatever stands behind it", name)
		}
	}
}

func TestSubcommandsAreOfTools(t *testing.T) {
	known := append(Tools(), "git", "kubectl", "helm", "gh", "systemctl", "go", "apt", "apt-get", "brew")
	for _, s := range Subcommands() {
		words := strings.Fields(s)
		if len(words) != 2 || !slices.Contains(known, words[0]) || strings.ToLower(s) != s {
			t.Errorf("%q", s)
		}
	}
	for _, want := range []string{"npm ci", "npm test", "yarn install", "docker run", "bundle exec", "uv run", "cargo run", "git hook"} {
		if !slices.Contains(Subcommands(), want) {
			t.Errorf("%s is missing", want)
		}
	}
}

// What the first word of a build tool makes it read is bound, so every name needs files.
func TestFiles(t *testing.T) {
	for name := range strings.FieldsSeq("make just task ninja cmake rake bundle gradle mvn npm pnpm yarn cargo docker podman composer uv") {
		if len(Files(name)) == 0 {
			t.Errorf("nothing is said to steer %s", name)
		}
	}
	if Files("ls") != nil {
		t.Error("files steer ls")
	}
}
