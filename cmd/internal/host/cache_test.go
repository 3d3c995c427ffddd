package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/apitest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/cmd/internal/budgets"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/ledger"
)

// agreedTo is the question whose only command a person has to approve.
const agreedTo = 28

// interrupted reports whether another message arrives during the first step of a question.
func interrupted(n int) bool { return n%5 == 2 }

// talker is a model that answers each question after up to two steps with thinking and commands, and
// that writes summaries.
type talker struct {
	mu    sync.Mutex
	steps map[int]int // so far, by question
	asked chan struct{}
	goOn  chan struct{} // receives when the first step of a question may end after asked
}

var numbered = regexp.MustCompile(`Q(\d+)`)

func (k *talker) answer(req model.Request) []model.Event {
	if len(req.Tools) == 0 {
		return append(modeltest.TextEvents("They wanted commands to run, and read their output."), modeltest.Finish("stop"))
	}
	text, err := json.Marshal(req.Messages)
	if err != nil {
		return nil
	}
	all := numbered.FindAllStringSubmatch(string(text), -1)
	n, _ := strconv.Atoi(all[len(all)-1][1]) // it is a number
	k.mu.Lock()
	k.steps[n]++
	step := k.steps[n]
	k.mu.Unlock()
	if step == 1 && interrupted(n) {
		k.asked <- struct{}{}
		<-k.goOn
	}
	events := modeltest.ReasoningEvents(fmt.Sprintf("I think about Q%d, ", n), "step by step.")
	if step > n%3 {
		return slices.Concat(events, modeltest.TextEvents(fmt.Sprintf("The answer to Q%d: ", n), strings.Repeat("it is so, ", 30)), []model.Event{modeltest.Finish("stop")})
	}
	events = append(events, modeltest.TextEvents("I look.")...)
	for i := range 1 + n%2 {
		command := fmt.Sprintf("echo Q%d %d %d %s", n, step, i, strings.Repeat("found ", 40))
		if n == agreedTo {
			command = "touch agreed"
		}
		id := fmt.Sprintf("toolu_%d_%d_%d", n, step, i)
		events = append(events, modeltest.CallEvents(modeltest.Call{ID: id, Name: "exec_shell", Input: `{"command":"` + command + `","why":"it was asked"}`})...)
	}
	return append(events, modeltest.Finish("tool-calls"))
}

// TestPromptsAreCachedInAHost: a chat on each protocol with 50 questions, with thinking, commands,
// messages that arrive during runs, a command that is approved, and compactions. The service accepts
// every request and reads at least 90 % of their input from its cache, apart from the requests that
// begin anew, which the metric counts. What it bills, for answers and summaries, is what the ledger has.
func TestPromptsAreCachedInAHost(t *testing.T) {
	for _, api := range apitest.APIs() {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			talkAWhile(t, api)
		})
	}
}

func talkAWhile(t *testing.T, api string) {
	t.Helper()
	k := &talker{steps: map[int]int{}, asked: make(chan struct{}), goOn: make(chan struct{})}
	service, url := apitest.Start(t, api, modeltest.NewFunc(k.answer), "sk-canary-0123456789")
	c := &commandChat{project: newProject(t), t: t}
	stdtest.Write(t, filepath.Join(c.dir, "ship.json"), `{"llm": {"provider": "custom", "api": "`+api+`", "model": "fake", "models": {"fake": {"reasoningEffort": "low", "usdPerMInput": 3, "usdPerMCached": 0.3, "usdPerMOutput": 15}}},
		"budget": {"usdPerHostPerDay": 1000},
		"permissions": {"exec": {"sandbox": "off", "approvers": ["initiator"], "allow": ["echo *"]}},
		"context": {"history": {"maxInputTokensApprox": 10000, "keepLastMessages": 10}, "memory": {"autoExtractEnabled": false}}}`)
	h := c.start(t, Options{}, merged(telegramFlags(c.project), map[string]string{"llm.baseUrl": url, "adapters.telegram.egress": "direct"}))
	for n := range 50 {
		c.ask(k, n)
	}
	if faults := service.Faults(); len(faults) > 0 {
		t.Fatalf("%d faults, the first: %v", len(faults), faults[0])
	}
	view, err := h.ports["telegram"].port.History(t.Context(), messages.NewChatKey("telegram", "", "1", 0))
	stdtest.Must(t, err)
	_, metrics := get(t, "http://"+h.metricsAddr+"/metrics")
	if compactions := total(t, metrics, `sma_compactions_total{cause="threshold",result="compacted"}`); compactions < 2 || view.Counts.Fates["merged"] != 7 || !c.there("agreed") { // three questions need one step
		t.Errorf("%d compactions, fates %v, the command ran: %t", compactions, view.Counts.Fates, c.there("agreed"))
	}
	checkCached(t, service, total(t, metrics, "sma_prompt_prefix_broken_total"))
	checkBilled(t, c.dir, service)
}

