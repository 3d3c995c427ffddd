package mcp

import "errors"

// ErrInterrupted is wrapped by errors of calls whose server ended while they were in progress.
var ErrInterrupted = errors.New("interrupted, outcome unknown")

// ErrDown is wrapped by errors of calls that could not reach the server. They had no effect.
var ErrDown = errors.New("the server cannot be reached")

// ErrOff is wrapped by errors of calls of tools that wait for a person's approval.
var ErrOff = errors.New("the tool is off")

// ErrUnknown is wrapped by errors about servers and tools that do not exist.
var ErrUnknown = errors.New("there is no such server or tool")
