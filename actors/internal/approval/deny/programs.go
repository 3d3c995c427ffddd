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

// readsText reports whether a word names something that runs the commands it reads.
func readsText(w word) bool {
	return isShell(w) || w.known && (w.text == "." || w.program == "source" || w.program == "eval")
}

// startsOperand reports whether an operand makes a plain program run the operands after it.
func startsOperand(program, operand string) bool {
	return program == "git" && slices.Contains([]string{"bisect", "submodule", "filter-branch", "rebase", "config", "difftool", "mergetool", "hook", "for-each-repo", "instaweb", "send-email"}, operand)
}

// readsCode reports whether a word names a program, other than a shell, that may run what it reads.
func readsCode(w word) bool {
	data := w.program == "sed" || w.program == "gsed" || strings.HasSuffix(w.program, "awk")
	return w.known && !data && (programs.Interprets(w.program) || readsShell(w))
}

// readsShell reports whether a word names a program that runs lines of what it reads as shell code.
func readsShell(w word) bool {
	return slices.Contains([]string{"ssh", "mosh", "at", "batch", "su", "runuser", "parallel", "make", "gmake", "crontab"}, w.program)
}

// readsInput reports whether a command is a shell, or starts one, that reads its commands from its input.
func readsInput(list []word) bool {
	for i, w := range list {
		if readsText(w) && w.program != "eval" && (i == 0 || programs.Starts(list[0].program)) {
			rest := list[i+1:]
			return isShell(w) && !slices.ContainsFunc(rest, func(w word) bool { return w.known && w.text != "" && w.text[0] != '-' }) ||
				slices.ContainsFunc(rest, func(w word) bool { return !w.known || mayBeInput(w.text) })
		}
	}
	return false
}

// mayBeInput reports whether a path may be that of the standard input.
func mayBeInput(path string) bool {
	return strings.Contains("/"+path, "/dev/") || strings.Contains("/"+path, "/proc/")
}

// runsValue reports whether programs run the value of a variable, or a shell the substitutions in it.
func runsValue(name string) bool {
	return slices.ContainsFunc([]string{"PAGER", "EDITOR", "VISUAL", "BROWSER", "SHELL", "ASKPASS", "COMMAND", "GIT_SSH", "_RSH", "LESSOPEN", "LESSCLOSE", "PS4", "BASH_ENV"},
		func(s string) bool { return strings.HasSuffix(name, s) })
}

// starters returns the options, as letters and as long names, with which a program starts another one although its
// operands are data.
func starters(program string) (letters, long string) {
	switch program {
	case "rg":
		return "", "--pre --hostname-bin"
	case "ag", "ack":
		return "", "--pager"
	case "hash":
		return "p", ""
	case "tar":
		return "IF", "--use-compress-program --to-command --checkpoint-action --info-script --new-volume-script --rsh-command --rmt-command"
	case "rsync":
		return "e", "--rsh --rsync-path"
	case "scp", "sftp":
		return "SD", ""
	case "zip":
		return "T", "--unzip-command"
	case "man":
		return "HP", "--pager --html"
	case "sort":
		return "", "--compress-program"
	case "install":
		return "", "--strip-program"
	case "git":
		return "Ou", "--open-files-in-pager --upload-pack --receive-pack --exec --extcmd"
	case "hg":
		return "e", "--ssh --remotecmd"
	case "svn":
		return "", "--diff-cmd --diff3-cmd --editor-cmd"
	case "dpkg":
		return "", "--pre-invoke --post-invoke --status-logger"
	case "rpm":
		return "", "--pipe"
	case "pip", "pip3":
		return "", "--python"
	case "wget":
		return "", "--use-askpass"
	}
	return "", ""
}

// startedBy returns what an option may start: values in the same word, and whether the next word is one.
func startedBy(program, option string) (values []string, next bool) {
	letters, long := starters(program)
	if strings.HasPrefix(option, "--") {
		name, value, assigned := strings.Cut(option, "=")
		for l := range strings.FieldsSeq(long) {
			switch {
			case len(name) < 4 || !strings.HasPrefix(l, name): // long names may be shortened
			case assigned:
				values = append(values, value)
			default:
				next = true
			}
		}
		return values, next
	}
	if option == "" || option[0] != '-' {
		return nil, false
	}
	for i := 1; i < len(option); i++ {
		switch {
		case strings.IndexByte(letters, option[i]) < 0:
		case i+1 == len(option):
			next = true
		default:
			values = append(values, option[i+1:])
		}
	}
	return values, next
}

// packed reports whether a command is tar with options as its first operand, of which one starts a program.
func packed(list []word) bool {
	return list[0].program == "tar" && len(list) > 1 && !strings.HasPrefix(list[1].text, "-") && strings.ContainsAny(list[1].text, "IF")
}

// operand reports whether a word after a program that starts others may be the program that it starts.
func operand(text string) bool {
	return text != "" && text[0] != '-' && !strings.Contains(text, "=") && strings.Trim(text, "0123456789.smhd") != ""
}

// split returns a word of env as its -S reads it.
func split(text string) string {
	if strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") {
		_, text, _ = strings.Cut(text, "S")
	}
	return strings.ReplaceAll(text, `\_`, " ")
}

// replaced returns the command of xargs, and the mark in it that input replaces.
func replaced(list []word) (command []word, mark string) {
	mark = "{}"
	for i := 1; i < len(list); i++ {
		text := list[i].text
		if text == "" || text[0] != '-' {
			return list[i:], mark
		}
		value := strings.TrimPrefix(text, "-I")
		separate := len(text) == 2 && strings.Contains("InPLdaEsJRSj", text[1:])
		if separate && i+1 < len(list) {
			i++
			value = list[i].text
		}
		if strings.HasPrefix(text, "-I") && value != "" {
			mark = value
		}
	}
	return nil, mark
}

// isScript reports whether the word after the given words of a program is its script.
func isScript(name string, before []word) bool {
	return (name == "sed" || name == "gsed" || strings.HasSuffix(name, "awk")) && !slices.ContainsFunc(before, func(w word) bool { return w.text == "" || w.text[0] != '-' })
}

// sedRuns reports whether a sed script may run commands.
func sedRuns(script string) bool {
	return regexp.MustCompile(`(^|[0-9$/;{\s])e(\s|$)|[^a-zA-Z0-9\s][gpiImM0-9]*e[gpiImMw0-9]*(\s*($|;|\}|\n)|w\s)`).MatchString(script) && script != "-e"
}

// sedBegins reports whether a command of a sed script begins with the letter of the command that runs others.
func sedBegins(script string) bool {
	return regexp.MustCompile(`(^|[;{}\n])\s*(([0-9]+|\$|/[^/]*/)I?([,~+]+([0-9]+|\$|/[^/]*/)?)?)?\s*!?\s*e`).MatchString(script)
}
