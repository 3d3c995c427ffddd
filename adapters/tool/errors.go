package tool

import "errors"

// ErrUnknown is the error of a call whose tool is not in the set.
var ErrUnknown = errors.New("unknown tool")

// ErrInput is wrapped by errors about inputs that do not match their schema.
var ErrInput = errors.New("input does not match the schema")

// ErrSchema is wrapped by errors about unusable schemas.
var ErrSchema = errors.New("the tool's input schema is unusable")

// ErrName is wrapped by errors about names that a set does not accept.
var ErrName = errors.New("bad tool name")
