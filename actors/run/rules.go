package run

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/internal/approval/deny"
	"github.com/shipmyagent/shipmyagent/actors/internal/approval/grant"
	"github.com/shipmyagent/shipmyagent/actors/internal/loop"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
)

// maxSentence is the longest sentence of a tool that people are asked with.
const maxSentence = 500

var (
	errChanged = errors.New("not executed: what this call would do has changed since a person agreed to it; " +
		"call the tool again, so that they are asked about it as it is now")
	errTooLong = fmt.Errorf("not executed: a person has to agree to this call and it is too long to be shown (at most %d bytes); make it shorter, or do it in several calls", tool.MaxExact)
)

// VoidRule reports whether a rule for commands covers nothing.
func VoidRule(rule string) bool {
	_, ok := grant.ParseRule(rule, grant.Shipped())
	return !ok
}

// DenyFault says why a prohibition of commands can never match; nil means it can.
func DenyFault(rule string) error {
	_, err := deny.ParseRule(rule)
	return err
}

// Rules are the operator's rules for commands: what runs without approval, and what never runs. The
// zero value has none. A value never changes.
type Rules struct {
	allow  []string
	deny   deny.Rules
	policy *grant.Policy // nil makes every rule void
}

// NewRules makes rules. Void rules cover nothing.
func NewRules(allow, forbidden []string) Rules {
	return Rules{allow: allow, deny: deny.NewRules(forbidden), policy: grant.Shipped()}
}

// runner reports whether a rule's program runs files, whose contents have to be approved too.
func (r *Rules) runner(rule string) bool {
	parsed, ok := grant.ParseRule(rule, r.policy)
	return ok && parsed.Runner
}

// ruling is the decision about a call and its basis: it runs without approval (Allow), needs a
// person (Ask) or is refused (Deny), and why.
type ruling struct {
	tool.Verdict

	rule string // the rule or the grant, with its id, that lets the call run; if empty, its tool does
	bind string // what the rule is bound to
	// under is the operator's rule that covers the call once a person has approved its bind.
	under string
}

// decide rules on a call: first what the operator forbids, then the tools that the loaded skills
// leave, then the tool's own policy, then what the operator allows, then timed grants. Rules cover
// only commands; grants cover commands and folders whose files may be sent.
//
// Nothing else decides about calls, and it is asked at two moments only:
//
//   - When the call arrives, see [run.asks]. That ruling is kept for its step: whether people are
//     asked, what they are shown and what is journaled follow from this one value.
//   - When the call starts, see [run.admit]. This is the check at the time of use and it takes no
//     permission from the first one: between the two, the chat journals the response, rules change,
//     grants expire or are revoked, and earlier calls of the same step may change the files, links,
//     skills and tasks that tools and rules look at. A call that was refused when it arrived stays
//     refused, see [run.intent].
//
// A call that people were asked about leaves the run. If they approve it, it starts with a later run
// or step, perhaps days later: it is ruled on again, so that what was forbidden since stays undone,
// and [unchanged] checks that it would still do what they approved.
//
// The operator's rules may change while a run is in progress. All of one ruling comes from one
// value of them, which is that of the message that is handled.
func (r *run) decide(t tool.Tool, c loop.Call) ruling {
	if v, ok := r.forbidden(t, c); ok {
		return ruling{Verdict: v}
	}
	if v, ok := r.narrowed(c); ok {
		return ruling{Verdict: v}
	}
	out := ruling{Verdict: tool.BySpec(t, r.call(c))}
	cmd, ok := t.(tool.Commander)
	switch {
	case out.Decision != tool.Ask:
		return out
	case !ok:
		return r.grantedFiles(t, c, out)
	}
	command := cmd.Command(r.call(c))
	if command == "" {
		return out
	}
	if d, ok := t.(tool.Doubter); ok && d.Doubt(r.call(c)) != "" {
		return out
	}
	commands := grant.NewCommands([]string{command}, r.Rules.policy)
	for _, rule := range r.Rules.allow {
		if !commands.Covered(rule) {
			continue
		}
		if !r.Rules.runner(rule) && !r.namesScript(t, c) {
			return allowed(out, "allow: "+rule, "")
		}
		out.under = rule
		bind := r.explain(t, c).Bind
		if r.agreed(rule, bind) {
			return allowed(out, "allow: "+rule, bind)
		}
	}
	return r.granted(t, c, command, out)
}

// namesScript reports whether a command passes a script to a program, whose contents have to be
// approved too.
func (r *run) namesScript(t tool.Tool, c loop.Call) bool {
	n, ok := t.(tool.ScriptNamer)
	return ok && n.NamesScript(r.call(c))
}

