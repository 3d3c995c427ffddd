// Package anthropictest is Anthropic's Messages API for tests: [Server] puts any model, mostly a
// modeltest.Script, behind an address that validates requests, streams answers, signs thinking,
// accounts for prompt caching and fails on purpose. [StrictBody] checks a body alone.
//
// The rules and where the service documents them are in docs/design/0013-messages-request.md.
//
// Nothing here sleeps. All of it is safe for concurrent use.
package anthropictest
