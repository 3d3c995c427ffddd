package loop

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNoOutput is the failure of a model call that ended without output.
var ErrNoOutput = errors.New("No output generated. The model stream ended without a finish chunk.") //nolint:staticcheck,revive // the SDK's words

// ErrNotAsIs is wrapped by the error of an approved call whose input is not the one that was
// validated.
var ErrNotAsIs = errors.New("Approved tool input does not match the validated schema output.") //nolint:staticcheck,revive // the SDK's words

// NoSuchToolError is the error of a call whose tool is not offered.
type NoSuchToolError struct {
	Tool string
	// Available is nil when no tools are offered at all.
	Available []string
}

// Error implements error in the words of the SDK, which models have seen before.
func (e *NoSuchToolError) Error() string {
	s := "Model tried to call unavailable tool '" + e.Tool + "'. "
	if e.Available == nil {
		return s + "No tools are available."
	}
	return s + "Available tools: " + strings.Join(e.Available, ", ") + "."
}

// InvalidInputError is the error of a call whose input is not JSON or does not match its schema.
type InvalidInputError struct {
	Tool string
	Err  error
}

// Error implements error in the words of the SDK.
func (e *InvalidInputError) Error() string {
	return fmt.Sprintf("Invalid input for tool %s: %v", e.Tool, e.Err)
}

func (e *InvalidInputError) Unwrap() error { return e.Err }
