// Package responsestest is a strict fake of OpenAI's Responses API: [StrictBody] refuses the
// requests that the service refuses, and [Server] serves POST /v1/responses in front of any model,
// mostly a modeltest.Script, whose events it streams as the events of the protocol. The rules and
// their sources are in docs/design/0014-responses-request.md.
//
// The server is safe for concurrent use and waits for nothing but the model and the client.
package responsestest
