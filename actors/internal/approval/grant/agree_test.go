package grant

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// nobody is the id of a user without rights.
const nobody = 65534

// TestAP2JudgeAndShellsAgree checks that a command that runs without asking starts exactly one program with exactly
// the words that were checked: directly and under two shells, for any user. It runs 300 commands, or 10,000 with SOAK.
// Words that a shell expands, and programs that are shell builtins, are left out.
func TestAP2JudgeAndShellsAgree(t *testing.T) {
	want := 300
	if os.Getenv("SOAK") != "" {
		want = 10_000
	}
	policy, stubs := shippedPolicy(t), newShells(t, "git", "ls", "wc", "grep", "find", "go", "head", "probe")
	asNobody := *stubs
	asNobody.user = nobody
	users := []*shells{stubs}
	if os.Getuid() == 0 {
		open(t, stubs.bin)
		users = append(users, &asNobody)
	}
	random := rand.New(rand.NewPCG(2, uint64(want)))
	seen := make(map[string]bool)
	for len(seen) < want {
		text, rule := granted(random, stubs.programs)
		if seen[text] || glued(text) || Decide(text, rule, policy) != Auto {
			continue
		}
		cmd, ok := parse(text)
		if !ok {
			t.Fatalf("%q under %q runs without asking and cannot be read", text, rule)
		}
		var words []string
		expands := false
		for w := range cmd.all() {
			words = append(words, w.text)
			expands = expands || !w.static()
		}
		if expands || !slices.Contains(stubs.programs, words[0]) {
			continue
		}
		seen[text] = true
		by := users[len(seen)%len(users)]
		by.check(t, text, words)
		by.direct(t, words)
	}
	t.Logf("%d commands, %d shells, %d users", len(seen), len(stubs.paths), len(users))
}

// open gives other users access to a folder of the test.
func open(t *testing.T, dir string) {
	t.Helper()
	for ; dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		stdtest.Must(t, os.Chmod(dir, 0o755))
	}
}

// granted returns a text with a rule that often covers it: one that spells out every word, or one with an open end.
func granted(random *rand.Rand, programs []string) (text, rule string) {
	if random.IntN(2) == 0 {
		text = commandLine(random, programs)
		cmd, ok := parse(text)
		if !ok {
			return text, "nothing"
		}
		var words []string
		for w := range cmd.all() {
			words = append(words, "'"+strings.ReplaceAll(w.text, "'", `'\''`)+"'")
		}
		return text, strings.Join(words, " ")
	}
	pick := func(list []string) string { return list[random.IntN(len(list))] }
	families := []struct {
		rule    string
		options []string
	}{
		{"git log *", []string{"--oneline", "-n 3", "-n3", "--max-count=3", "--since 'two days'", "-5", "--grep=\"a b\"", "--format='%h|%s'", "--", "-p"}},
		{"git status *", []string{"-s", "-sb", "--porcelain", "-uno", "-z", "--"}},
		{"git diff HEAD *", []string{"--stat", "-U 3", "-U3", "--cached", "-w", "HEAD", "--"}},
		{"ls *", []string{"-la", "-l", "-R", "--color=never", "-\\l"}},
		{"wc -l *", []string{"-l", "-lw", "--lines"}},
		{"grep -n *", []string{"-n", "-A2", "-e 'x y'", "--include '*.go'", "-rn", "--max-count=1", "-e \"a\\\"b\"", "-C 3"}},
		{"find *", []string{"-name '*.go'", "-type f", "-maxdepth 2", "-print0", "-not -empty"}},
		{"go test *", []string{"-v", "--race", "-run=Test.x", "-count 1", "-timeout=5s"}},
		{"head *", []string{"-n 5", "-5", "-c10", "-q"}},
		{"probe *", []string{"--"}},
	}
	family := families[random.IntN(len(families))]
	operands := []string{
		"a", "b/c.go", "日志", "é/x", "'a b'", "\"c d\"", "e\\ f", "x.y", ".", "./x", "_z", "7", "a:b", "\"it's\"", "'{a}'", "w\\$x", "'#x'a", "a#b", "x=y", "\"a\\$b\"", "a\\\nb",
	}
	text = strings.TrimSuffix(family.rule, " *")
	for range random.IntN(6) {
		text += pick([]string{" ", "  ", "\t", " \\\n"})
		if random.IntN(2) == 0 {
			text += pick(family.options)
		} else {
			text += pick(operands)
		}
	}
	text += pick([]string{"", "", " 2>&1", " 2>/dev/null", " </dev/null", " # a; b", " ;", "\n", " >/dev/null 2>&1"})
	return text, family.rule
}
