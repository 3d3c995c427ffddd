package shell

import (
	"path/filepath"
	"strconv"
)

// environ is the environment of a command, but for its home. Nothing of the
// host's is in it; nothing in it asks, pages or edits.
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

// setting is a setting of git that wins over those of repositories.
type setting struct{ key, value string }

// usualGit: what repositories say is not run beside a command.
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

// gitSettings is settings as git takes them from the environment.
func gitSettings(settings []setting) []string {
	env := []string{"GIT_CONFIG_COUNT=" + strconv.Itoa(len(settings))}
	for i, s := range settings {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+s.key, "GIT_CONFIG_VALUE_"+n+"="+s.value)
	}
	return env
}
