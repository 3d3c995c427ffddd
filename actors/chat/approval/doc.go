// Package approval holds the parts of a request for approval that people see: the sentences that ask about it, and the
// digest that binds an answer to what they saw. It decides nothing. The packages below it interpret answers, keep
// grants and show requests in other chats; package machine makes the decisions durable.
package approval
