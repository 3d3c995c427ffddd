// Package packed reads data that is embedded compressed because it would otherwise be a noticeable part of the program:
// JSON, compressed with gzip. The original is in the same folder; a test with package packedtest fails when they differ.
package packed

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
)

// Read decodes a packed value.
func Read(data []byte, into any) error {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		err = json.NewDecoder(r).Decode(into)
	}
	if err != nil {
		return fmt.Errorf("packed data: %w", err)
	}
	return nil
}