// forbidden checks a call against the operator's prohibitions. The folder and the timeout of a
// command make no difference.
func (r *run) forbidden(t tool.Tool, c loop.Call) (tool.Verdict, bool) {
	cmd, ok := t.(tool.ShellTexter)
	if !ok || len(r.Rules.deny) == 0 {
		return tool.Verdict{}, false
	}
	refusal, refused := r.Rules.deny.Refuses(cmd.ShellText(r.call(c)))
	if !refused {
		return tool.Verdict{}, false
	}
	reason := "the operator's rule " + strconv.Quote(refusal.Rule.String()) + " forbids it"
	if refusal.Unknown {
		reason = "the operator forbids some programs (" + strconv.Quote(refusal.Rule.String()) + " for one), and this text does not tell which programs it would run; " +
			"write them out, without variables or patterns in their place and without piping commands into a shell"
	}
	return tool.Verdict{Decision: tool.Deny, Reason: reason}, true
}

func allowed(out ruling, rule, bind string) ruling {
	return ruling{Verdict: tool.Verdict{Decision: tool.Allow, Reason: out.Reason}, rule: rule, bind: bind}
}

// agreed reports whether a person approved exactly this, under a rule of the operator's.
func (r *run) agreed(rule, bind string) bool {
	return bind != "" && slices.ContainsFunc(r.approvals.grants, func(g messages.Grant) bool {
		return g.Until.IsZero() && g.Rule == rule && slices.Contains(g.Binds, bind)
	})
}

// granted looks for an active grant for the person who asks and for the folder of the call.
func (r *run) granted(t tool.Tool, c loop.Call, command string, out ruling) ruling {
	now := time.Now()
	for _, g := range r.approvals.grants {
		if !r.counts(g, now) || g.FilesIn != "" || g.Folder != folder(c.Input) || grant.Decide(command, g.Rule, r.Rules.policy) != grant.Auto {
			continue
		}
		if !r.Rules.runner(g.Rule) && !r.namesScript(t, c) {
			return allowed(out, "grant "+g.ID+": "+g.Rule, "")
		}
		if bind := r.explain(t, c).Bind; bind != "" && slices.Contains(g.Binds, bind) {
			return allowed(out, "grant "+g.ID+": "+g.Rule, bind)
		}
	}
	return out
}

// counts reports whether a grant has not expired by either clock and applies to the person who
// asks.
func (r *run) counts(g messages.Grant, now time.Time) bool {
	return !g.Until.IsZero() && now.Before(g.Until) && now.Round(0).Before(g.Until.Round(0)) &&
		g.Person.ID == r.asker.ID && g.Person.Platform == r.asker.Platform
}

// grantedFiles looks for an active grant of the folder that directly contains all files which the
// call sends. The call is bound to their current contents.
func (r *run) grantedFiles(t tool.Tool, c loop.Call, out ruling) ruling {
	now := time.Now()
	for _, g := range r.approvals.grants {
		if !r.counts(g, now) || g.FilesIn == "" {
			continue
		}
		if e := r.explain(t, c); e.err == nil && e.Bind != "" && e.FilesIn == g.FilesIn {
			return allowed(out, "grant "+g.ID+": files in "+g.FilesIn, e.Bind)
		}
	}
	return out
}

// folder is where a command would run, relative to the workspace.
func folder(input json.RawMessage) string {
	var in struct {
		CWD string `json:"cwd"`
	}
	_ = json.Unmarshal(input, &in) // it was validated; any other input has no folder
	return path.Clean(in.CWD)
}

// explained is what a tool says about a call that needs approval.
type explained struct {
	messages.AskedCall

	err error // the call cannot be presented for approval
}

// explain asks a tool, once per call, what the call would do. It may read a few local files.
func (r *run) explain(t tool.Tool, c loop.Call) explained {
	if e, ok := r.approvals.explained[callKey(c)]; ok {
		return e
	}
	e := explained{AskedCall: messages.AskedCall{CallID: c.ID}}
	call := r.call(c)
	if x, ok := t.(tool.Explainer); ok {
		said, err := explanation(x, call)
		e.err, e.Title, e.What, e.Risk = err, said.Title, tool.Shorten(said.What, maxSentence), tool.Shorten(said.Risk, maxSentence)
		e.Chinese = messages.Words{
			Title: said.Chinese.Title, What: tool.Shorten(said.Chinese.What, maxSentence), Risk: tool.Shorten(said.Chinese.Risk, maxSentence),
		}
		e.Exact, e.Bind, e.FilesIn = said.Exact, said.Bind, said.FilesIn
	}
	if cmd, ok := t.(tool.Commander); ok {
		e.Command, e.Folder = cmd.Command(call), folder(c.Input)
	}
	if e.What == "" && e.Exact == "" {
		e.Exact = tool.Lines(c.Input)
	}
	if len(e.Exact) > tool.MaxExact {
		e.err = errTooLong
	}
	r.approvals.explained[callKey(c)] = e
	return e
}

