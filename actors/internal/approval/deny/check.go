package deny

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/shipmyagent/shipmyagent/messages/programs"
)

const (
	// maxNested is how deeply nested shell texts are read.
	maxNested = 6
	// maxCommands is how many commands of one text are checked.
	maxCommands = 4096
)

// Refusal says why a command is refused.
type Refusal struct {
	// Rule is the rule that forbids it. If Unknown is set, the text does not show what runs, so no rule can be
	// checked, and Rule is the first rule.
	Rule    Rule
	Unknown bool
}

// Refuses checks the text of a shell command against the rules.
func (rs Rules) Refuses(text string) (Refusal, bool) {
	if len(rs) == 0 || strings.TrimSpace(text) == "" {
		return Refusal{}, false
	}
	j := checker{rules: rs, seen: map[string]bool{}, prompts: strings.Contains(text, "PS4")}
	j.shell(text, 0)
	return j.refusal, j.refused
}

// checker is the state of checking one command.
type checker struct {
	rules    Rules
	seen     map[string]bool // nested texts that were read
	prompts  bool            // a prompt is set, whose substitutions run
	commands int
	refusal  Refusal
	refused  bool
}

// refuse keeps the first reason, but prefers a rule that matches to a text that cannot be read.
func (j *checker) refuse(r Refusal) {
	if !j.refused || j.refusal.Unknown && !r.Unknown {
		j.refusal, j.refused = r, true
	}
}

func (j *checker) unknown() { j.refuse(Refusal{Rule: j.rules[0], Unknown: true}) }

// done reports whether the result is final or the limit of commands is exceeded.
func (j *checker) done() bool { return j.refused && !j.refusal.Unknown || j.commands > maxCommands }

// count counts a command and refuses a text with too many of them.
func (j *checker) count() {
	if j.commands++; j.commands > maxCommands {
		j.unknown()
	}
}

// maybe checks a text that may be shell code. A text that cannot be parsed is only searched for rules.
func (j *checker) maybe(text string, depth int) {
	text = strings.TrimLeft(text, "!|+ ") // with these, programs mark that a value is a command
	if j.done() || j.seen[text] {
		return
	}
	if _, err := parser().Parse(strings.NewReader(text), ""); err != nil {
		j.mentions(text)
		return
	}
	j.shell(text, depth)
}

// shell checks a text as shell code.
func (j *checker) shell(text string, depth int) {
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
	j.walk(file, text, depth)
}

// walk checks everything in a tree, which was parsed from the text.
func (j *checker) walk(root syntax.Node, text string, depth int) {
	documents, evaluates := map[*syntax.Word]bool{}, false
	syntax.Walk(root, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			j.statement(n, depth)
		case *syntax.BinaryCmd:
			j.pipe(n, depth)
		case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause: // other shells than bash read these as commands
			evaluates = true
			clause := text[n.Pos().Offset():n.End().Offset()]
			j.mentions(clause)
			if strings.HasPrefix(clause, "let") && strings.Contains(clause, "{") {
				j.unknown() // shells expand braces before they evaluate, which the parser does not
			}
		case *syntax.ArithmExp, *syntax.DeclClause:
			evaluates = true
		case *syntax.Redirect:
			documents[n.Hdoc] = true
		case *syntax.ParamExp:
			evaluates = evaluates || n.Index != nil || n.Slice != nil
			if n.Exp != nil && n.Exp.Op == syntax.OtherParamOps && n.Exp.Word.Lit() == "P" {
				j.unknown() // it runs the substitutions in a value
			}
		case *syntax.Word:
			if n != root && !documents[n] {
				text, sure, _ := literal(n)
				j.later(text, depth)
				if !sure && strings.Contains(text, "$(") && (j.prompts || strings.Contains(text, "[")) {
					j.unknown()
				}
			}
		}
		return !j.done()
	})
	if evaluates { // substitutions in values run, and these may have been put together from any words
		for _, text := range literals(root) {
			j.mentions(text)
		}
	}
}

