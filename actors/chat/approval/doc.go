// Package approval holds the parts of a request for approval that people see: the sentences that ask about it, the
// digest that binds an answer to what they saw, and the commands that answer it. It decides nothing: package machine
// does, using the grammar of replies and rules in actors/internal/approval.
package approval
