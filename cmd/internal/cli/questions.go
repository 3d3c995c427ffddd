package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/shipmyagent/shipmyagent/config"
)

// The questions that a command asks the running host, since only its process knows its
// environment and flags.
const (
	aboutDoctor       = "doctor"
	aboutDoctorOnline = "doctor-online"
	aboutCheck        = "config-check"
	aboutShow         = "config-show"
	aboutBots         = "bots"
)

// askWithin bounds a question to the running host; doctor --online asks several services.
const askWithin = 2 * time.Minute

// told is a host's answer to a question: a value, or why there is none.
type told struct {
	Value   json.RawMessage `json:"value,omitempty"`
	Failure *toldFailure    `json:"failure,omitempty"`
}

// toldFailure is a [Failure] on its way between processes.
type toldFailure struct {
	Code int    `json:"code"`
	What string `json:"what"`
	Help string `json:"help,omitempty"`
}

// questions are what a host of this process answers, with its own environment and flags.
func (a *app) questions(dir, state string) map[string]func(context.Context) any {
	doctor := func(online bool) func(context.Context) any {
		return func(ctx context.Context) any { return tell(a.diagnose(ctx, dir, state, online), nil) }
	}
	return map[string]func(context.Context) any{
		aboutDoctor: doctor(false), aboutDoctorOnline: doctor(true),
		aboutCheck: func(context.Context) any { return tell(a.check(dir, state)) },
		aboutShow:  func(context.Context) any { return tell(a.shown(dir)) },
		aboutBots:  func(context.Context) any { return tell(a.bots(dir)) },
	}
}

// tell makes an answer of a value or an error.
func tell[T any](value T, err error) told {
	if err == nil {
		var text []byte
		if text, err = json.Marshal(value); err == nil {
			return told{Value: text}
		}
	}
	f, ok := errors.AsType[*Failure](err)
	if !ok {
		f = &Failure{Code: CodeFailed}
	}
	return told{Failure: &toldFailure{Code: f.Code, What: err.Error(), Help: f.Help}}
}

// askRunning asks the host that runs on a state folder, or, if none does, answers here. It says
// on stderr whose environment the answer speaks of if that is not this terminal's.
// Settings of this command line are a question about this terminal, never about the host.
func askRunning[T any](ctx context.Context, a *app, state, what string, here func() (T, error)) (T, error) {
	h := newControl(state)
	status, err := h.status(ctx)
	if err != nil {
		return here()
	}
	if len(a.sets) > 0 {
		a.say("note: these are the settings of this terminal with --set; the host that runs (process %d) has its own", status.PID)
		return here()
	}
	h.http.Timeout = askWithin
	var answer told
	var out T
	switch err := h.get(ctx, "/control/ask/"+what, &answer); {
	case errors.Is(err, errNoChat), errors.Is(err, errNotRunning): // a host of sma send or chat, or an older one
		return here()
	case err != nil:
		return out, noAnswer(err)
	}
	a.say("note: this is what the running host says (process %d): its environment and flags count, not this terminal's", status.PID)
	if f := answer.Failure; f != nil {
		return out, &Failure{Code: f.Code, What: f.What, Help: f.Help}
	}
	if err := json.Unmarshal(answer.Value, &out); err != nil {
		return out, noAnswer(fmt.Errorf("read the answer: %w", err))
	}
	return out, nil
}

// shownSettings are the settings as config show prints them, secrets hidden.
type shownSettings struct {
	Findings   []config.Finding `json:"findings"`
	Text       string           `json:"text"`
	TextOrigin string           `json:"textOrigin"`
	JSON       string           `json:"json"`
	JSONOrigin string           `json:"jsonOrigin"`
}

// shown are the settings of this process.
func (a *app) shown(dir string) (shownSettings, error) {
	loaded, err := a.load(dir, false)
	if err != nil {
		return shownSettings{}, err
	}
	out := shownSettings{Findings: loaded.Findings}
	for _, form := range []struct {
		into           *string
		asJSON, origin bool
	}{{&out.Text, false, false}, {&out.TextOrigin, false, true}, {&out.JSON, true, false}, {&out.JSONOrigin, true, true}} {
		if *form.into, err = settingsText(loaded, form.asJSON, form.origin); err != nil {
			return out, &Failure{Code: CodeFailed, What: "the settings cannot be shown", Why: err}
		}
	}
	return out, nil
}

// text is one of the forms.
func (s shownSettings) text(asJSON, origin bool) string {
	switch {
	case asJSON && origin:
		return s.JSONOrigin
	case asJSON:
		return s.JSON
	case origin:
		return s.TextOrigin
	default:
		return s.Text
	}
}

// bots are the bots that the settings name, and whether each is on.
func (a *app) bots(dir string) (map[string]bool, error) {
	loaded, err := a.load(dir, false)
	if err != nil {
		return nil, err
	}
	adapters := loaded.Settings.Adapters
	on := map[string]bool{"telegram": adapters.Telegram.Enabled, "feishu": adapters.Feishu.Enabled}
	for name := range adapters.Telegram.Accounts {
		on["telegram@"+name] = adapters.Telegram.Enabled
	}
	return on, nil
}
