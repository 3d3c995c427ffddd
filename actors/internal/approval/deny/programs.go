package deny

import (
	"regexp"
	"slices"
	"strings"
)

// isShell reports whether a word names a shell.
func isShell(w word) bool {
	name := strings.TrimPrefix(w.program, "-")
	return w.known && slices.Contains([]string{"sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh", "yash", "fish", "csh", "tcsh", "pwsh", "busybox-sh"}, strings.TrimRight(name, "0123456789.-"))
}

// readsText reports whether a word names what runs the commands that it reads.
func readsText(w word) bool {
	return isShell(w) || w.known && (w.text == "." || w.program == "source" || w.program == "eval")
}

// interprets reports whether a program runs code that it is given.
func interprets(name string) bool {
	return slices.Contains([]string{
		"python", "pypy", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "tclsh", "wish", "expect", "osascript", "awk", "gawk", "mawk", "nawk",
		"sed", "gsed", "ed", "ex", "vi", "vim", "nvim", "emacs", "gdb", "sqlite", "psql", "mysql", "m", "guile", "scheme", "racket", "julia", "r", "rscript", "groovy", "jshell", "ghci", "runghc", "octave",
	}, strings.TrimRight(name, "0123456789.-"))
}

// starts reports whether a program is there to start others with its operands.
func starts(name string) bool {
	return slices.Contains([]string{
		"env", "xargs", "parallel", "nice", "ionice", "chrt", "taskset", "numactl", "nohup", "timeout", "stdbuf", "setsid", "setpriv", "capsh", "prlimit", "setarch", "sudo", "doas", "su", "runuser", "pkexec",
		"command", "builtin", "exec", "time", "watch", "strace", "ltrace", "perf", "valgrind", "gdb", "flock", "chroot", "unshare", "nsenter", "bwrap", "firejail", "script", "expect", "ssh", "tmux", "screen", "dtach",
		"busybox", "toybox", "systemd-run", "start-stop-daemon", "dbus-run-session", "xvfb-run", "fakeroot", "faketime", "entr", "inotifywait", "at", "batch", "coproc", "rlwrap", "unbuffer", "socat", "nc", "ncat", "proot",
	}, name)
}

// printsOnly reports whether the operands of a program are data, and never run.
func printsOnly(name string) bool {
	return slices.Contains([]string{
		"echo", "printf", "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "ls", "dir", "cat", "tac", "head", "tail", "wc", "uniq", "cut", "tr", "test", "[", "true", "false", ":", "pwd", "cd", "pushd", "popd",
		"stat", "file", "du", "df", "diff", "cmp", "comm", "paste", "nl", "rev", "seq", "date", "basename", "dirname", "realpath", "readlink", "which", "whereis", "type", "hash", "whatis", "apropos", "help",
		"jq", "column", "fold", "fmt", "tee", "kill", "ps", "pgrep", "sleep", "exit", "return", "break", "continue", "shift", "set", "unset", "wait", "read", "md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum",
		"base64", "xxd", "od", "hexdump", "strings", "id", "whoami", "uname", "hostname", "uptime", "free", "tree", "look", "expr", "let", "mkdir", "rmdir", "touch",
	}, name)
}

// plain reports whether a program does not run its operands as programs, though values of
// its options may be texts for a shell.
func plain(name string) bool {
	return slices.Contains([]string{
		"git", "hg", "svn", "cp", "mv", "ln", "rm", "unlink", "install", "chmod", "chown", "chgrp", "sort", "tar", "gzip", "gunzip", "zip", "unzip", "less", "more", "man", "apt", "apt-get", "apt-cache", "dnf", "yum",
		"apk", "brew", "pip", "pip3", "pacman", "dpkg", "rpm", "curl", "wget", "rsync", "scp", "sftp", "export", "declare", "local", "readonly", "typeset", "alias", "unalias", "shopt",
	}, name)
}

// startsOperand reports whether an operand makes a plain program run those behind it.
func startsOperand(program, operand string) bool {
	return program == "git" && slices.Contains([]string{"bisect", "submodule", "filter-branch", "rebase", "difftool", "mergetool", "hook", "for-each-repo", "instaweb", "send-email"}, operand)
}

// isScript reports whether the word behind others of a program is its script.
func isScript(name string, before []word) bool {
	return (name == "sed" || name == "gsed" || strings.HasSuffix(name, "awk")) && !slices.ContainsFunc(before, func(w word) bool { return w.text == "" || w.text[0] != '-' })
}

// sedRuns reports whether a script of sed may run commands.
func sedRuns(script string) bool {
	return regexp.MustCompile(`(^|[0-9$/;{\s])e(\s|$)|[^a-zA-Z0-9\s][gpiImM0-9]*e[gpiImMw0-9]*\s*($|;|\}|\n)`).MatchString(script)
}
