package config

import "github.com/shipmyagent/shipmyagent/config/internal/keys"

// The types of values that have their own forms in ship.json.
type (
	// Secret is a text that cannot be printed.
	Secret = keys.Secret
	// Limit is a positive number, or 0 for no limit ("off").
	Limit = keys.Limit
	// TokenBudget is a number of tokens, or 0 for "auto".
	TokenBudget = keys.TokenBudget
	// Dollars is a positive amount of US dollars, or 0 for no limit ("off").
	Dollars = keys.Dollars
	// Tags are the names of tags.
	Tags = keys.Tags
)

// What [Load] says about the settings.
type (
	// Finding is one remark on the settings.
	Finding = keys.Finding
	// InvalidError says that the settings cannot be used.
	InvalidError = keys.InvalidError
	// Origin says where the value of a key came from.
	Origin = keys.Origin
)

// The severities and sources, and the word that disables something.
const (
	Warn  = keys.Warn
	Error = keys.Error

	FromFlag    = keys.FromFlag
	FromEnv     = keys.FromEnv
	FromFile    = keys.FromFile
	FromKey     = keys.FromKey
	FromCatalog = keys.FromCatalog
	FromDefault = keys.FromDefault

	Off = keys.Off
)

// NewSecret hides a text.
func NewSecret(text string) Secret { return keys.NewSecret(text) }

// Nearest returns the candidate that a person most likely meant by a word, or "".
func Nearest(word string, candidates []string) string { return keys.Nearest(word, candidates) }

// EnvName is the environment variable that sets a key.
func EnvName(key string) string { return keys.EnvName(key) }