// ask asks a question and waits for its answer.
func (c *commandChat) ask(k *talker, n int) {
	c.t.Helper()
	said, want := fmt.Sprintf("What about Q%d?", n), fmt.Sprintf("The answer to Q%d:", n)
	switch {
	case n == agreedTo:
		c.say(said, asks)
		c.say("yes", want)
	case interrupted(n):
		c.api.Say(1, 1, said, nil)
		<-k.asked
		c.api.Say(1, 1, "And quickly.", nil)
		c.api.Await(c.t, "the message to be taken", func() bool { return c.api.Pending() == 0 })
		before := len(c.api.Sent(1))
		k.goOn <- struct{}{}
		c.api.Await(c.t, want, func() bool {
			sent := c.api.Sent(1)
			return len(sent) > before && strings.Contains(sent[len(sent)-1].Text, want)
		})
	default:
		c.say(said, want)
	}
}

func total(t *testing.T, metrics, name string) (sum int) {
	t.Helper()
	for line := range strings.Lines(metrics) {
		if strings.HasPrefix(line, name) {
			n, err := strconv.Atoi(strings.Fields(line)[1])
			stdtest.Must(t, err)
			sum += n
		}
	}
	return sum
}

// checkCached checks what the chat's requests read from the cache, and that each begins with the bytes of the previous
// one. Summaries have other requests, without tools.
func checkCached(t *testing.T, service *modeltest.Endpoint, counted int) {
	t.Helper()
	bodies, calls := service.Bodies(), service.Calls()
	slices.SortFunc(calls, func(a, b modeltest.Accounting) int { return a.Body - b.Body })
	var before []byte
	broken, input, read := 0, 0, 0
	for _, call := range calls {
		if !bytes.Contains(bodies[call.Body], []byte(`"tools":`)) {
			continue
		}
		begins := apitest.Beginning(t, bodies[call.Body])
		switch {
		case before == nil: // nothing is cached yet
		case !bytes.HasPrefix(begins, before):
			broken++
		default:
			input, read = input+call.InputTokens, read+call.CacheRead
		}
		before = begins
	}
	t.Logf("%d requests, %d begin anew, %d counted; %.1f %% of the others' %d tokens were read", len(calls), broken, counted, 100*float64(read)/float64(input), input)
	if broken > counted {
		t.Errorf("%d requests begin anew, %d are counted", broken, counted)
	}
	if float64(read) < 0.9*float64(input) {
		t.Errorf("%d of %d tokens were read from the cache, want 90 %%", read, input)
	}
}

// checkBilled compares the ledger with what the service bills.
func checkBilled(t *testing.T, dir string, service *modeltest.Endpoint) {
	t.Helper()
	rows, err := ledger.Usage(budgets.Dir(filepath.Join(dir, ".ship")), "")
	stdtest.Must(t, err)
	var got, want ledger.Amount
	calls := 0
	for _, r := range rows { // it may be midnight
		calls += r.Calls
		got.Input, got.Cached, got.Output, got.NanoUSD = got.Input+r.Input, got.Cached+r.Cached, got.Output+r.Output, got.NanoUSD+r.NanoUSD
	}
	for _, c := range service.Calls() {
		want.Input += int64(c.InputTokens)
		want.Cached += int64(c.CacheRead)
		want.Output += int64(c.Output)
		want.NanoUSD += 3000*int64(c.InputTokens-c.CacheRead) + 300*int64(c.CacheRead) + 15000*int64(c.Output)
	}
	if got != want || calls != len(service.Calls()) || want.Output == 0 {
		t.Errorf("the ledger has %d calls, %+v; the service bills %d, %+v", calls, got, len(service.Calls()), want)
	}
}
