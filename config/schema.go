package config

import (
	_ "embed" // for the schema
)

// The schema is made from the types of this package by its tests (-update) and
// shipped as a file, so that no schema library is linked in.
//
//go:embed ship.schema.json
var schema string

// Schema returns the JSON Schema of ship.json.
func Schema() []byte { return []byte(schema) }
