package cli

import (
	"errors"
	"path/filepath"
	"reflect"

	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/config"
)

// trustOfService checks that a service could start in a folder, and returns the digest of what its settings reach
// outside of it, or "" if they reach nothing. The service has no variables of this shell but what is in .env.
func (a *app) trustOfService(dir string) (string, error) {
	bare := &app{Console: &console.Console{Stderr: a.Stderr, Env: func(string) (string, bool) { return "", false }}}
	loaded, err := bare.Load(dir, false)
	if err != nil {
		f := &console.Failure{Code: console.CodeConfig, What: "the settings cannot be used by a service", Why: err, Help: "write keys into " + filepath.Join(dir, ".env") + ", which only its owner may read"}
		if cause, ok := errors.AsType[*console.Failure](err); ok {
			f.Why = cause.Why
		}
		return "", f
	}
	if here, err := a.Load(dir, false); err != nil || !reflect.DeepEqual(here.Settings, loaded.Settings) {
		a.Say("%s", a.Words("warning: variables of this shell change the settings, and the service does not have them; write keys into "+filepath.Join(dir, ".env")))
	}
	reaches := usedReaches(filepath.Join(dir, ".ship"), loaded)
	if len(reaches) == 0 {
		return "", nil
	}
	if err := a.checkTrust(dir, reaches); err != nil {
		return "", &console.Failure{Code: console.CodeConfig, What: "this folder is not trusted", Why: err, Help: "sma trust " + checkup.ShellWord(dir)}
	}
	return config.Digest(reaches), nil
}