// later checks the substitutions in a text that is not code. Shells run those in subscripts, prompts and arithmetic,
// wherever the text comes from. An unknown program is only refused in subscripts and prompts, because other texts are
// mostly data.
func (j *checker) later(text string, depth int) {
	text = unescaped(text)
	if j.done() || !strings.Contains(text, "$(") && !strings.Contains(text, "`") || j.seen["later "+text] {
		return
	}
	j.seen["later "+text] = true
	if depth > maxNested {
		j.unknown()
		return
	}
	before, refused := j.refusal, j.refused
	doc, err := parser().Document(strings.NewReader(text))
	if err != nil {
		j.mentions(text)
	} else if doc != nil {
		j.walk(doc, text, depth+1)
	}
	if j.refusal.Unknown && !j.prompts && !strings.Contains(text, "[") {
		j.refusal, j.refused = before, refused
	}
}

// statement checks one simple command or declaration and what it reads.
func (j *checker) statement(s *syntax.Stmt, depth int) {
	switch cmd := s.Cmd.(type) {
	case *syntax.DeclClause:
		for _, a := range cmd.Args {
			j.assignment(a, false, depth)
		}
	case *syntax.CallExpr:
		for _, a := range cmd.Assigns {
			j.assignment(a, len(cmd.Args) > 0, depth)
		}
		if len(cmd.Args) == 0 {
			return
		}
		list := words(cmd.Args)
		j.command(list, depth)
		j.given(list, s.Redirs, depth)
	default:
		if len(s.Redirs) > 0 && j.readsCommands(s) {
			j.input(s.Redirs, depth)
		}
	}
}

// assignment checks a value, because programs run some values of their environment. Without a command, only names in
// capitals count: no program reads the others.
func (j *checker) assignment(a *syntax.Assign, command bool, depth int) {
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			j.assignment(&syntax.Assign{Name: a.Name, Value: e.Value}, command, depth)
		}
	}
	if a.Value == nil {
		return
	}
	text, sure, _ := literal(a.Value)
	name := ""
	if a.Name != nil {
		name = a.Name.Value
	} else {
		name, text, _ = strings.Cut(text, "=")
	}
	switch {
	case !command && name != strings.ToUpper(name):
		return
	case strings.HasPrefix(name, "GIT_CONFIG"):
		j.mentions(text)
	case !sure && runsValue(name):
		j.unknown()
	}
	if !command && !strings.ContainsAny(text, "$`/") { // a pattern of files is no program without a path
		text = strings.NewReplacer("*", "_", "?", "_", "[", "_").Replace(text)
	}
	switch {
	case sure && runsValue(name):
		j.shell(strings.TrimLeft(text, "!|+ "), depth+1)
	case sure:
		j.maybe(text, depth+1)
	}
}

// given checks what a command reads from its redirections.
func (j *checker) given(list []word, redirects []*syntax.Redirect, depth int) {
	if slices.ContainsFunc(list, readsText) {
		j.input(redirects, depth)
		return
	}
	for _, d := range redirects {
		var w word
		switch {
		case d.Hdoc != nil:
			w = document(d)
		case d.Op == syntax.WordHdoc:
			w = readWord(d.Word)
		}
		switch {
		case slices.ContainsFunc(list, readsCode):
			j.quoted(w.text, depth)
			if slices.ContainsFunc(list, readsShell) && (!w.known || strings.ContainsAny(w.text, "$`*?[\\")) {
				j.unknown()
			}
		case slices.Contains([]string{"read", "mapfile", "readarray"}, list[0].program):
			j.later(w.text, depth)
		}
	}
}

