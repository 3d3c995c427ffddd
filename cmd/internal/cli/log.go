package cli

import (
	"io"
	"log/slog"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/config"
)

// newLogger writes to w as the settings say: text on a terminal and JSON
// elsewhere, unless a form is set. The level can be changed while it runs.
func newLogger(w io.Writer, s config.Log) (*slog.Logger, *slog.LevelVar) {
	level := new(slog.LevelVar)
	level.Set(host.LogLevel(s.Level))
	opts := &slog.HandlerOptions{Level: level, ReplaceAttr: withUnits}
	if s.Format == "json" || s.Format == "auto" && !isTerminal(w) {
		return slog.New(slog.NewJSONHandler(w, opts)), level
	}
	return slog.New(slog.NewTextHandler(w, opts)), level
}

// withUnits writes durations as people read them; JSON would have them as nanoseconds.
func withUnits(_ []string, attr slog.Attr) slog.Attr {
	if attr.Value.Kind() != slog.KindDuration {
		return attr
	}
	d := attr.Value.Duration()
	switch {
	case d >= time.Second || d <= -time.Second:
		d = d.Round(time.Millisecond)
	default:
		d = d.Round(time.Microsecond)
	}
	return slog.String(attr.Key, d.String())
}

// isTerminal reports that a person looks at what is written or types what is read.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
