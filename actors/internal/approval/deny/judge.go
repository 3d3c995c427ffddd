package deny

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/shipmyagent/shipmyagent/messages/programs"
)

const (
	// maxNested is how deep shell texts inside shell texts are read.
	maxNested = 6
	// maxCommands bounds how many commands of one text are checked.
	maxCommands = 4096
)

// Refusal says why a command is refused.
type Refusal struct {
	// Rule is the rule that forbids it. Unknown is set if the text does not show what runs, so that
	// rules cannot be checked; Rule is then the first one.
	Rule    Rule
	Unknown bool
}

// Rules are prohibitions in the order in which they were written.
type Rules []Rule

// NewRules parses rules; those that can never match are left out.
func NewRules(texts []string) Rules {
	var out Rules
	for _, text := range texts {
		if r, err := ParseRule(text); err == nil {
			out = append(out, r)
		}
	}
	return out
}

// Refuses checks the text of a shell against the rules.
func (rs Rules) Refuses(text string) (Refusal, bool) {
	if len(rs) == 0 || strings.TrimSpace(text) == "" {
		return Refusal{}, false
	}
	j := judge{rules: rs, seen: map[string]bool{}}
	j.shell(text, 0)
	return j.refusal, j.refused
}

// judge is the check of one command.
type judge struct {
	rules    Rules
	seen     map[string]bool // nested texts that were read
	commands int
	refusal  Refusal
	refused  bool
}

// refuse notes the first reason; a matching rule is more specific than a text that cannot be read.
func (j *judge) refuse(r Refusal) {
	if !j.refused || j.refusal.Unknown && !r.Unknown {
		j.refusal, j.refused = r, true
	}
}

func (j *judge) unknown() { j.refuse(Refusal{Rule: j.rules[0], Unknown: true}) }

// done reports that the result is known, or that the limit is reached.
func (j *judge) done() bool { return j.refused && !j.refusal.Unknown || j.commands > maxCommands }

// count counts a command, and refuses a text with too many of them.
func (j *judge) count() {
	if j.commands++; j.commands > maxCommands {
		j.unknown()
	}
}

// maybe reads a text that may be one for a shell; a text that does not parse is ignored.
func (j *judge) maybe(text string, depth int) {
	if _, err := parser().Parse(strings.NewReader(text), ""); err != nil {
		j.mentions(text)
		return
	}
	j.shell(text, depth)
}

// shell reads a text like a shell.
func (j *judge) shell(text string, depth int) {
	if j.done() || strings.TrimSpace(text) == "" || j.seen[text] {
		return
	}
	j.seen[text] = true
	if depth > maxNested {
		j.unknown()
		return
	}
	file, err := parser().Parse(strings.NewReader(text), "")
	if err != nil {
		j.mentions(text)
		j.unknown()
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			j.statement(n, depth)
		case *syntax.BinaryCmd:
			j.pipe(n, depth)
		case *syntax.TestClause, *syntax.ArithmCmd: // other shells than bash read these as commands
			j.mentions(text[n.Pos().Offset():n.End().Offset()])
		}
		return !j.done()
	})
}

// statement checks one simple command, and what it reads.
func (j *judge) statement(s *syntax.Stmt, depth int) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return
	}
	list := words(call.Args)
	for _, a := range call.Assigns { // in the environment of a program that may run it
		if a.Value != nil {
			if w := readWord(a.Value); w.known {
				j.maybe(w.text, depth+1)
			}
		}
	}
	j.command(list, depth)
	if slices.ContainsFunc(list, readsText) {
		j.input(s.Redirs, depth)
	}
}

// input checks the commands that a shell reads from its input.
func (j *judge) input(redirects []*syntax.Redirect, depth int) {
	for _, d := range redirects {
		switch d.Op {
		case syntax.RdrIn, syntax.RdrInOut:
			j.unknown()
		case syntax.Hdoc, syntax.DashHdoc:
			j.read(document(d), depth)
		case syntax.WordHdoc:
			j.read(readWord(d.Word), depth)
		default:
		}
	}
}

// read reads a word as commands.
func (j *judge) read(w word, depth int) {
	if !w.known {
		j.unknown()
		return
	}
	j.shell(w.text, depth+1)
}

// pipe checks what is piped into a shell: only printed words are known.
func (j *judge) pipe(b *syntax.BinaryCmd, depth int) {
	if b.Op != syntax.Pipe && b.Op != syntax.PipeAll || !j.readsCommands(b.Y) {
		return
	}
	call, ok := b.X.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		j.unknown()
		return
	}
	list := words(call.Args)
	if name := list[0].program; name != "echo" && name != "printf" || slices.ContainsFunc(list, func(w word) bool { return !w.known }) {
		j.unknown()
		return
	}
	j.shell(strings.Join(texts(list[1:]), " "), depth+1)
	j.mentions(strings.Join(texts(list[1:]), " "))
}

// readsCommands reports whether a statement runs a shell without a text of its own.
func (j *judge) readsCommands(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	list := words(call.Args)
	for i, w := range list {
		if isShell(w) && (i == 0 || programs.Starts(list[0].program)) {
			return !slices.ContainsFunc(list[i+1:], func(w word) bool { return w.known && w.text != "" && w.text[0] != '-' })
		}
	}
	return false
}