// input checks the commands that a shell reads from its input.
func (j *checker) input(redirects []*syntax.Redirect, depth int) {
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

// read checks a word as shell code.
func (j *checker) read(w word, depth int) {
	if !w.known {
		j.unknown()
		return
	}
	j.shell(w.text, depth+1)
}

// pipe checks what is piped into a shell. Only the output of echo and printf is known.
func (j *checker) pipe(b *syntax.BinaryCmd, depth int) {
	if b.Op != syntax.Pipe && b.Op != syntax.PipeAll {
		return
	}
	text, sure := printed(b.X)
	switch {
	case j.readsCommands(b.Y) && !sure:
		j.unknown()
	case j.readsCommands(b.Y):
		j.shell(text, depth+1)
		j.mentions(text)
	default:
		if call, ok := b.Y.Cmd.(*syntax.CallExpr); ok && slices.ContainsFunc(words(call.Args), readsCode) {
			j.quoted(text, depth)
			if slices.ContainsFunc(words(call.Args), readsShell) && strings.ContainsAny(text, "$`*?[\\") {
				j.unknown()
			}
		}
	}
}

// readsCommands reports whether a statement, or one inside of it, runs a shell that reads its commands from its input.
func (j *checker) readsCommands(s *syntax.Stmt) bool {
	found := false
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			found = found || readsInput(words(n.Args))
		case *syntax.CmdSubst, *syntax.FuncDecl:
			return false
		}
		return !found
	})
	return found
}

// command checks the words of one command, and what the command starts, against the rules.
func (j *checker) command(list []word, depth int) {
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
		j.options(list, depth)
	case isShell(list[0]), name == "eval", name == "source", name == ".", name == "trap":
		j.evaluated(name, list[1:], depth)
	case programs.Interprets(name):
		j.code(name, list[1:], depth)
	case name == "find", name == "fd", name == "fdfind":
		j.found(list[1:], depth)
	case programs.Plain(name):
		j.options(list, depth)
		j.values(list, depth)
	default:
		j.started(name, list, depth)
	}
}

