package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/plainjson"
)

const (
	// outputLimit is how much of the output a result contains, as JSON. Together with the other fields it fits within
	// the limit for results.
	outputLimit = 12 << 10
	// showEvery is how often people see the progress of a command.
	showEvery = 500 * time.Millisecond
	// execGrace is how long a call may take in addition to its command.
	execGrace = 30 * time.Second
)

// Exec is the tool exec_shell.
type Exec struct {
	tool.Described

	sh *Shell
}

// CheckCall implements [tool.Checker]. Every valid command needs approval.
func (e *Exec) CheckCall(call tool.Call) tool.Verdict {
	if why := e.sh.unavailable(); why != "" {
		return tool.Verdict{Decision: tool.Deny, Reason: why}
	}
	if _, err := e.sh.ask(call); err != nil {
		return tool.Verdict{Decision: tool.Deny, Reason: err.Error()}
	}
	return tool.Verdict{Decision: tool.Ask, Reason: "a command can change things"}
}

// Command implements [tool.Commander]. Rules cover foreground commands in the project's folder; all others need
// approval each time.
func (e *Exec) Command(call tool.Call) string {
	r, err := e.sh.ask(call)
	if err != nil {
		return ""
	}
	return r.grantable()
}

// Doubt implements [tool.Doubter]. A command's text does not show which files its patterns match and where its links
// lead; without a sandbox the command would read them.
func (e *Exec) Doubt(call tool.Call) string {
	r, err := e.sh.ask(call)
	if err != nil {
		return ""
	}
	if name := e.sh.meansSecret(r); name != "" {
		return "it means " + name + ", which is named like a secret"
	}
	return ""
}

// NamesScript implements [tool.ScriptNamer].
func (e *Exec) NamesScript(call tool.Call) bool {
	r, err := e.sh.ask(call)
	return err == nil && e.sh.namesScript(r)
}

// ShellText implements [tool.ShellTexter].
func (*Exec) ShellText(call tool.Call) string {
	var in struct {
		Command string
		Argv    []string
	}
	_ = json.Unmarshal(call.Input, &in) // invalid input is not run
	if in.Command != "" {
		return in.Command
	}
	if text := quoteAll(in.Argv); text != "" {
		return text
	}
	return strings.Join(in.Argv, " ")
}

// Explain implements [tool.Explainer].
func (e *Exec) Explain(call tool.Call) (tool.Explanation, error) {
	p, err := e.sh.plan(call)
	if err != nil {
		return tool.Explanation{}, err
	}
	about := struct {
		Background, Sandbox, Network bool
		Folder, Why, Scripts         string
		Limit                        time.Duration
	}{p.Background, e.sh.contains(), e.sh.opts.Network, "", oneLine(p.Why), e.sh.scripts(p), p.wall}
	if p.dir != e.sh.root {
		about.Folder = strings.TrimPrefix(p.dir, e.sh.root+"/")
	}
	out, err := tool.Describe(ExecName, about)
	if err != nil {
		return tool.Explanation{}, err // Unreachable: the texts exist
	}
	out.Exact, out.Bind = p.text, p.bind
	if out.Exact == "" { // words that cannot be written as shell text
		words, err := json.Marshal(p.Argv)
		if err != nil { // Unreachable: strings only
			return tool.Explanation{}, fmt.Errorf("show the command: %w", err)
		}
		out.Exact = string(words)
	}
	return out, nil
}

// scripts lists the files of the project that a command runs, as far as its text shows. Names that could be read as
// words of the request are quoted.
func (s *Shell) scripts(p *plan) string {
	var names []string
	for _, pin := range p.named.pins {
		names = append(names, quote(strings.TrimPrefix(pin.Path, s.root+"/")))
	}
	return tool.Shorten(strings.Join(names, ", "), 300)
}

// oneLine puts a claim on one line, so that it cannot imitate other parts of the request.
func oneLine(s string) string { return tool.Shorten(strings.Join(strings.Fields(s), " "), 500) }

// Invoke implements [tool.Tool].
func (e *Exec) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	return e.InvokeStream(ctx, call, func(json.RawMessage) {})
}