// command checks the words of one command against the rules, and what it starts.
func (j *judge) command(list []word, depth int) {
	if j.done() || len(list) == 0 {
		return
	}
	j.count()
	if !list[0].known {
		j.unknown()
		return
	}
	for _, r := range j.rules {
		if r.matches(list) {
			j.refuse(Refusal{Rule: r})
			return
		}
	}
	name := list[0].program
	switch {
	case programs.Prints(name):
	case isShell(list[0]), name == "eval", name == "source", name == ".", name == "trap":
		j.evaluated(name, list[1:], depth)
	case programs.Interprets(name):
		j.code(name, list[1:], depth)
	case name == "find", name == "fd", name == "fdfind":
		j.found(list[1:], depth)
	case programs.Plain(name):
		j.values(list, depth)
	default:
		j.started(name, list, depth)
	}
}

// evaluated checks the text that a shell gets.
func (j *judge) evaluated(name string, list []word, depth int) {
	if slices.ContainsFunc(list, func(w word) bool { return !w.known }) {
		j.unknown()
	}
	for i, w := range list {
		if i > 0 && strings.HasPrefix(list[i-1].text, "-") && strings.Contains(list[i-1].text, "c") {
			j.shell(w.text, depth+1)
		} else {
			j.maybe(w.text, depth+1)
		}
	}
	if name == "eval" {
		j.shell(strings.Join(texts(list), " "), depth+1)
	}
}

// code searches the code of an interpreter for rules.
func (j *judge) code(name string, list []word, depth int) {
	given := slices.ContainsFunc(list, func(w word) bool { return slices.Contains([]string{"-c", "-e", "-E", "-r", "--eval", "-p"}, w.text) })
	for i, w := range list {
		switch {
		case !w.known && !given && !isScript(name, list[:i]):
		case !w.known:
			j.unknown()
		case name == "sed" || name == "gsed":
			if sedRuns(w.text) {
				j.mentions(w.text)
				j.unknown()
			}
		case strings.HasSuffix(name, "awk"):
			if strings.Contains(w.text, "system") || strings.ContainsAny(w.text, "|") || strings.Contains(w.text, "getline") {
				j.quoted(w.text, depth)
			}
		default:
			j.quoted(w.text, depth)
		}
	}
}

// quoted searches code for rules, and reads its strings like a shell.
func (j *judge) quoted(code string, depth int) {
	j.mentions(code)
	for _, quote := range []string{"'", "\"", "`"} {
		for i, text := range strings.Split(code, quote) {
			if i%2 == 1 && strings.ContainsAny(text, " $`*?[\\") {
				j.maybe(text, depth+1)
			}
		}
	}
}

// found checks the commands that find starts for files.
func (j *judge) found(list []word, depth int) {
	for i, w := range list {
		if slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"}, w.text) && i+1 < len(list) {
			j.command(list[i+1:], depth)
		}
	}
}

// values checks operands and option values that are shell texts, because some programs run them.
func (j *judge) values(list []word, depth int) {
	for _, w := range list[1:] {
		if !w.known {
			if list[0].program == "alias" || list[0].program == "git" && slices.ContainsFunc(list, func(w word) bool { return w.text == "-c" || strings.HasPrefix(w.text, "--config") }) {
				j.unknown()
			}
			continue
		}
		name, value, assigned := strings.Cut(w.text, "=")
		if strings.Contains(strings.ToLower(name), "alias.") {
			j.command(append([]word{list[0]}, fields(value)...), depth)
		}
		if assigned && value != "" {
			j.maybe(strings.TrimPrefix(value, "!"), depth+1)
		}
		if strings.ContainsAny(w.text, " \t\n;|&`$(") {
			j.maybe(w.text, depth+1)
		}
	}
	if programs.Plain(list[0].program) && slices.ContainsFunc(list[1:], func(w word) bool { return startsOperand(list[0].program, w.text) }) {
		j.started("", list, depth)
	}
}

// started checks every word as if the program ran it: programs that start others do so, and what
// unknown programs do is not known.
func (j *judge) started(name string, list []word, depth int) {
	for i := 1; i < len(list); i++ {
		w := list[i]
		if !w.known {
			if programs.Starts(name) {
				j.unknown()
			}
			continue
		}
		j.tail(list[i:], depth)
	}
	if name != "" {
		j.values(list, depth)
	}
}

// tail checks the words after a program that may run them against the rules.
func (j *judge) tail(list []word, depth int) {
	for _, r := range j.rules {
		if !r.every && r.matches(list) {
			j.refuse(Refusal{Rule: r})
			return
		}
	}
	if w := list[0]; isShell(w) || w.program == "eval" || programs.Interprets(w.program) || w.program == "find" {
		j.command(list, depth)
	}
}

// inNames are the ASCII characters in names of programs.
const inNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+"

// mentions refuses a text that contains all words of a rule, whatever else it contains.
func (j *judge) mentions(text string) {
	names := strings.FieldsFunc(text, func(c rune) bool { return c <= 0x7f && !strings.ContainsRune(inNames, c) })
	for _, r := range j.rules {
		has := func(want string) bool {
			return slices.ContainsFunc(names, func(n string) bool {
				return strings.EqualFold(n, strings.Trim(want, "./")) || strings.EqualFold(n, want)
			})
		}
		if r.every || has(r.program) && !slices.ContainsFunc(r.words, func(w string) bool { return strings.Trim(w, "./") != "" && !has(w) }) {
			j.refuse(Refusal{Rule: r})
			return
		}
	}
}

func texts(list []word) []string {
	var out []string
	for _, w := range list {
		out = append(out, w.text)
	}
	return out
}

// fields returns the words of a plain text.
func fields(text string) []word {
	var out []word
	for f := range strings.FieldsSeq(strings.TrimPrefix(text, "!")) {
		out = append(out, known(f))
	}
	return out
}
