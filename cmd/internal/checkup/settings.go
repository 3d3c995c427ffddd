package checkup

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/adapters/tool/skill"
	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/config"
)

// Agent checks the text that says who the agent is.
func Agent(dir string) Finding {
	text, err := os.ReadFile(filepath.Join(dir, "Agent.md"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return New("project", Fail, "Agent.md cannot be read: "+ErrText(err), "sma init "+ShellWord(dir))
	case err != nil:
		return New("project", Fail, "Agent.md cannot be read: "+ErrText(err), "make it a file that this user can read")
	case !utf8.Valid(text):
		return New("project", Warn, "Agent.md is not UTF-8 text, so the agent cannot read all of it", "save it as UTF-8")
	case len(bytes.TrimSpace(text)) == 0:
		return New("project", Warn, "Agent.md is empty: the agent knows nothing of itself", "write down who it is")
	default:
		return New("project", OK, "Agent.md, "+SizeText(int64(len(text))), "")
	}
}

// Zone checks a time zone.
func Zone(name string) Finding {
	if name == "" {
		zone, _ := time.Now().Zone()
		return New("clock", OK, "the host's time zone, "+zone, "")
	}
	if _, err := time.LoadLocation(name); err != nil {
		return New("clock", Fail, "the time zone "+name+" is unknown", "set timezone to a name like Europe/Berlin")
	}
	return New("clock", OK, "time zone "+name, "")
}

// Model says which model answers.
func Model(s config.Settings) Finding {
	if s.LLM.Provider == config.ProviderDemo {
		return New("model", Warn, "the demo model answers, on this machine only", "set OPENAI_API_KEY")
	}
	return New("model", OK, s.LLM.Model+" at "+s.LLM.BaseURL, "")
}

// SystemShare checks how much of a request the system text takes.
func SystemShare(dir, state string, set *skill.Set, s config.Settings) []Finding {
	docs := agentdir.NewDocuments(dir, state, slog.New(slog.DiscardHandler))
	if docs.Load() != nil {
		return nil // unreadable documents are reported elsewhere
	}
	share := docs.SystemShare(set, s)
	if !share.TooLarge() {
		return nil
	}
	return []Finding{New("model", Warn, share.String(), "shorten "+share.Largest+", or raise context.history.maxInputTokensApprox")}
}

// Address tries to listen.
func Address(ctx context.Context, group, address, fix string, taken Mark) Finding {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return New(group, taken, address+" is taken by another program", fix)
	case err != nil:
		return New(group, taken, "nobody can listen on "+address+": "+ErrText(err), fix)
	}
	_ = l.Close() // it was only a test
	return New(group, OK, address+" is free", "")
}

// Speech says how voice messages are handled, and whether the programs for them exist. It contacts no service.
func Speech(s config.Speech) []Finding {
	t, k := s.Transcribe, s.Speak
	out := []Finding{
		speechFinding("voice messages become text", "voice messages stay files: nothing turns them into text", t.Model, t.BaseURL, t.Command),
		speechFinding("answers can be spoken", "answers are written only", k.Model, k.BaseURL, k.Command),
	}
	if t.Language != "" {
		out[0].Fact += ", mostly in " + t.Language
	}
	return out
}

func speechFinding(on, off, model, baseURL string, command []string) Finding {
	switch {
	case len(command) > 0:
		if _, err := exec.LookPath(command[0]); err != nil {
			return New("speech", Fail, command[0]+" cannot be run: "+strings.TrimPrefix(err.Error(), "exec: "), "install it, or write its whole path")
		}
		return New("speech", OK, on+" by "+command[0], "")
	case model != "":
		return New("speech", OK, on+" by "+model+" at "+baseURL, "")
	}
	return New("speech", OK, off, "")
}
