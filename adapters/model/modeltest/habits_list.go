package modeltest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// framings are habits of everything that sends events, such as proxies. They change no content.
func framings() []habit {
	text := func(change func(body string) string) func([]WireEvent) Raw {
		return func(events []WireEvent) Raw { return Raw{Body: change(encodeEvents(events))} }
	}
	replaced := func(pairs ...string) func([]WireEvent) Raw { return text(strings.NewReplacer(pairs...).Replace) }
	each := func(change func(e *WireEvent)) func([]WireEvent) Raw {
		return func(events []WireEvent) Raw {
			for i := range events {
				change(&events[i])
			}
			return plain(events)
		}
	}
	sent := func(change func(d *Raw)) func([]WireEvent) Raw {
		return func(events []WireEvent) Raw {
			d := plain(events)
			change(&d)
			return d
		}
	}
	return []habit{
		{name: "nothing unusual", sends: plain},
		{name: "comments between and within the events", sends: replaced("\n\n", "\n: ping\n\n: ping\n\n", "data: ", ": ping\ndata: ")},
		{name: "lines that end with CR LF", sends: replaced("\n", "\r\n")},
		{name: "one byte at a time", sends: sent(func(d *Raw) { d.piece = 1 })},
		{name: "three bytes at a time", sends: sent(func(d *Raw) { d.piece = 3 })},
		{name: "no space after the colons", sends: replaced("data: ", "data:", "event: ", "event:")},
		{name: "a byte order mark", sends: text(func(s string) string { return "\uFEFF" + s })},
		{name: "ids and times to retry", sends: replaced("data: ", "id: 1\nretry: 100\ndata: ")},
		{name: "data on several lines", sends: each(func(e *WireEvent) { e.Data = strings.ReplaceAll(indented(e.Data), "\n", "\ndata: ") })},
		{name: "events without names", sends: each(func(e *WireEvent) { e.Name = "" })},
		{name: "events with other names", sends: each(func(e *WireEvent) { e.Name = "message" })},
		{name: "events without data", sends: replaced("\n\n", "\n\nevent: ping\n\ndata:\n\ndata\n\n")},
		{name: "events of an unknown kind", sends: replaced("data: {", "data: {\"type\":\"x.new\",\"object\":\"x.new\",\"n\":[1]}\n\ndata: {")},
		{name: "unknown members", sends: replaced("data: {", `data: {"x_new":{"error":{"message":"no"},"delta":["x"]},`)},
		{name: "the end mark of another protocol", sends: text(func(s string) string { return s + "data: [DONE]\n\n" })},
		{name: "no empty line at the end", sends: text(strings.TrimSpace)},
		{name: "empty lines at the beginning", sends: text(func(s string) string { return "\n\r\n" + s })},
		{name: "escaped characters", sends: replaced(rocket, `\ud83d\ude80`, "ü", `\u00fc`)},
		{
			name: "invalid UTF-8", sends: replaced(rocket, "\xff"),
			heard: []string{habitAnswer()[0], "text Grüße, \uFFFD <b>", habitAnswer()[2], habitAnswer()[3], habitAnswer()[4]},
		},
		{name: "an object in each line", sends: func(events []WireEvent) Raw {
			d := Raw{Type: "application/x-ndjson"}
			for _, e := range events {
				d.Body += strings.TrimPrefix(e.Data+"\n", "[DONE]\n")
			}
			return d
		}},
		{name: "a line of a megabyte", says: new(Say(strings.Repeat("long", 1<<18))), sends: plain, heard: []string{"text " + strings.Repeat("long", 1<<18), "finish stop"}},
		{name: "JSON as the content type", sends: sent(func(d *Raw) { d.Type = "application/json" })},
		{name: "text as the content type", sends: sent(func(d *Raw) { d.Type = "text/plain; charset=utf-8" })},
		{name: "compression", sends: sent(func(d *Raw) { d.gzip = true })},
		{name: "a body without length and chunks", sends: sent(func(d *Raw) { d.end = endUnmarked })},
		{name: "a connection that is not closed", sends: sent(func(d *Raw) { d.Hold = true })},
		{name: "a cut after the end", sends: sent(func(d *Raw) { d.end = endCut })},
	}
}

