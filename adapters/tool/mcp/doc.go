// Package mcp offers the tools of MCP servers: programs that run in a sandbox and use their standard streams, and
// addresses that use streamable HTTP.
//
// # Trust in servers
//
// Nothing that a server says about itself grants a permission. Every call needs a person's approval unless the
// operator allows the tool by name; hints such as readOnlyHint are only displayed. A program gets only the variables,
// files and network that it is granted. Sampling, elicitation and roots are not supported.
//
// # Pins
//
// The tools that a server lists the first time after it was configured are pinned by a digest of name, title,
// description, input schema and annotations. Later changes are off until a person approves them: a new tool, a
// changed tool, or a tool whose name could be mistaken for another. A tool that is off is not offered, and calls of
// it are refused. If the command line or address of a server changes, it is pinned again. Pins are stored in a file
// ([Store]) with everything that a model reads about the tools, so that the tools are offered while their server is
// down.
//
// # Failures
//
// A server never delays the start of the host or the runs of others, because each has its own goroutine. A program
// that ends is restarted with increasing pauses, at most five times in ten minutes; then it stays off until
// [Manager.Test] or a change of the settings. An address is retried forever, with pauses of up to five minutes. A
// call waits for a while if its server is down. A call that was in progress when its server ended fails with
// [ErrInterrupted], because its outcome is unknown.
//
// Messages, schemas, results, files and the log of a program's other output are limited in size. The package is safe
// for concurrent use.
package mcp
