// Package approval holds what a request for approval is to people: the sentences that ask
// about it, the digest that binds an answer to what they saw, and the commands that answer
// it. It decides nothing: the chat does (package machine), by the grammar of replies and
// rules in actors/internal/approval.
package approval