// wordings are habits of the implementations of protocols, which [Service.Habits] has. No protocol
// can have all of them.
func wordings() []habit {
	calls := func(calls ...string) []string {
		return append(append(habitAnswer()[:2], calls...), "finish tool-calls")
	}
	first, second := habitAnswer()[2], habitAnswer()[3]
	text := new(Say("I ", "cannot"))
	call := new(CallTools(Call{ID: "toolu_1", Name: "look", Input: `{"q":"x"}`}))
	return []habit{
		{name: "the whole answer in one piece", bare: true},
		{name: "empty pieces"},
		{name: "null as a text"},
		{name: "no usage", uncounted: true},
		{name: "usage with the finish reason"},
		{name: "usage in every event"},
		{name: "usage in the choice"},
		{name: "usage in a member of its own"},
		{name: "ids, names and numbers of other types", uncounted: true},
		{name: "no finish reason", says: text, heard: []string{"text I cannot", "finish other"}},
		{name: "a finish reason in every event", says: text, heard: []string{"text I cannot", "finish stop"}},
		{name: "an unknown finish reason", says: text, heard: []string{"text I cannot", "finish other"}},
		{name: "the finish reason of another protocol"},
		{name: "no end mark"},
		{name: "a cut before the end mark", cut: true},
		{name: "the beginning twice"},
		{name: "the end twice"},
		{name: "the beginning of another answer", heard: habitAnswer()[:2], fails: failing{reason: model.ReasonCut, retryable: true}},
		{name: "blocks that do not begin", says: text, heard: []string{"text I cannot", "finish stop"}},
		{name: "blocks that do not end"},
		{name: "no pieces, only whole blocks"},
		{name: "text as a list of parts"},
		{name: "reasoning under another name"},
		{name: "several answers at once"},
		{name: "an event without an answer first"},
		{name: "arguments in one piece"},
		{name: "arguments of the other type: object or text", says: call, heard: []string{"call toolu_1 look {\"q\":\"x\"}", "finish tool-calls"}},
		{name: "no arguments", says: call, heard: []string{"call toolu_1 look {}", "finish tool-calls"}},
		{name: "pieces of two calls in turns"},
		{name: "no index"},
		{name: "one index for all"},
		{name: "calls without ids", heard: calls(strings.Replace(first, "toolu_1", "NEW", 1), strings.Replace(second, "toolu_2", "NEW", 1))},
		{name: "one id for all calls", heard: calls(first, strings.Replace(second, "toolu_2", "NEW", 1))},
		{
			name: "the id of an earlier call", sends: plain, says: new(CallTools(Call{ID: "toolu_old", Name: "look", Input: `{"q":"x"}`})),
			heard: []string{"call NEW look {\"q\":\"x\"}", "finish tool-calls"},
		},
		{name: "the name of a tool twice"},
		{name: "no name of a tool", says: call, fails: failing{reason: model.ReasonCut, retryable: true}},
		{name: "a refusal of the model", says: text, heard: []string{"text I cannot", "finish content-filter"}},
		{name: "a filter", says: &Step{Text: text.Text, FinishReason: "content-filter"}, sends: plain, heard: []string{"text I cannot", "finish content-filter"}},
		{name: "an answer that became too long", says: &Step{Text: text.Text, FinishReason: "length"}, sends: plain, heard: []string{"text I cannot", "finish length"}},
	}
}

