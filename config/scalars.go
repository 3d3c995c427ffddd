package config

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/shipmyagent/shipmyagent/config/internal/jsonpos"
)

// Limit is a positive number, or 0 for no limit, which ship.json writes as "off".
type Limit int64

// TokenBudget is a number of tokens, or 0 for "auto".
type TokenBudget int64

// Dollars is a positive amount of US dollars, or 0 for no limit ("off").
type Dollars float64

// Tags are the names of tags. ship.json may also write a single one as a string, and true
// for the usual one.
type Tags []string

// usualTag is the tag that models put around their reasoning.
const usualTag = "think"

// tags reads what may be a list, a word or a yes.
func (d *decoder) tags(k keyValue, n *jsonpos.Node) {
	switch n.Kind {
	case jsonpos.Bool:
		list := Tags{}
		if n.Text == "true" {
			list = Tags{usualTag}
		}
		k.value.Set(reflect.ValueOf(list))
	case jsonpos.String:
		d.list(k, &jsonpos.Node{Kind: jsonpos.Array, Place: n.Place, Items: []*jsonpos.Node{n}})
	case jsonpos.Array:
		d.list(k, n)
	case jsonpos.Null, jsonpos.Number, jsonpos.Object:
		d.fault(k, n, `wants the names of tags, such as ["think"], or true`)
	}
}

// The range of a TokenBudget that is not auto, and the largest limits.
const (
	minTokenBudget = 2000
	maxTokenBudget = 100_000_000
	maxLimit       = 1_000_000_000_000
	maxDollars     = 1_000_000
	wordOff        = Off
	wordAuto       = "auto"
)

// scalar is a value that is written as a number or as one word. The methods
// return an error that says what is wanted, without the value.
type scalar interface {
	setNumber(text string) error
	setWord(word string) error
}

// Auto reports whether the budget follows the model's context window.
func (b TokenBudget) Auto() bool { return b == 0 }

// Of returns the budget for a model: itself, or 60 % of the context window if
// it is auto, or 12000 if that window is unknown (0).
func (b TokenBudget) Of(contextWindow int) int {
	switch {
	case !b.Auto():
		return int(b)
	case contextWindow > 0:
		return max(contextWindow/5*3, 1)
	}
	return int(Default().Context.History.MaxInputTokensApprox)
}

// MarshalJSON writes the number or "auto".
func (b TokenBudget) MarshalJSON() ([]byte, error) { return marshalScalar(int64(b), wordAuto) }

// MarshalJSON writes the number or "off".
func (l Limit) MarshalJSON() ([]byte, error) { return marshalScalar(int64(l), wordOff) }

// MarshalJSON writes the amount or "off".
func (d Dollars) MarshalJSON() ([]byte, error) { return marshalScalar(float64(d), wordOff) }

func marshalScalar[T int64 | float64](v T, zero string) ([]byte, error) {
	if v == 0 {
		return json.Marshal(zero)
	}
	return json.Marshal(v)
}

func (b *TokenBudget) setNumber(text string) error {
	n, ok := wholeNumber(text)
	if !ok || n < minTokenBudget || n > maxTokenBudget {
		return fmt.Errorf(`wants a whole number from %d to %d, or "auto"`, minTokenBudget, maxTokenBudget)
	}
	*b = TokenBudget(n)
	return nil
}

func (b *TokenBudget) setWord(word string) error {
	if word != wordAuto {
		return fmt.Errorf(`wants a whole number from %d to %d, or "auto"`, minTokenBudget, maxTokenBudget)
	}
	*b = 0
	return nil
}

func (l *Limit) setNumber(text string) error {
	n, ok := wholeNumber(text)
	if !ok || n < 1 || n > maxLimit {
		return fmt.Errorf(`wants a whole number from 1 to %d, or "off"`, int64(maxLimit))
	}
	*l = Limit(n)
	return nil
}

func (l *Limit) setWord(word string) error {
	if word != wordOff {
		return fmt.Errorf(`wants a whole number from 1 to %d, or "off"`, int64(maxLimit))
	}
	*l = 0
	return nil
}

func (d *Dollars) setNumber(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if inRange := v > 0 && v <= maxDollars; err != nil || !inRange {
		return fmt.Errorf(`wants an amount above 0 and up to %d, or "off"`, maxDollars)
	}
	*d = Dollars(v)
	return nil
}

func (d *Dollars) setWord(word string) error {
	if word != wordOff {
		return fmt.Errorf(`wants an amount above 0 and up to %d, or "off"`, maxDollars)
	}
	*d = 0
	return nil
}

// wholeNumber reads a JSON number that has no fraction: 12, 12.0 and 1.2e1.
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
