package grant

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// stubOut is the environment variable with the file to which a stub program writes its words.
const stubOut = "GRANT_STUB_OUT"

// TestMain turns the test binary into the stub that shells start under many names.
func TestMain(m *testing.M) {
	if path := os.Getenv(stubOut); path != "" {
		os.Exit(stub(path))
	}
	os.Exit(m.Run())
}

func stub(path string) int {
	line, err := json.Marshal(os.Args)
	if err != nil {
		return 1
	}
	out, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 1
	}
	if _, err = out.Write(append(line, '\n')); err != nil {
		return 1
	}
	return 0
}

// shells runs commands under real shells with only stubs in their PATH.
type shells struct {
	programs []string
	bin      string
	paths    []string
	user     uint32 // user that runs everything; 0 is the user of the test
	runs     int
}

func newShells(tb testing.TB, programs ...string) *shells {
	tb.Helper()
	s := &shells{programs: programs, bin: tb.TempDir()}
	self, err := os.Executable()
	stdtest.Must(tb, err)
	binary, err := os.ReadFile(self)
	stdtest.Must(tb, err)
	stub := filepath.Join(s.bin, ".stub")
	stdtest.Must(tb, os.WriteFile(stub, binary, 0o755)) // where other users can run it too
	for _, name := range s.programs {
		stdtest.Must(tb, os.Symlink(stub, filepath.Join(s.bin, name)))
	}
	for _, name := range []string{"dash", "bash", "sh"} {
		if path, err := exec.LookPath(name); err == nil {
			s.paths = append(s.paths, path)
		}
	}
	if len(s.paths) == 0 {
		tb.Fatal("no shell here")
	}
	s.paths = s.paths[:min(2, len(s.paths))]
	return s
}

// glued finds a redirection directly after the 1 of 2>&1, as in 2>&1>/dev/null. Dash reads that 1 as the number of the
// next redirection and refuses the whole line, so nothing runs.
func glued(text string) bool {
	return regexp.MustCompile(`&[ \t]*[12][<>]`).MatchString(strings.ReplaceAll(text, "\\\n", ""))
}

// check runs a command under every shell. It must start exactly one program with exactly these words, and create no
// file.
func (s *shells) check(tb testing.TB, text string, words []string) {
	tb.Helper()
	for _, shell := range s.paths {
		s.start(tb, shell, []string{shell, "-c", text}, words)
	}
}

// direct runs a program without a shell.
func (s *shells) direct(tb testing.TB, words []string) {
	tb.Helper()
	s.start(tb, filepath.Join(s.bin, words[0]), words, words)
}

func (s *shells) start(tb testing.TB, path string, args, words []string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, path)
	run.Args = args
	run.Dir = s.folder(tb)
	out := filepath.Join(s.folder(tb), "out")
	run.Env = []string{
		"PATH=" + s.bin, "HOME=/home-of-nobody", "LC_ALL=C.UTF-8", stubOut + "=" + out,
		"GORACE=atexit_sleep_ms=0", // the stub may be a binary with the race detector
	}
	if s.user != 0 {
		run.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: s.user, Gid: s.user}}
	}
	printed, err := run.CombinedOutput()
	started, readErr := os.ReadFile(out)
	var got []string
	if err != nil || readErr != nil || bytes.Count(started, []byte("\n")) != 1 || json.Unmarshal(started, &got) != nil {
		tb.Errorf("%q: %v %s, started %s", run.Args, err, printed, started)
		return
	}
	if diff := cmp.Diff(words, got); diff != "" {
		tb.Errorf("%q (-judged +started):\n%s", run.Args, diff)
	}
	if left, err := os.ReadDir(run.Dir); err != nil || len(left) > 0 {
		tb.Errorf("%q leaves %v, %v", run.Args, left, err)
	}
	for _, dir := range []string{run.Dir, filepath.Dir(out)} {
		if err := os.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	}
}

// folder creates a new folder that belongs to the user who runs the programs.
func (s *shells) folder(tb testing.TB) string {
	tb.Helper()
	s.runs++
	dir := filepath.Join(s.bin, fmt.Sprintf(".run-%d-%d", s.user, s.runs))
	err := os.Mkdir(dir, 0o700)
	if err == nil && s.user != 0 {
		err = os.Chown(dir, int(s.user), int(s.user))
	}
	stdtest.Must(tb, err)
	return dir
}

// judged returns the words of a command if a rule that spells all of them out covers it.
func judged(text string, policy *Policy) ([]string, bool) {
	cmd, ok := parse(text)
	if !ok {
		return nil, false
	}
	var words, rule []string
	for w := range cmd.all() {
		words = append(words, w.text)
		rule = append(rule, "'"+strings.ReplaceAll(w.text, "'", `'\''`)+"'")
	}
	return words, Decide(text, strings.Join(rule, " "), policy) == Auto
}