// errorForms are errors as the services of the protocols, and gateways before them, send them. Any of
// them can get into the stream of another protocol.
func errorForms(code, message string) map[string]string {
	return map[string]string{
		"as in Messages":     fmt.Sprintf(`{"type":"error","error":{"type":"%s","message":"%s"}}`, code, message),
		"as in completions":  fmt.Sprintf(`{"error":{"message":"%s","type":"%s","param":null,"code":null}}`, message, code),
		"as in Responses":    fmt.Sprintf(`{"type":"error","code":"%s","message":"%s","param":null}`, code, message),
		"as vLLM writes it":  fmt.Sprintf(`{"object":"error","message":"%s","type":"%s","param":null,"code":null}`, message, code),
		"that is a sentence": fmt.Sprintf(`{"error":"%s: %s"}`, code, message),
	}
}

// streamedErrors are errors instead of the rest of an answer.
func streamedErrors() (list []habit) {
	busy, auth := errorForms("server_error", "Overloaded"), errorForms("invalid_api_key", "Incorrect key")
	overloaded := failing{reason: model.ReasonOverloaded, retryable: true}
	half := &Step{Text: []string{"I ", "cannot"}}
	for _, form := range slices.Sorted(maps.Keys(busy)) {
		event := "data: " + busy[form] + "\n\n"
		list = append(list,
			habit{name: "an error within the answer, " + form, says: half, sends: upTo("cannot", event, endWhole), heard: []string{"text I cannot"}, fails: overloaded},
			habit{name: "an error before any content, " + form, says: half, sends: upTo("I ", event, endWhole), fails: overloaded},
			habit{name: "an error with the status 200, " + form, sends: bare(Raw{Type: "application/json", Body: auth[form]}), fails: failing{reason: model.ReasonAuth}},
		)
	}
	return list
}

// upTo sends the events before the first one that contains a text, then more. "cannot" ends the answer's text; the event with it is sent too.
func upTo(text string, more string, end ending) func([]WireEvent) Raw {
	return func(events []WireEvent) Raw {
		kept := slices.IndexFunc(events, func(e WireEvent) bool { return strings.Contains(e.Data, text) })
		if text == "cannot" {
			kept++
		}
		return Raw{Body: encodeEvents(events[:max(kept, 0)]) + more, end: end}
	}
}

// bare sends something instead of the model's answer.
func bare(d Raw) func([]WireEvent) Raw { return func([]WireEvent) Raw { return d } }

// interruptions are habits of servers that do not finish.
func interruptions() []habit {
	said := []string{"text I cannot"}
	half := &Step{Text: []string{"I ", "cannot"}}
	cut := failing{reason: model.ReasonCut, retryable: true}
	idle := failing{reason: model.ReasonIdle, retryable: true}
	return []habit{
		{name: "an end without a finish", says: half, sends: upTo("cannot", "", endWhole), heard: said, fails: cut},
		{name: "an end before any content", says: half, sends: upTo("I ", "", endWhole), fails: cut},
		{name: "nothing at all", sends: bare(Raw{}), fails: cut},
		{name: "a cut within the chunks of HTTP", says: half, sends: upTo("cannot", "data: {", endCut), heard: said, fails: cut},
		{name: "a cut before the announced length", says: half, sends: upTo("cannot", "", endShort), heard: said, fails: cut},
		{name: "a cut before any content", says: half, sends: upTo("I ", "", endCut), fails: cut},
		{name: "a broken event", says: half, sends: upTo("cannot", "data: {\"type\":\n\n", endWhole), heard: said, fails: cut},
		{name: "a reset connection", sends: bare(Raw{end: endReset}), fails: failing{reason: model.ReasonNetwork, retryable: true}},
		{name: "silence instead of headers", sends: bare(Raw{Hold: true, NoHeaders: true}), fails: idle},
		{name: "silence after the headers", sends: bare(Raw{Hold: true}), fails: idle},
		{name: "silence before any content", says: half, sends: upTo("I ", "", endSilent), fails: idle},
		{name: "comments instead of content", sends: bare(Raw{Hold: true, Ping: 5 * time.Millisecond}), fails: idle},
		{name: "silence within the answer", says: half, sends: upTo("cannot", "", endSilent), heard: said, fails: idle},
		{name: "an error on several lines instead of events", sends: bare(Raw{Body: indented(errorForms("invalid_api_key", "Incorrect key")["as in completions"])}), fails: failing{reason: model.ReasonAuth}},
		{name: "half an object as JSON", sends: bare(Raw{Type: "application/json", Body: `{"id":"x","type":"message","object":"response","choices":[`}), fails: cut},
		{name: "a cut within a call", says: new(CallTools(Call{ID: "toolu_1", Name: "look", Input: `{"q":"cannot"}`})), sends: upTo("cannot", "", endCut), begun: true, fails: cut},
		{name: "a web page", sends: bare(Raw{Type: "text/html", Body: "<html><body>Hello</body></html>"}), fails: failing{reason: model.ReasonAddress}},
		{name: "JSON of another kind", sends: bare(Raw{Type: "application/json", Body: `{"ok":true}`}), fails: failing{reason: model.ReasonAddress}},
	}
}

