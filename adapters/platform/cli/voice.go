package cli

import (
	"encoding/json"
	"strings"
)

// spokenAt is where a voice message is that a tool has made; empty: it has made none.
func spokenAt(output json.RawMessage) string {
	var out struct {
		Audio struct {
			URL string `json:"url"`
		} `json:"audio"`
	}
	if json.Unmarshal(output, &out) != nil || !strings.HasPrefix(out.Audio.URL, "file:///") {
		return ""
	}
	return clean(out.Audio.URL)
}
