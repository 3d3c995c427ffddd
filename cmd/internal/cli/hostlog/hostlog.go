// Package hostlog makes the log of a host, whose format and level follow the settings while it runs. What is logged is the
// callers' matter.
package hostlog

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/config"
)

// New logs to w as the settings say: by default as text on a terminal and as JSON elsewhere. All loggers that were
// made from it follow the settings that follow gets.
func New(w io.Writer, s config.Log) (log *slog.Logger, follow func(config.Log)) {
	level, json := new(slog.LevelVar), new(atomic.Bool)
	follow = func(s config.Log) {
		_ = level.UnmarshalText([]byte(s.Level)) // the settings take only words that it knows
		json.Store(s.Format == "json" || s.Format == "auto" && !console.IsTerminal(w))
	}
	follow(s)
	opts := &slog.HandlerOptions{Level: level, ReplaceAttr: withUnits}
	return slog.New(formats{slog.NewTextHandler(w, opts), slog.NewJSONHandler(w, opts), json}), follow
}

// formats writes a log as text, or as JSON while that is chosen.
type formats struct {
	slog.Handler // writes text
	json         slog.Handler
	chosen       *atomic.Bool
}

func (f formats) Handle(ctx context.Context, r slog.Record) error {
	if f.chosen.Load() {
		return f.json.Handle(ctx, r)
	}
	return f.Handler.Handle(ctx, r)
}

func (f formats) WithAttrs(attrs []slog.Attr) slog.Handler {
	return formats{f.Handler.WithAttrs(attrs), f.json.WithAttrs(attrs), f.chosen}
}

func (f formats) WithGroup(name string) slog.Handler {
	return formats{f.Handler.WithGroup(name), f.json.WithGroup(name), f.chosen}
}

// withUnits writes durations with units; JSON would have nanoseconds.
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
