package uimessage

import "github.com/shipmyagent/shipmyagent/messages/internal/rawjson"

// ErrInvalid is the sentinel under every error about a message that cannot be read.
var ErrInvalid = rawjson.ErrInvalid

// DecodeError says where a message is malformed: the Path of the fault, as in
// `parts[2].toolCallId`, and the Reason. It unwraps to ErrInvalid and quotes
// nothing of the message's contents.
type DecodeError = rawjson.Fault
