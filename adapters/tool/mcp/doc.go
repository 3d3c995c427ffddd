// Package mcp offers the tools of MCP servers: programs that run in a sandbox and
// speak over their standard streams, and addresses that speak streamable HTTP.
//
// # What a server is trusted with
//
// Nothing that a server says of itself grants anything. Every call asks a person,
// unless the operator allows the tool by name; hints such as readOnlyHint are only
// shown. A program gets the variables that are given to it and no others, the files
// and the network that it is granted, and nothing else. There is no sampling, no
// elicitation and no list of roots.
//
// # Pins
//
// The tools that a server lists the first time it is configured are pinned by a
// digest of name, title, description, input schema and annotations. Whatever comes
// later is off until a person approves it: a tool that is new, one that changed, one
// whose name could pass for another tool's. A tool that is off is not offered, and
// calls of it are refused. A server that is configured anew, with another command
// line or address, is pinned anew. Pins live in a file ([Store]) with all that a
// model reads of the tools, so that they are offered while their server is down.
//
// # Failure
//
// A server never delays a start or a run of others: each has a goroutine of its own.
// A program that ends is started again, with growing pauses and at most five times in
// ten minutes; then it stays off until [Manager.Test] or a change of the settings. An
// address is tried for ever, every five minutes at last. A call that finds its server
// down waits a little for it; one that was under way when its server went away ends
// with [ErrInterrupted]: nobody knows what it did.
//
// Messages, schemas, results, files and the log of what a program says beside the
// protocol are bounded. All of this is safe for concurrent use.
package mcp
