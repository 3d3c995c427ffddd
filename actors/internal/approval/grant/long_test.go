package grant

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// The full parser sees only a part of a long command. Its result must be the same as for the whole.
func TestAP2ShortenedTextsMeanTheSame(t *testing.T) {
	texts := 500
	if os.Getenv("SOAK") != "" {
		texts = 50_000
	}
	pieces := []string{
		"a", "b/c.go", "日志", "x=y", "a[0]=1", "*.go", "é", "-n", "--", "if", "then", "do", "done", "esac", "in", "EOF", "function", "time", "!", "2", "}x", "#c", "a#b",
		"'q r'", "\"d e\"", "'a\"b'", "\"it's\"", `\a`, `a\ b`, `'a'b`, `"a"'b'`, "''", "\"\"", "2>&1", ">/dev/null", "</dev/null", "2> /dev/null", "1>&2", "=", "a=~", ":~", "$", "\"$\"",
		"[", "]", "a^b", "a!b", "a~b", "?x", "@x", "a+b", "%x", ",",
	}
	random := rand.New(rand.NewPCG(6, 6)) //nolint:gosec // a test's choice
	cut, agreed := 0, 0
	for range texts {
		var b strings.Builder
		b.WriteString("grep")
		for range maxWhole + random.IntN(200) {
			b.WriteString(strings.Repeat(" ", 1+random.IntN(2)*random.IntN(3)))
			if random.IntN(4) > 0 {
				b.WriteString("ab")
			} else {
				b.WriteString(pieces[random.IntN(len(pieces))])
			}
		}
		text := b.String() + []string{"", " ", "\n", ";", " # x", "\n# x\n"}[random.IntN(6)]
		cmd, ok := scan(text)
		if !ok {
			continue
		}
		whole := cmd
		whole.text, whole.words = text, slices.Clone(cmd.words)
		for i := range whole.words {
			if whole.words[i].cut {
				cut++
			}
			whole.words[i].cut = false
		}
		got, want := confirm(&cmd), confirm(&whole)
		if got != want {
			t.Fatalf("%q, shortened to %q: %v, want %v", text, cmd.text, got, want)
		}
		if got {
			agreed++
		}
	}
	if cut < texts || agreed < texts/20 {
		t.Errorf("%d words of %d texts were left out, %d texts were read", cut, texts, agreed)
	}
}

func TestLongCommands(t *testing.T) {
	check(t, "cat *", []string{
		"cat" + strings.Repeat(" a", 4000), "cat" + strings.Repeat(" 'a b'", 1000), "cat" + strings.Repeat(` a"b"`, 120), "cat a" + strings.Repeat(" 2>&1", 250),
		"cat" + strings.Repeat(" a*", 2000) + " 'b' >/dev/null # c", "cat" + strings.Repeat(" a", 100) + " \\\nb" + strings.Repeat(" \\\n a", 100),
		"cat" + strings.Repeat(" a", 100) + "\ta\tb", "cat" + strings.Repeat(" if", 100) + " then",
	}, []string{
		"cat a" + strings.Repeat(" 2>&1", 600), "cat" + strings.Repeat(` a"b"`, 600), // people do not write this
		"cat" + strings.Repeat(" a", 100) + " .env", "cat" + strings.Repeat(" a", 100) + " '.env'", "cat" + strings.Repeat(" a", 100) + " a; id", "cat" + strings.Repeat(" a", 100) + "\nid",
		"cat" + strings.Repeat(" a", 100) + " $(id)", "cat" + strings.Repeat(" a", 100) + " \"$(id)\"", "cat" + strings.Repeat(" a", 100) + " a|id", "cat" + strings.Repeat(" a", 100) + " >x",
		"cat" + strings.Repeat(" a", 100) + " 3>/dev/null", "cat" + strings.Repeat(" a", 100) + " <<a\na", "cat" + strings.Repeat(" a", 100) + " a'", "cat" + strings.Repeat(" a", 100) + " a=~",
		"cat" + strings.Repeat(" :~", 100) + " x:~=~",
	})
}

// Commands are covered like each of them alone.
func TestCommandsAreDecide(t *testing.T) {
	policy := shippedPolicy(t)
	texts := []string{"ls", "git log *", "*", "git *", "'git' log --oneline", "git log a *", "bash x.sh", "git log *", "'ls'"}
	commands := []string{
		"git log", "git log a", "git log a b", "git log --oneline", "ls", "ls -l", "ls x", "bash x.sh", "bash y.sh", "git status", "", "git log; id", "'git' log", "git log \u202e", "git log $(x)",
	}
	random := rand.New(rand.NewPCG(7, 7)) //nolint:gosec // a test's choice
	for range 200 {
		text, _ := granted(random, []string{"git", "ls", "bash"})
		commands = append(commands, text)
	}
	covered := 0
	for _, command := range commands {
		judging := NewCommands([]string{command, "nothing at all", command}, policy)
		for range 2 {
			for _, text := range texts {
				want := Decide(command, text, policy) == Auto
				if got := judging.Covered(text); got != want {
					t.Errorf("%q, among others, under %q: %v", command, text, got)
				}
				if want {
					covered++
				}
			}
		}
	}
	if covered < 40 {
		t.Errorf("%d covered", covered)
	}
}