// InvokeStream implements [tool.Streamer].
func (e *Exec) InvokeStream(ctx context.Context, call tool.Call, show func(json.RawMessage)) (tool.Result, error) {
	p, err := e.sh.agreed(call)
	if err != nil {
		return tool.Result{}, err
	}
	if p.Background {
		return e.sh.launch(ctx, call, p)
	}
	home, err := e.sh.newHome()
	if err != nil {
		return tool.Result{}, err
	}
	defer e.sh.dropHome(home)
	kept := e.sh.spill(call)
	defer kept.close()
	running, stop := context.WithCancel(ctx)
	defer stop()
	out := tool.NewOutput(tool.OutputOptions{Limit: outputLimit, Most: e.sh.opts.Most, Stop: stop, Whole: kept})
	began := time.Now()
	masked := e.sh.masked(out)
	proc, watched, err := e.sh.start(running, p, home, nil, masked, func() int64 { return 0 })
	if err != nil {
		return tool.Result{}, err
	}
	shown := showing(running, out, watched, began, show)
	exit, err := proc.Wait()
	_ = masked.Close() // out reports what it could not accept
	shown()
	took := time.Since(began)
	replaced := watched.replaced(err)
	strange := watched.over(ctx)
	_, over := out.Total()
	switch {
	case ctx.Err() != nil:
		return tool.Result{}, fmt.Errorf("the command was stopped after %s: %w", took.Round(time.Millisecond), context.Cause(ctx))
	case strange != nil:
		kept.drop()
		return tool.Result{}, strange
	case errors.Is(err, sandbox.ErrReplaced):
		return tool.Result{}, replaced
	case err != nil && !over:
		return tool.Result{}, fmt.Errorf("the command's end is not known: %w", err)
	}
	if cut(out.JSON("")) {
		kept.keep()
	}
	return outcome(p, exit, out, kept.close(), took)
}

// showing shows the progress of a command until the returned function is called. It shows only output that was
// checked for secrets.
func showing(ctx context.Context, out *tool.Output, w *watched, began time.Time, show func(json.RawMessage)) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(showEvery)
		defer tick.Stop()
		var before int64
		for {
			select {
			case <-end:
				return
			case <-tick.C:
			}
			total, _ := out.Total()
			if total == before {
				continue
			}
			before = total
			text := out.JSON("")
			looked := time.Now()
			if w.check(ctx) != nil || ctx.Err() != nil {
				return
			}
			tick.Reset(max(showEvery, watchShare*time.Since(looked)))
			doc, err := json.Marshal(map[string]any{"running": true, "output": text, "durationMs": time.Since(began).Milliseconds()})
			if err == nil {
				show(doc)
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

// result is the result of a command for the model.
type result struct {
	ExitCode   int             `json:"exitCode"`
	Signal     string          `json:"signal,omitempty"`
	Limit      string          `json:"limit,omitempty"` // the limit that ended it: wall, cpu, memory, processes or output
	Output     json.RawMessage `json:"output"`
	Truncated  bool            `json:"truncated,omitempty"`
	DurationMS int64           `json:"durationMs"`
}

func outcome(p *plan, exit sandbox.Exit, out *tool.Output, whole string, took time.Duration) (tool.Result, error) {
	_, over := out.Total()
	r := result{ExitCode: exit.Code, Signal: exit.Signal, Limit: exit.Limit, Output: out.JSON(whole), DurationMS: took.Milliseconds()}
	if over {
		r.Limit = "output"
	}
	r.Truncated = cut(r.Output)
	doc, err := plainjson.Append(nil, r)
	if err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Output: doc, Summary: summary(p.label(), r), Failed: exit.Code != 0 || r.Limit != ""}, nil
}

// cut reports whether an output is incomplete.
func cut(output json.RawMessage) bool { return len(output) > 0 && output[0] == '{' }

// label is a command as it is named in summaries.
func (p *plan) label() string {
	if p.text != "" {
		return oneLine(p.text)
	}
	return oneLine(strings.Join(p.Argv, " "))
}

// summary is a result for people: the command, how it ended, and the last line of output.
func summary(label string, r result) string {
	end := fmt.Sprintf("exit code %d", r.ExitCode)
	switch {
	case r.Limit != "":
		end = "stopped: limit of " + r.Limit
	case r.Signal != "":
		end = "ended by " + r.Signal
	}
	text := tool.Shorten(label, 200) + " → " + end
	if line := lastLine(r.Output); line != "" {
		text += ": " + tool.Shorten(line, 200)
	}
	return text
}

// lastLine is the last line of an output that is not blank.
func lastLine(output json.RawMessage) string {
	var text string
	if json.Unmarshal(output, &text) != nil {
		var short struct{ Tail string }
		_ = json.Unmarshal(output, &short) // anything else has no last line
		text = short.Tail
	}
	lines := strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == '\r' })
	for _, line := range slices.Backward(lines) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// spill makes the storage for the full output, in case it is too long for a result.
func (s *Shell) spill(call tool.Call) *spill {
	out := &spill{room: outputLimit, most: s.opts.Most}
	if s.opts.Keep != nil {
		out.open = func() (io.WriteCloser, string, error) {
			return s.opts.Keep(call.Run.ChatKey, call.Run.RunID+"-"+call.ID)
		}
	}
	return out
}

// masked wraps a writer so that secrets are masked.
func (s *Shell) masked(to io.Writer) io.WriteCloser {
	if s.opts.Mask == nil {
		return plain{to}
	}
	return s.opts.Mask(to)
}

type plain struct{ io.Writer }

func (plain) Close() error { return nil }