// explanation is what a tool says; a panic of the tool becomes an error.
func explanation(x tool.Explainer, call tool.Call) (said tool.Explanation, err error) {
	defer func() {
		if recover() != nil { // the value may contain people's words
			err = errors.New("not executed: the tool failed inside when it should say what the call would do")
		}
	}()
	return x.Explain(call)
}

// unchanged checks, right before a call starts, that it still does what was approved.
func unchanged(t tool.Tool, call tool.Call) error {
	x, ok := t.(tool.Explainer)
	if !ok || call.Bind == "" {
		return nil
	}
	said, err := explanation(x, call)
	if err != nil {
		return fmt.Errorf("%w (%w)", errChanged, err)
	}
	if said.Bind != call.Bind {
		return errChanged
	}
	return nil
}

// intent is a call about to start, as the chat journals it, and why it is refused instead, if it is.
// The chat keeps no record of the start of a refused call, so that it may be refused again after a
// crash. Its refusal is therefore final: if the call ran because of a later ruling, a crash while it
// runs would run it twice.
func (r *run) intent(c loop.Call) (messages.CallIntent, error) {
	out := messages.CallIntent{CallID: c.ID, Name: c.Name, Repeatable: r.repeatable(c.Name)}
	t, ok := r.Tools.Find(c.Name)
	if !ok {
		return out, nil
	}
	ruled, ok := r.approvals.rulings[callKey(c)]
	if !ok { // the grants have changed since the call arrived
		ruled = r.decide(t, c)
	}
	refused := r.approvals.refuse(ruled.Verdict, c)
	out.Repeatable = out.Repeatable || refused != nil
	if ruled.Decision == tool.Allow {
		out.Rule, out.Bind = ruled.rule, ruled.bind
	}
	return out, refused
}

// asks rules on a call that arrives and says whether it needs a person. The calls that a run starts
// with were already approved, and are ruled on when they start.
func (r *run) asks(t tool.Tool, c loop.Call) bool {
	if !r.approvals.begun {
		return true
	}
	ruled := r.decide(t, c)
	r.approvals.rulings[callKey(c)] = ruled
	if ruled.Decision != tool.Ask {
		return false
	}
	r.explain(t, c)
	return r.approvals.asks(c, ruled.under)
}

// admit rules on a call that starts: an error says why it may not be executed, and otherwise bind is
// what the call must still do. A person's approval counts only for the very call that was shown,
// and is bound to what it would have done then.
func (r *run) admit(t tool.Tool, c loop.Call) (bind string, err error) {
	ruled := r.decide(t, c)
	if r.approvals.agreed[callKey(c)] {
		ruled.bind = cmp.Or(r.approvals.given[c.ID].Bind, ruled.bind)
	}
	return ruled.bind, r.approvals.refuse(ruled.Verdict, c)
}

// call returns a call as its tool sees it. A call that was approved late is still that of who asked for it.
func (r *run) call(c loop.Call) tool.Call {
	asker := r.asker
	if given := r.approvals.given[c.ID].Asker; given.ID != "" {
		asker = given
	}
	return tool.Call{ID: c.ID, Name: c.Name, Input: c.Input, Run: tool.Run{
		ChatKey: r.start.ChatKey, RunID: r.start.RunID, MessageID: r.messageID, RequestID: r.start.RequestID,
		Sole: len(r.calls) == 1, LaneEmpty: r.input.LaneEmpty, Asker: tool.Person(asker), Payer: r.start.Payer, Group: r.start.Group,
	}, Egress: r.egress()}
}

// repeatable reports whether a call may be started again after a crash.
func (r *run) repeatable(name string) bool {
	t, ok := r.Tools.Find(name)
	return ok && (t.Spec().Repeatable || t.Spec().ReadOnly)
}

// narrowed denies a call that the loaded skills do not allow. A call that a person approved was
// made before that, and passes.
func (r *run) narrowed(c loop.Call) (tool.Verdict, bool) {
	if r.start.Only == nil || !r.approvals.begun || r.approvals.agreed[callKey(c)] || slices.Contains(r.start.Only, c.Name) {
		return tool.Verdict{}, false
	}
	return tool.Verdict{Decision: tool.Deny, Reason: fmt.Sprintf(
		"a loaded skill limits the tools to %s; if its work is done, put it away with skills_load and unload: true, and call again",
		strings.Join(r.start.Only, ", "),
	)}, true
}