// commandLine returns a text that is often almost a simple command.
func commandLine(random *rand.Rand, programs []string) string {
	pick := func(list []string) string { return list[random.IntN(len(list))] }
	plain := []string{
		"a", "b1", "-x", "--y=z", "日志", "é", "👍", "-", "--", "1", "2", "=", ",", "@", "%", "^", "!", "]", ":", ".", "/", "A=1", "#", "x=", "if", "do", "time",
	}
	quoted := []string{
		"'q r'", `"d  e"`, `\ `, `\\`, `\'`, `\"`, `''`, `""`, `"'"`, `'"'`, `"\\"`, `"\a"`, `'\'`, `"\$x"`, `"\""`, "\"\\`\"", `\$`, "\\`", `'$x'`, "'`x`'",
		`\#`, `\~`, `\*`, `'*'`, `"?"`, `\{`, `'{a,b}'`, `\;`, `"a;b|c&d"`, `\>`, `'>x'`, `"日 志"`, `\日`, `\é`, `"#"`, `\=`, "'\\\\'",
	}
	odd := []string{
		"$", `"$"`, `"a$|b"`, "$x", "~", ":~", "x=~", "{", "}", "*", "(", ")", "|", "&", "`", "'", `"`, ";", "\n", "# c", "# c \\\n", "#", "\\", "$'a'", "!",
		"2>", ">", "<", "1>&2", ">&", "&>", "2>&1", ">/dev/null", "2> /dev/null", "</dev/null", ">&2", "2>x", "\"a\\\nb\"", "\\\n", "\\\\\\\n",
	}
	var b strings.Builder
	b.WriteString(pick([]string{"", " ", "\t", "\\\n", ">/dev/null ", "2>&1 "}))
	b.WriteString(pick(programs))
	for range 1 + random.IntN(7) {
		if random.IntN(3) > 0 {
			b.WriteString(pick([]string{" ", "  ", "\t", " \\\n", "\\\n ", " \\\n\t"}))
		}
		for range 1 + random.IntN(3) {
			switch random.IntN(8) {
			case 0, 1, 2, 3:
				b.WriteString(pick(plain))
			case 4, 5, 6:
				b.WriteString(pick(quoted))
			default:
				b.WriteString(pick(odd))
			}
		}
	}
	b.WriteString(pick([]string{"", "", " ", ";", "\n", " ;\n\n", " # x; y", ";# z", "\n# x\n", " # x \\\n", "\\\n"}))
	return b.String()
}

// parse reads a text that is exactly one simple command of static words. It returns false for anything else.
func parse(text string) (command, bool) {
	if !printable(text) {
		return command{}, false
	}
	cmd, ok := scan(text)
	return cmd, ok && confirm(&cmd)
}

func (c *command) all() iter.Seq[word] {
	return func(yield func(word) bool) {
		for i := range c.words {
			if !yield(c.word(i)) {
				return
			}
		}
	}
}

// FuzzDecide checks the promises of every verdict, and runs the commands that may run without asking.
func FuzzDecide(f *testing.F) {
	for _, c := range [][2]string{
		{"git status -sb # x", "git status"},
		{"wc -l 'a b' \"c\\$\" d\\ e", "wc *"},
		{"grep -nA2 x -- src/*.go 2>&1;", "grep *"},
		{"go test -run=X ./... >/dev/null", "go test ./..."},
		{"find . -name '*.go' \\\n -print", "find *"},
		{"probe \"\"2>/dev/null", "probe *"},
		{"ls x=~ a$ \"$\" ", "ls *"},
	} {
		f.Add(c[0], c[1])
	}
	policy, stubs := shippedPolicy(f), newShells(f, "git", "ls", "wc", "probe")
	f.Fuzz(func(t *testing.T, text, rule string) {
		verdict := Decide(text, rule, policy)
		if again := Decide(text, rule, policy); again != verdict || (verdict != Auto && verdict != Ask) {
			t.Fatalf("%q under %q: %s, then %s", text, rule, verdict, again)
		}
		if verdict == Auto {
			checkCovered(t, text, rule, policy)
		}
		if words, ok := judged(text, policy); ok && !glued(text) && slices.Contains(stubs.programs, words[0]) {
			stubs.check(t, text, words)
		}
	})
}

// checkCovered checks that an automatic verdict allows nothing that rules can never allow.
func checkCovered(t *testing.T, text, rule string, policy *Policy) {
	t.Helper()
	r, valid := ParseRule(rule, policy)
	cmd, simple := parse(text)
	if !valid || !simple || len(cmd.words) < len(r.Words) {
		t.Fatalf("%q under %q is covered", text, rule)
	}
	rest := slices.Clone(r.Words)
	for i := range cmd.words {
		w := cmd.word(i)
		if at := slices.Index(rest, w.text); at >= 0 {
			rest = slices.Delete(rest, at, at+1)
			continue
		}
		option := strings.HasPrefix(w.text, "-") || (i > 0 && strings.HasPrefix(cmd.word(i-1).text, "-"))
		if !option && !r.Open {
			t.Errorf("%q under %q: %q is covered", text, rule, w.text)
		}
		if !option && (strings.HasPrefix(w.text, "/") || slices.Contains(strings.FieldsFunc(w.text, func(r rune) bool { return r == '/' || r == ':' }), "..")) {
			t.Errorf("%q under %q: operand %q", text, rule, w.text)
		}
	}
	if len(rest) > 0 {
		t.Errorf("%q under %q: %q is not used", text, rule, rest)
	}
	if strings.ContainsAny(text, "\r\x00\x1b\u200b\u202e\u2028") {
		t.Errorf("%q is covered", text)
	}
}
