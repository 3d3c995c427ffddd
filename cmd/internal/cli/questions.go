package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/logs"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/memory"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/pending"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/skills"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/config"
)

// The questions that commands ask the running host, because only its process knows its environment and flags.
const (
	aboutDoctor       = "doctor"
	aboutDoctorOnline = "doctor-online"
	aboutCheck        = "config-check"
	aboutShow         = "config-show"
	aboutBots         = "bots"
	aboutModels       = "models"
	aboutModelsCheck  = "models-check"
)

// hostAnswer is a host's answer to a question: a value, or the failure to produce one.
type hostAnswer struct {
	Value   json.RawMessage `json:"value,omitempty"`
	Failure *hostFailure    `json:"failure,omitempty"`
}

// hostFailure is a [Failure] as sent between processes.
type hostFailure struct {
	Code int    `json:"code"`
	What string `json:"what"`
	Help string `json:"help,omitempty"`
}

// questions are what the host of this process answers, with its own environment and flags. Those that no command asks
// are for the console: their documents are the ones that commands print with --json.
func (a *app) questions(dir, state string) map[string]func(context.Context, string) any {
	here := *a.Console
	here.Dir, here.StateFolder = dir, state
	doctor := func(online bool) func(context.Context, string) any {
		return func(ctx context.Context, _ string) any {
			return answerOf(a.diagnose(ctx, dir, state, online, nil), nil)
		}
	}
	return map[string]func(context.Context, string) any{
		aboutDoctor: doctor(false), aboutDoctorOnline: doctor(true),
		aboutCheck:  func(context.Context, string) any { return answerOf(a.check(dir, state)) },
		aboutShow:   func(context.Context, string) any { return answerOf(a.shown(dir)) },
		aboutBots:   func(context.Context, string) any { return answerOf(a.bots(dir)) },
		aboutModels: func(context.Context, string) any { return answerOf(a.modelRows(dir)) },
		aboutModelsCheck: func(ctx context.Context, name string) any {
			return answerOf(a.checkModels(ctx, dir, state, name))
		},
		"usage":    func(_ context.Context, since string) any { return answerOf(a.used(dir, state, since)) },
		"people":   func(context.Context, string) any { return answerOf(a.people(dir, state)) },
		"tasks":    func(ctx context.Context, _ string) any { return answerOf(pending.TaskList(ctx, &here)) },
		"memories": func(context.Context, string) any { return answerOf(query.ListMemories(state)) },
		"memory":   func(ctx context.Context, name string) any { return answerOf(memory.Read(ctx, &here, name)) },
		"skills":   func(ctx context.Context, name string) any { return answerOf(skills.Document(ctx, &here, name)) },
		"log":      func(_ context.Context, last string) any { return answerOf(logs.Last(state, last)) },
		"archives": func(_ context.Context, of string) any { return answerOf(archives(state, of)) },
	}
}

// orders are what people can tell the host of this process in the console, in addition to orders to its chats.
func (a *app) orders(dir, state string) map[string]func(context.Context, []byte) (any, error) {
	here := *a.Console
	here.Dir, here.StateFolder = dir, state
	return map[string]func(context.Context, []byte) (any, error){
		"people": func(ctx context.Context, order []byte) (any, error) { return a.orderPeople(ctx, dir, state, order) },
		"memory": func(ctx context.Context, order []byte) (any, error) { return memory.Write(ctx, &here, order) },
		"skills": func(ctx context.Context, order []byte) (any, error) { return skills.Order(ctx, &here, order) },
	}
}

// used is the usage from a day on, or of the last days, with the limits and the day that it is for the ledger.
func (a *app) used(dir, state, since string) (any, error) {
	since = cmp.Or(since, a.firstDay(dir))
	if _, err := time.Parse(time.DateOnly, since); err != nil {
		return nil, &console.Failure{Code: console.CodeUsage, What: "that is not a day, as in 2026-01-31"}
	}
	loaded, err := a.Load(dir, false)
	if err != nil {
		return nil, err
	}
	lines, err := usage(state, since, byAll())
	return struct {
		Usage  []usageLine   `json:"usage"`
		Limits config.Budget `json:"limits"`
		Today  string        `json:"today"`
	}{lines, loaded.Settings.Budget, time.Now().In(agentdir.Zone(loaded.Settings.Timezone)).Format(time.DateOnly)}, err
}

// archives are the archives of a chat or, if the chat's key is followed by a line with an id, one of them.
func archives(state, of string) (any, error) {
	chat, id, one := strings.Cut(of, "\n")
	key, err := console.ChatArg([]string{chat})
	switch {
	case err != nil:
		return nil, err
	case one:
		return query.Archive(state, key, id)
	}
	return query.Archives(state, key)
}

// answerOf makes an answer from a value or an error.
func answerOf[T any](value T, err error) hostAnswer {
	if err == nil {
		var text []byte
		if text, err = json.Marshal(value); err == nil {
			return hostAnswer{Value: text}
		}
	}
	f, ok := errors.AsType[*console.Failure](err)
	if !ok {
		f = &console.Failure{Code: console.CodeFailed}
	}
	return hostAnswer{Failure: &hostFailure{Code: f.Code, What: err.Error(), Help: f.Help}}
}
