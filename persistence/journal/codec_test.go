package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// everyFact returns one value of each kind of fact.
func everyFact() []Fact {
	return []Fact{
		TurnAccepted{},
		TurnReplaced{},
		IngressSettled{},
		TurnsSettled{},
		RunStarted{},
		StepResponded{},
		ToolStarted{},
		ToolFinished{},
		TurnsMerged{},
		RunFinished{},
		StopRequested{},
		EgressQueued{},
		EgressSent{},
		EgressSettled{},
		EgressRetried{},
		Crashed{},
		TurnQuarantined{},
		TurnReleased{},
		ApprovalDecided{},
		OutcomeBegun{},
		WordsSaid{},
		RequestReferred{},
		ReferralSettled{},
		ReferredRequestShown{},
		ReferredRequestEnded{},
		ButtonsSettled{},
		ModelChosen{},
	}
}

// fill sets every field of a value to something other than zero, so that a field that the codec forgets causes a
// difference.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Interface().(type) {
	case uimessage.Message:
		v.Set(reflect.ValueOf(uimessage.Message{
			ID: fmt.Sprintf("m%d", *n), Role: uimessage.RoleUser, Metadata: json.RawMessage(`{"seq":3}`),
			Parts: []uimessage.Part{uimessage.Text{Text: "<b> & 世界 \u2028 \"q\"\n"}},
		}))
		return
	case json.RawMessage:
		v.Set(reflect.ValueOf(json.RawMessage(`{"a":[1,"世 <&>"]}`)))
		return
	case []uimessage.Part:
		v.Set(reflect.ValueOf([]uimessage.Part{uimessage.StepStart{}, uimessage.Unknown{Name: "new", Raw: json.RawMessage(`{"type":"new","x":1}`)}}))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Interface:
		v.Set(reflect.ValueOf(uimessage.Tool{ToolCallID: "c", Name: "x", State: uimessage.ToolOutputAvailable, Output: json.RawMessage(`{"<":1}`)}))
	case reflect.String:
		v.SetString(fmt.Sprintf("s%d <&> 世\x01", *n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic("fill: " + v.Kind().String())
	}
}

func filled(f Fact) Fact {
	v, n := reflect.New(reflect.TypeOf(f)).Elem(), 0
	fill(v, &n)
	f, ok := reflect.TypeAssert[Fact](v)
	if !ok {
		panic("filled: no fact")
	}
	return f
}

func TestEveryFieldOfEveryFactSurvives(t *testing.T) {
	for _, zero := range everyFact() {
		t.Run(zero.kind(), func(t *testing.T) {
			want := Record{N: 7, TS: 1700000000000, Fact: filled(zero)}
			line := AppendRecord([]byte("before"), want)
			line, ok := bytes.CutPrefix(line, []byte("before"))
			if !ok {
				t.Fatal("AppendRecord changed what stood before")
			}
			if bytes.ContainsAny(line, "\n") || bytes.Contains(line, []byte(`\u003c`)) {
				t.Errorf("not one line, or escaped for HTML: %s", line)
			}
			got, err := ParseRecord(line)
			stdtest.Must(t, err)
			stdtest.Diff(t, "round trip", want, got)
			if again := AppendRecord(nil, got); !bytes.Equal(line, again) {
				t.Errorf("bytes changed:\n%s\n%s", line, again)
			}
		})
	}
}

