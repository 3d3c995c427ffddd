package deny

import (
	"regexp"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/programs"
)

// isShell reports whether a word names a shell.
func isShell(w word) bool {
	return w.known && programs.Shell(strings.TrimPrefix(w.program, "-"))
}

// readsText reports whether a word names a program that runs the commands that it reads.
func readsText(w word) bool {
	return isShell(w) || w.known && (w.text == "." || w.program == "source" || w.program == "eval")
}

// startsOperand reports whether an operand makes a plain program run the operands after it.
func startsOperand(program, operand string) bool {
	return program == "git" && slices.Contains([]string{"bisect", "submodule", "filter-branch", "rebase", "difftool", "mergetool", "hook", "for-each-repo", "instaweb", "send-email"}, operand)
}

// isScript reports whether the word after others of a program is its script.
func isScript(name string, before []word) bool {
	return (name == "sed" || name == "gsed" || strings.HasSuffix(name, "awk")) && !slices.ContainsFunc(before, func(w word) bool { return w.text == "" || w.text[0] != '-' })
}

// sedRuns reports whether a script of sed may run commands.
func sedRuns(script string) bool {
	return regexp.MustCompile(`(^|[0-9$/;{\s])e(\s|$)|[^a-zA-Z0-9\s][gpiImM0-9]*e[gpiImMw0-9]*\s*($|;|\}|\n)`).MatchString(script)
}