// refusals are habits of servers that refuse a request.
func refusals() []habit {
	in20 := time.Now().Add(20 * time.Second).UTC().Format(http.TimeFormat)
	refused := func(status int, header, message string) func([]WireEvent) Raw {
		body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": message}}) // it always encodes
		return func([]WireEvent) Raw {
			return Raw{Status: status, Header: header, Type: "application/json", Body: string(body)}
		}
	}
	later := func(status int, r model.Reason, wait time.Duration) failing { return failing{r, status, true, wait} }
	list := []habit{
		{name: "429 with seconds to wait", sends: refused(429, "Retry-After: 7", "slow down"), fails: later(429, model.ReasonRate, 7*time.Second)},
		{name: "429 with a date to wait for", sends: refused(429, "Retry-After: "+in20, "slow down"), fails: later(429, model.ReasonRate, 20*time.Second)},
		{name: "429 with milliseconds to wait", sends: refused(429, "Retry-After-Ms: 900", "slow down"), fails: later(429, model.ReasonRate, time.Second)},
		{name: "429 with a time to wait in words", sends: refused(429, "", "Please try again in 6s."), fails: later(429, model.ReasonRate, 6*time.Second)},
		{name: "429 for an account without money", sends: refused(429, "", "You exceeded your current quota."), fails: failing{reason: model.ReasonQuota, status: 429}},
		{name: "503 not to be repeated", sends: refused(503, "X-Should-Retry: false", "no"), fails: failing{reason: model.ReasonOverloaded, status: 503}},
		{name: "502 with a web page", sends: func([]WireEvent) Raw {
			return Raw{Status: 502, Type: "text/html", Body: "<html><body>Bad gateway</body></html>"}
		}, fails: later(502, model.ReasonOverloaded, 0)},
		{name: "400 for too long a prompt", sends: refused(400, "", "prompt is too long: 210000 tokens > 200000 maximum"), fails: failing{reason: model.ReasonTooLong, status: 400}},
		{name: "400 for its content", sends: refused(400, "", "content_filter: The response was filtered."), fails: failing{reason: model.ReasonFiltered, status: 400}},
	}
	for _, row := range []struct {
		status    int
		reason    model.Reason
		retryable bool
	}{
		{400, model.ReasonBadRequest, false},
		{401, model.ReasonAuth, false},
		{402, model.ReasonQuota, false},
		{403, model.ReasonAuth, false},
		{404, model.ReasonAddress, false},
		{408, model.ReasonOverloaded, true},
		{409, model.ReasonOverloaded, true},
		{413, model.ReasonTooLong, false},
		{422, model.ReasonBadRequest, false},
		{429, model.ReasonRate, true},
		{500, model.ReasonOverloaded, true},
		{502, model.ReasonOverloaded, true},
		{503, model.ReasonOverloaded, true},
		{504, model.ReasonOverloaded, true},
		{529, model.ReasonOverloaded, true},
	} {
		list = append(list, habit{name: fmt.Sprint(row.status), sends: refused(row.status, "", "no"), fails: failing{row.reason, row.status, row.retryable, 0}})
	}
	return list
}
