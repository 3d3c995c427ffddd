package shell

import (
	"path/filepath"
	"strconv"
)

// environ is the environment of a command, except for HOME. It contains nothing of the host's environment, and its
// settings keep programs from prompting, paging or opening editors.
func (s *Shell) environ() []string {
	env := []string{
		"PATH=" + s.opts.Path, "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "TERM=dumb",
		"PAGER=cat", "MANPAGER=cat", "EDITOR=false", "VISUAL=false", "SYSTEMD_PAGER=cat",
		"SSH_ASKPASS=/bin/false", "SSH_ASKPASS_REQUIRE=force", "SUDO_ASKPASS=/bin/false", "DEBIAN_FRONTEND=noninteractive",
		"GIT_PAGER=cat", "GIT_EDITOR=false", "GIT_SEQUENCE_EDITOR=false", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=/bin/false",
		"GIT_SSH_COMMAND=ssh -oBatchMode=yes", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(s.root),
	}
	return append(env, gitSettings(usualGit())...)
}

// setting is a git setting that overrides those of repositories.
type setting struct{ key, value string }

// usualGit are settings that keep git from running programs that a repository configures.
func usualGit() []setting {
	return []setting{
		{"core.fsmonitor", "false"},
		{"core.hooksPath", "/dev/null"},
		{"core.pager", "cat"},
		{"core.askPass", "/bin/false"},
		{"credential.helper", ""},
		{"advice.detachedHead", "false"},
	}
}

// gitSettings converts settings to the environment variables of git.
func gitSettings(settings []setting) []string {
	env := []string{"GIT_CONFIG_COUNT=" + strconv.Itoa(len(settings))}
	for i, s := range settings {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+s.key, "GIT_CONFIG_VALUE_"+n+"="+s.value)
	}
	return env
}
