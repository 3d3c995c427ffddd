package keys

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// Off is the value that disables the metrics listener, the sandbox, Telegram's rate limit or a [Limit].
const Off = "off"

// Limit is a positive number, or 0 for no limit, which ship.json writes as "off".
type Limit int64

// TokenBudget is a number of tokens, or 0 for "auto".
type TokenBudget int64

// Dollars is a positive amount of US dollars, or 0 for no limit ("off").
type Dollars float64

// Tags are the names of tags. ship.json may also have a single one as a string, or true for the usual one.
type Tags []string

// usualTag is the tag that models put around their reasoning.
const usualTag = "think"

// defaultTokenBudget is the budget for a model with an unknown context window.
const defaultTokenBudget = 12000

// scalar describes a value that is written as a number or as one word, which is stored as 0.
type scalar struct {
	Min, Max int64
	above    bool // fractions are allowed, and min itself is excluded
	word     string
}

func scalarOf(t reflect.Type) (scalar, bool) {
	switch t {
	case reflect.TypeFor[Limit]():
		return scalar{Min: 1, Max: 1_000_000_000_000, word: Off}, true
	case reflect.TypeFor[TokenBudget]():
		return scalar{Min: 2000, Max: 100_000_000, word: "auto"}, true
	case reflect.TypeFor[Dollars]():
		return scalar{Min: 0, Max: 1_000_000, above: true, word: Off}, true
	}
	return scalar{}, false
}

// String says which values are allowed.
func (s scalar) String() string {
	if s.above {
		return fmt.Sprintf("wants an amount above %d and up to %d, or %q", s.Min, s.Max, s.word)
	}
	return fmt.Sprintf("wants a whole number from %d to %d, or %q", s.Min, s.Max, s.word)
}

// number parses a number in the range.
func (s scalar) number(text string) (reflect.Value, bool) {
	if s.above {
		v, err := strconv.ParseFloat(text, 64)
		return reflect.ValueOf(v), err == nil && v > float64(s.Min) && v <= float64(s.Max)
	}
	n, ok := wholeNumber(text)
	return reflect.ValueOf(n), ok && n >= s.Min && n <= s.Max
}

// Auto reports whether the budget follows the model's context window.
func (b TokenBudget) Auto() bool { return b == 0 }

// Of returns the budget for a model: the set value, or for auto 60 % of the context window, or 12000 if the window is
// unknown (0).
func (b TokenBudget) Of(contextWindow int) int {
	switch {
	case !b.Auto():
		return int(b)
	case contextWindow > 0:
		return max(contextWindow/5*3, 1)
	}
	return defaultTokenBudget
}

// MarshalJSON writes the number or "auto".
func (b TokenBudget) MarshalJSON() ([]byte, error) { return marshalScalar(int64(b), "auto") }

// MarshalJSON writes the number or "off".
func (l Limit) MarshalJSON() ([]byte, error) { return marshalScalar(int64(l), Off) }

// MarshalJSON writes the amount or "off".
func (d Dollars) MarshalJSON() ([]byte, error) { return marshalScalar(float64(d), Off) }

func marshalScalar[T int64 | float64](v T, zero string) ([]byte, error) {
	if v == 0 {
		return json.Marshal(zero)
	}
	return json.Marshal(v)
}

// wholeNumber parses a JSON number without a fraction: 12, 12.0 and 1.2e1.
func wholeNumber(text string) (int64, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	const exact = 1 << 53
	if inRange := f >= -exact && f <= exact; err != nil || !inRange || f != math.Trunc(f) {
		return 0, false
	}
	return int64(f), true
}
