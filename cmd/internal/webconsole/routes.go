package webconsole

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// row is one route of the table.
type row struct {
	control string // the route of package control that answers
	viewer  view   // what a viewer gets of the answer; nil if the route is not for viewers
	etag    bool   // readers who have the answer already get no other copy
}

// view makes of a document what viewers may see of it.
type view func(doc []byte) (any, error)

// whole shows viewers the document as it is.
func whole(doc []byte) (any, error) { return json.RawMessage(doc), nil }

// part shows viewers those members of the document that T has.
func part[T any](doc []byte) (any, error) {
	var out T
	err := json.Unmarshal(doc, &out)
	return out, err
}

// chatLine is what viewers see of a [query.ChatLine].
type chatLine struct {
	ChatKey   messages.ChatKey `json:"chatKey"`
	UpdatedAt time.Time        `json:"updatedAt,omitzero"`
	Paused    bool             `json:"paused,omitempty"`
	Running   bool             `json:"running,omitempty"`
}

// chatCounts is what viewers see of a [query.ChatDocument].
type chatCounts struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	Running bool             `json:"running"`
	Paused  bool             `json:"paused,omitempty"`
	Counts  platform.Counts  `json:"counts"`
	Model   string           `json:"model,omitempty"`
	Effort  string           `json:"effort,omitempty"`
}

// answer is what viewers see of an answer of ask: of a failure not the words, which may have names in them.
type answer[T any] struct {
	Failure *struct {
		Code int `json:"code"`
	} `json:"failure,omitempty"`
	Value *T `json:"value,omitempty"`
}

// usage is what viewers see of the value of ask/usage: not who used how much.
type usage struct {
	Usage []struct {
		Day          string           `json:"day"`
		ChatKey      messages.ChatKey `json:"chatKey"`
		Model        string           `json:"model"`
		Work         string           `json:"work,omitempty"`
		Calls        int              `json:"calls"`
		InputTokens  int64            `json:"inputTokens"`
		CachedTokens int64            `json:"cachedTokens"`
		OutputTokens int64            `json:"outputTokens"`
		Seconds      float64          `json:"seconds,omitempty"`
		Characters   int64            `json:"characters,omitempty"`
		USD          float64          `json:"usd"`
	} `json:"usage"`
	Limits json.RawMessage `json:"limits,omitempty"`
	Today  string          `json:"today"`
}

// table is the interface between the page and the server, at /console/api/. The documents are those that the command
// of the same name prints with --json, but a list is a bare array. Members are only ever added.
//
//	GET  me                     {"role": owner|viewer|open, "orders": bool, "project", "version"}
//	GET  status                 host.Status
//	GET  gauges                 {metric: value}, the gauges without labels
//	GET  chats                  [query.ChatLine], with an ETag
//	GET  chat?key=              query.ChatDocument
//	GET  follow?key=            a stream: each event is one query.Happening as JSON in one line of data. The first has
//	                            the kind watching: read the chat then, and nothing is missed. Comments keep a silent
//	                            stream alive. It ends when the chat is passivated or the host stops; follow again.
//	                            Send Accept: text/event-stream.
//	GET  search?q=&limit=&key=  [query.SearchLine]
//	GET  approvals              [query.ApprovalLine]         POST query.ApprovalOrder   query.ApprovalResult
//	GET  grants                 [query.GrantLine]            POST query.GrantOrder      query.GrantResult
//	GET  outbox                 [query.OutboxLine]           POST query.OutboxOrder     query.OutboxResult
//	GET  actors                 query.ActorTree
//	POST pause                  query.PauseOrder             query.PauseResult
//	POST unload                 query.UnloadOrder            query.UnloadResult
//	GET  contexts?key=          [query.ContextLine]
//	POST forget                 query.ForgetOrder            query.ForgetResult
//	POST rewind                 query.RewindOrder            query.RewindResult
//	POST tasks?id=              {} starts a task now         host.TaskStarted
//	GET  tools?key=             toolset.Offer
//	GET  mcp                    [mcp.Status]                 POST host.MCPOrder         mcp.Status
//	POST people                 {"bot", "do": approve, "code"} or {"bot", "do": approve|block|remove, "id"}     {"said": words}
//	POST skills                 {"name", "digest"} approves a skill as it was shown, {"name"} withdraws that    a skill of sma skills list
//	POST memory                 {"memory", "was", "text"}: was is the text that the person saw      {"memory", "text"}
//	GET  ask/{what}?of=         {"value": document} or {"failure": {"code", "what", "help"}}
//
// The documents of ask are, by what:
//
//	doctor, doctor-online, config-check, config-show, models, bots    as commands ask a running host
//	models-check   as sma models check, of=name
//	usage          {"usage": [line], "limits": config.Budget, "today"} of=first day, or a week; viewers get lines without persons
//	tasks          as sma tasks list --json
//	memories       [query.MemoryLine]
//	memory         {"memory", "text"} of=name
//	people         [{"bot", "on", and the members of access.Account}] of all bots, without codes
//	skills         as sma skills list --json, or sma skills show --json of=name
//	log            [line] as sma logs --json, of=how many, at most 1,000
//	archives       [query.ArchiveLine] of=chat, or query.ArchiveDocument of=chat, a line feed and the archive's id
//
// A refusal has a status other than 200 and {"error": words}. Those of the guard (401, 403 for foreign origins, 429)
// have a code as error, and the words as message. Orders are sent as application/json.
func table() map[string]row {
	out := map[string]row{
		"GET status":     {control: "GET /control/status", viewer: whole},
		"GET gauges":     {control: "GET /control/gauges", viewer: whole},
		"GET chats":      {control: "GET /control/chats", viewer: part[[]chatLine], etag: true},
		"GET chat":       {control: "GET /control/chat", viewer: part[chatCounts]},
		"GET ask/models": {control: "GET /control/ask/models", viewer: part[answer[json.RawMessage]]},
		"GET ask/usage":  {control: "GET /control/ask/usage", viewer: part[answer[usage]]},
		"GET actors":     {control: "GET /control/actors", viewer: whole},
	}
	for _, route := range []string{
		"GET follow", "GET search", "GET approvals", "POST approvals", "GET grants", "POST grants", "GET outbox", "POST outbox",
		"POST forget", "POST rewind", "POST tasks", "GET tools", "GET mcp", "POST mcp",
		"POST people", "POST memory", "POST skills", "POST unload", "POST pause", "GET contexts",
		"GET ask/doctor", "GET ask/doctor-online", "GET ask/config-check", "GET ask/config-show", "GET ask/models-check", "GET ask/bots",
		"GET ask/tasks", "GET ask/memories", "GET ask/memory", "GET ask/people", "GET ask/skills", "GET ask/log", "GET ask/archives",
	} {
		method, path, _ := strings.Cut(route, " ")
		out[route] = row{control: method + " /control/" + path}
	}
	return out
}
