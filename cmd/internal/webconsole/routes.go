package webconsole

// row is one route of the table. The route of package control with the same path answers it.
type row struct {
	viewer view // what a viewer gets of the answer; nil if the route is not for viewers
	etag   bool // readers who have the answer already get no other copy
}

// view are the members of a document that viewers may see, or of each of its elements if it is a list. Without members
// it is seen as it is.
type view map[string]view

// members are members that are seen as they are.
func members(names ...string) view {
	out := view{}
	for _, name := range names {
		out[name] = nil
	}
	return out
}

// answer is what viewers see of an answer of ask: of a failure not the words, which may have names in them.
func answer(value view) view { return view{"failure": members("code"), "value": value} }

// of makes of a document what viewers may see of it.
func (v view) of(doc any) any {
	if len(v) == 0 {
		return doc
	}
	switch doc := doc.(type) {
	case []any:
		for i, element := range doc {
			doc[i] = v.of(element)
		}
		return doc
	case map[string]any:
		for name, value := range doc {
			if of, ok := v[name]; ok {
				doc[name] = of.of(value)
			} else {
				delete(doc, name)
			}
		}
		return doc
	default:
		return nil
	}
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
	whole := members()
	usage := members("limits", "today")
	usage["usage"] = members("day", "chatKey", "model", "work", "calls", "inputTokens", "cachedTokens", "outputTokens", "seconds", "characters", "usd")
	chat := members("chatKey", "running", "paused", "model", "effort")
	chat["counts"] = members("accepted", "open", "fates", "outboxPending")
	out := map[string]row{
		"GET status":     {viewer: whole},
		"GET gauges":     {viewer: whole},
		"GET chats":      {viewer: members("chatKey", "updatedAt", "paused", "running"), etag: true},
		"GET chat":       {viewer: chat},
		"GET ask/models": {viewer: answer(whole)},
		"GET ask/usage":  {viewer: answer(usage)},
		"GET actors":     {viewer: whole},
	}
	for _, route := range []string{
		"GET follow", "GET search", "GET approvals", "POST approvals", "GET grants", "POST grants", "GET outbox", "POST outbox",
		"POST forget", "POST rewind", "POST tasks", "GET tools", "GET mcp", "POST mcp",
		"POST people", "POST memory", "POST skills", "POST unload", "POST pause", "GET contexts",
		"GET ask/doctor", "GET ask/doctor-online", "GET ask/config-check", "GET ask/config-show", "GET ask/models-check", "GET ask/bots",
		"GET ask/tasks", "GET ask/memories", "GET ask/memory", "GET ask/people", "GET ask/skills", "GET ask/log", "GET ask/archives",
	} {
		out[route] = row{}
	}
	return out
}