// evaluated checks the arguments that a shell evaluates as code.
func (j *checker) evaluated(name string, list []word, depth int) {
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
func (j *checker) code(name string, list []word, depth int) {
	given := slices.ContainsFunc(list, func(w word) bool { return slices.Contains([]string{"-c", "-e", "-E", "-r", "--eval", "-p"}, w.text) })
	for i, w := range list {
		switch {
		case !w.known && !given && !isScript(name, list[:i]):
		case !w.known:
			j.unknown()
		case name == "sed" || name == "gsed":
			if sedRuns(w.text) || (isScript(name, list[:i]) || i > 0 && strings.HasSuffix(list[i-1].text, "e") && list[i-1].text[0] == '-') && sedBegins(w.text) {
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

// quoted searches code for rules and checks its string literals as shell code.
func (j *checker) quoted(code string, depth int) {
	j.mentions(code)
	for _, quote := range []string{"'", "\"", "`"} {
		for i, text := range strings.Split(code, quote) {
			if i%2 == 1 && strings.ContainsAny(text, " $`*?[\\") {
				j.maybe(text, depth+1)
			}
		}
	}
}

// found checks the commands that find runs for files. What is between one and its end is the command's own.
func (j *checker) found(list []word, depth int) {
	for i := 0; i+1 < len(list); i++ {
		w := list[i]
		if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"}, w.text) {
			continue
		}
		command := list[i+1:]
		j.command(command, depth)
		if end := slices.IndexFunc(command, func(w word) bool { return w.text == ";" || w.text == "+" }); end >= 0 {
			command = command[:end]
		}
		j.filled(command, "{}", strings.Trim(w.text, "-xX") == "" || strings.HasPrefix(w.text, "--"), depth)
		i += len(command)
	}
}

// filled checks a command in which names of files or other input replace a mark, or follow the words.
func (j *checker) filled(list []word, mark string, follows bool, depth int) {
	follows = follows && !slices.ContainsFunc(list, func(w word) bool { return strings.Contains(w.text, mark) })
	for i, w := range list {
		rest := list[i+1:]
		switch {
		case j.done() || w.program == "find": // find has its own words of a command
			return
		case i == 0 && strings.Contains(w.text, mark):
			j.unknown()
		case i > 0 && w.known && strings.Contains(w.text, mark) && strings.HasPrefix(list[i-1].text, "-") && strings.Contains(list[i-1].text, "c"):
			j.maybe(strings.ReplaceAll(w.text, mark, "$x"), depth+1)
		case isShell(w) && follows && len(rest) > 0 && strings.HasPrefix(rest[len(rest)-1].text, "-") && strings.Contains(rest[len(rest)-1].text, "c"):
			j.unknown()
		case programs.Starts(w.program):
			at := slices.IndexFunc(rest, func(w word) bool { return !w.known || operand(w.text) })
			if at < 0 && follows || at >= 0 && strings.Contains(rest[at].text, mark) {
				j.unknown()
			}
		}
	}
}

// options checks what the options of programs start that take their operands as data.
func (j *checker) options(list []word, depth int) {
	j.count() // options of options would take exponential time
	name := list[0].program
	for i, w := range list {
		if j.done() {
			return
		}
		if i == 0 {
			continue
		}
		values, next := startedBy(name, w.text+w.shown)
		if !w.known {
			if len(values) > 0 || next || packed(list) {
				j.unknown()
			}
			continue
		}
		for _, v := range values {
			j.maybe(v, depth+1)
		}
		switch {
		case !next || i+1 == len(list):
		case list[i+1].known:
			j.tail(list[i+1:], depth)
			j.maybe(list[i+1].text, depth+1)
		case w.text != "-u": // that of git mostly means something else
			j.unknown()
		}
		if (name == "less" || name == "more") && w.text != "" && w.text[0] == '+' || strings.HasPrefix(name, "apt") && strings.Contains(w.text, "::") {
			j.mentions(w.text)
		}
	}
	if packed(list) {
		j.started("", list, depth)
	}
}

// values checks operands and option values that contain shell code, because some programs run them.
func (j *checker) values(list []word, depth int) {
	for _, w := range list[1:] {
		if j.done() {
			return
		}
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
			j.maybe(value, depth+1)
			j.maybe(value[strings.LastIndexByte(value, '=')+1:], depth+1)
		}
		if _, address, ok := strings.Cut(w.text, "ext::"); ok { // git runs such an address
			j.maybe(address, depth+1)
		}
		if strings.HasPrefix(w.text, "!") || strings.ContainsAny(w.text, " \t\n;|&`$(") {
			j.maybe(w.text, depth+1)
		}
	}
	if programs.Plain(list[0].program) && slices.ContainsFunc(list[1:], func(w word) bool { return startsOperand(list[0].program, w.text) }) {
		j.started("", list, depth)
	}
}

// started checks every word as if the program ran it. Programs that start others do, and of unknown programs we do not
// know.
func (j *checker) started(name string, list []word, depth int) {
	for i := 1; i < len(list); i++ {
		w := list[i]
		if j.done() {
			return
		}
		if !w.known {
			if programs.Starts(name) {
				j.unknown()
			}
			continue
		}
		j.tail(list[i:], depth)
		switch name {
		case "env":
			j.maybe(split(w.text), depth+1)
		case "socat", "bind":
			j.mentions(w.text)
		}
		if list[i-1].text == "-wrapper" { // of compilers: a command whose words are joined with commas
			j.maybe(strings.ReplaceAll(w.text, ",", " "), depth+1)
		}
	}
	if name == "xargs" || name == "parallel" {
		command, mark := replaced(list)
		if name == "parallel" && len(command) == 0 {
			j.unknown()
		}
		j.filled(command, mark, true, depth)
	}
	if name != "" {
		j.values(list, depth)
	}
}

// tail checks words after a program that may run them against the rules.
func (j *checker) tail(list []word, depth int) {
	if j.done() {
		return
	}
	for _, r := range j.rules {
		if !r.every && r.matches(list) {
			j.refuse(Refusal{Rule: r})
			return
		}
	}
	if w := list[0]; isShell(w) || w.program == "eval" || programs.Interprets(w.program) || slices.Contains([]string{"find", "env", "xargs", "parallel"}, w.program) {
		j.command(list, depth)
	}
	if letters, long := starters(list[0].program); letters != "" || long != "" {
		j.options(list, depth)
	}
}

// mentions refuses a text that contains all words of a rule, whatever else it contains.
func (j *checker) mentions(text string) {
	if r, ok := j.rules.in(text); ok {
		j.refuse(Refusal{Rule: r})
	}
}

func texts(list []word) []string {
	var out []string
	for _, w := range list {
		out = append(out, w.text)
	}
	return out
}