func TestRecordLine(t *testing.T) {
	for _, tc := range []struct {
		name   string
		record Record
		want   string
	}{
		{"plain", Record{N: 1, TS: 2, Fact: ToolStarted{RunID: "r", CallID: "c"}}, `{"n":1,"ts":2,"kind":"call","runId":"r","callId":"c"}`},
		{
			"parts",
			Record{N: 3, Fact: StepResponded{RunID: "r", MessageID: "a", Step: 1, Parts: []uimessage.Part{uimessage.Text{Text: "<"}}}},
			`{"n":3,"ts":0,"kind":"step","runId":"r","messageId":"a","step":1,"from":0,"parts":[{"type":"text","text":"<"}]}`,
		},
		{"no part", Record{N: 4, Fact: ToolFinished{RunID: "r"}}, `{"n":4,"ts":0,"kind":"tool","runId":"r","messageId":"","part":null}`},
		{"unknown", Record{N: 5, Fact: UnknownFact{Kind: "x<y", Raw: json.RawMessage("{\"a\": 1,\n\"b\":[]}")}}, `{"n":5,"ts":0,"kind":"x<y","a":1,"b":[]}`},
		{"unknown, bare", Record{N: 6, Fact: UnknownFact{Kind: "y"}}, `{"n":6,"ts":0,"kind":"y"}`},
		{"unknown, no object", Record{N: 7, Fact: UnknownFact{Kind: "y", Raw: json.RawMessage("[1")}}, `{"n":7,"ts":0,"kind":"y","raw":"[1"}`},
		{"no fact", Record{N: 8}, `{"n":8,"ts":0,"kind":""}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := string(AppendRecord(nil, tc.record)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestNewerRecordsAreKept(t *testing.T) {
	for _, tc := range []struct{ name, line, kind string }{
		{"unknown kind", `{"n":1,"ts":2,"kind":"teleport","to":{"z":1,"a":[1,2]}}`, "teleport"},
		{"unknown member", `{"n":1,"ts":2,"kind":"call","runId":"r","callId":"c","sandbox":true}`, "call"},
		{"member of another type", `{"n":1,"ts":2,"kind":"call","runId":7}`, "call"},
		{"no message", `{"n":1,"ts":2,"kind":"turn"}`, "turn"},
		{"message of a newer form", `{"n":1,"ts":2,"kind":"turn","turn":{"id":"x"}}`, "turn"},
		{"unknown member inside", `{"n":1,"ts":2,"kind":"egress","row":{"key":{"messageId":"m","n":1},"colour":"red"}}`, "egress"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := ParseRecord([]byte(tc.line))
			stdtest.Must(t, err)
			f, ok := r.Fact.(UnknownFact)
			if !ok || f.Kind != tc.kind {
				t.Fatalf("got %#v, want an unknown fact of kind %s", r.Fact, tc.kind)
			}
			if got := string(AppendRecord(nil, r)); got != tc.line {
				t.Errorf("written back as %s\nwant %s", got, tc.line)
			}
		})
	}
}

func TestBadRecords(t *testing.T) {
	for _, line := range []string{
		"", "null", "[]", `{"n":1`, `{"n":0,"ts":1,"kind":"call"}`, `{"n":1,"ts":1}`, `{"n":1,"ts":1,"kind":7}`,
		`{"n":1,"ts":1,"kind":"stop"}x`,
	} {
		if r, err := ParseRecord([]byte(line)); err == nil {
			t.Errorf("%q was read as %#v", line, r)
		}
	}
	for _, line := range []string{"", "{}", `{"n":0,"dir":"in"}`, `{"n":"1"}`} {
		if e, err := ParseLedgerEntry([]byte(line)); err == nil {
			t.Errorf("%q was read as %#v", line, e)
		}
	}
}

func TestLedgerEntryRoundTrip(t *testing.T) {
	v, n := reflect.New(reflect.TypeFor[LedgerEntry]()).Elem(), 0
	fill(v, &n)
	want, ok := reflect.TypeAssert[LedgerEntry](v)
	if !ok {
		t.Fatal("no ledger entry")
	}
	got, err := ParseLedgerEntry(AppendLedgerEntry(nil, want))
	stdtest.Must(t, err)
	stdtest.Diff(t, "round trip", want, got)
}

func FuzzParseRecord(f *testing.F) {
	for _, zero := range everyFact() {
		f.Add(AppendRecord(nil, Record{N: 1, TS: 5, Fact: filled(zero)}))
	}
	f.Add([]byte(`{"N":1,"TS":2,"kInd":"new","n":3, "x" : [ 1 ] }`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := ParseRecord(line)
		if err != nil {
			return
		}
		first := AppendRecord(nil, r)
		if bytes.IndexByte(first, '\n') >= 0 || !json.Valid(first) {
			t.Fatalf("not one line of JSON: %q", first)
		}
		again, err := ParseRecord(first)
		if err != nil {
			t.Fatalf("%q was written as %q, which does not parse: %v", line, first, err)
		}
		if second := AppendRecord(nil, again); !bytes.Equal(first, second) {
			t.Fatalf("not stable:\n%q\n%q", first, second)
		}
	})
}

func BenchmarkAppendRecord(b *testing.B) {
	r := Record{N: 1, TS: 1, Fact: TurnAccepted{Turn: uimessage.Message{
		ID: "u:telegram-chat-1:2", Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: strings.Repeat("word ", 40)}},
		Metadata: json.RawMessage(`{"ts":1700000000000,"chatKey":"telegram-chat-1","seq":9}`),
	}}}
	var buf []byte
	for b.Loop() {
		buf = AppendRecord(buf[:0], r)
	}
	b.SetBytes(int64(len(buf)))
}
