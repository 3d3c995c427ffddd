// Package traces sends what happens in runs to an OpenTelemetry collector: one trace for each message that a chat
// received, with the message as its root, the runs below it, and the model calls, tool calls and deliveries below the
// runs. The names and attributes are those of the semantic conventions for generative AI (development status, 1.38).
//
// The spans are made of the entries of the audit log, so they have no content of messages. Their ids follow from the
// ids of requests and runs: whatever knows these can name the parent of a span, also after a restart.
//
// The protocol is OTLP over HTTP in its JSON encoding. The SDK's exporter would add gRPC and 4 MB to the program.
package traces

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
)

// The kinds of spans in OTLP.
const (
	kindInternal = 1
	kindClient   = 3
	kindProducer = 4
	kindConsumer = 5
)

// span is a span as OTLP's JSON has it.
type span struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	ParentID   string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes,omitempty"`
	Status     *status     `json:"status,omitempty"`
}

type attribute struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

// value has one member. OTLP writes whole numbers as strings.
type value struct {
	String string `json:"stringValue,omitempty"`
	Int    string `json:"intValue,omitempty"`
	List   *list  `json:"arrayValue,omitempty"`
}

type list struct {
	Values []value `json:"values"`
}

type status struct {
	Code    int    `json:"code"`
	Message string `json:"message,omitempty"`
}

const statusError = 2

// Parent is the value of the header traceparent for a model call of a run, as the W3C recommendation Trace Context
// defines it. It is empty for calls without a run.
func Parent(requestID, runID string) string {
	if runID == "" {
		return ""
	}
	return "00-" + traceOf(requestID, runID) + "-" + spanOf(runID) + "-01"
}

// traceOf is the trace of a request. A run without a request has a trace of its own.
func traceOf(requestID, runID string) string {
	sum := sha256.Sum256([]byte("trace " + cmp.Or(requestID, runID)))
	return hex.EncodeToString(sum[:16])
}

// spanOf is the id of the span of a request or run.
func spanOf(id string) string {
	sum := sha256.Sum256([]byte("span " + id))
	return hex.EncodeToString(sum[:8])
}

// maker makes spans of audit entries. It is not safe for concurrent use.
type maker struct {
	began map[string]time.Time // by run; at most maxRuns
	n     uint64               // of spans whose ids follow from nothing else
}

// maxRuns bounds the runs whose beginning is remembered. The span of a run beyond it has no duration.
const maxRuns = 10_000

// span returns the span that an entry completes, or false if it completes none.
func (m *maker) span(e decision.AuditEntry) (span, bool) {
	s := span{TraceID: traceOf(e.RequestID, e.RunID), Kind: kindInternal}
	begin := e.TS.Add(-e.Took)
	switch e.Event {
	case "ingress":
		s.SpanID, s.Name, s.Kind = spanOf(e.RequestID), "receive", kindConsumer
	case "run":
		if e.Result == "started" {
			m.begin(e)
			return span{}, false
		}
		s.SpanID, s.ParentID, s.Name = spanOf(e.RunID), spanOf(e.RequestID), "invoke_agent"
		if at, ok := m.began[e.RunID]; ok {
			begin = at
			delete(m.began, e.RunID)
		}
		s.text("gen_ai.operation.name", "invoke_agent")
	case decision.AuditModel:
		s.SpanID, s.ParentID, s.Name, s.Kind = m.next(e), spanOf(e.RunID), "chat "+e.Name, kindClient
		s.text("gen_ai.operation.name", "chat")
		s.text("gen_ai.request.model", e.Name)
		s.number("gen_ai.usage.input_tokens", e.InputTokens)
		s.number("gen_ai.usage.cache_read.input_tokens", e.CachedTokens)
		s.number("gen_ai.usage.output_tokens", e.OutputTokens)
		if e.Result != "error" {
			s.add("gen_ai.response.finish_reasons", value{List: &list{[]value{{String: e.Result}}}})
		}
	case decision.AuditTool:
		s.SpanID, s.ParentID, s.Name = m.next(e), spanOf(e.RunID), "execute_tool "+e.Name
		s.text("gen_ai.operation.name", "execute_tool")
		s.text("gen_ai.tool.name", e.Name)
		s.text("gen_ai.tool.call.id", e.Call)
	case "egress":
		s.SpanID, s.ParentID, s.Name, s.Kind = m.next(e), spanOf(e.RunID), "deliver", kindProducer
		if e.RunID == "" {
			s.ParentID = spanOf(e.RequestID)
		}
	default:
		return span{}, false
	}
	s.text("gen_ai.conversation.id", string(e.ChatKey))
	s.text("sma.request.id", e.RequestID)
	s.text("sma.run.id", e.RunID)
	s.text("sma.result", e.Result)
	if e.Result == "error" || e.Event == "run" && e.Result == "failed" {
		s.Status = &status{Code: statusError, Message: e.Reason}
		s.text("error.type", e.Reason)
	} else {
		s.text("sma.reason", e.Reason)
	}
	s.Start, s.End = nanos(begin), nanos(e.TS)
	return s, true
}

// begin remembers when a run began.
func (m *maker) begin(e decision.AuditEntry) {
	if m.began == nil {
		m.began = map[string]time.Time{}
	}
	if len(m.began) < maxRuns {
		m.began[e.RunID] = e.TS
	}
}

// next is the id of another span of a run.
func (m *maker) next(e decision.AuditEntry) string {
	m.n++
	return spanOf(e.RunID + e.RequestID + " " + nanos(e.TS) + " " + strconv.FormatUint(m.n, 10))
}

func nanos(at time.Time) string { return strconv.FormatInt(at.UnixNano(), 10) }

func (s *span) text(key, text string) {
	if text != "" {
		s.add(key, value{String: text})
	}
}

func (s *span) number(key string, n int64) { s.add(key, value{Int: strconv.FormatInt(n, 10)}) }

func (s *span) add(key string, v value) { s.Attributes = append(s.Attributes, attribute{key, v}) }
