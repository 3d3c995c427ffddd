package tool

import "errors"

// ErrUnknown is the error of a call whose tool the set does not hold.
var ErrUnknown = errors.New("unknown tool")

// ErrInput is wrapped by errors of inputs that miss their schema.
var ErrInput = errors.New("input does not match the schema")

// ErrSchema is wrapped by errors of schemas that cannot be used.
var ErrSchema = errors.New("the tool's input schema is unusable")

// ErrName is wrapped by errors of names that a set does not take.
var ErrName = errors.New("bad tool name")
