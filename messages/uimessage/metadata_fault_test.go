package uimessage

import (
	"errors"
	"testing"
)

// A member of another type than ours is named by its whole path, however deep it is,
// and everything else is read.
func TestFaultsInMetadataSayWhere(t *testing.T) {
	for raw, want := range map[string]string{
		`{"seq":7,"kind":1}`:                                            "metadata.kind",
		`{"seq":7,"fates":{}}`:                                          "metadata.fates",
		`{"seq":7,"fates":[1]}`:                                         "metadata.fates[0]",
		`{"seq":7,"fates":[{"id":"a"},{"fate":1}]}`:                     "metadata.fates[1].fate",
		`{"seq":7,"fates":[{"id":"a","fate":"answered","more":"x"}]}`:   "metadata.fates[0].more",
		`{"seq":7,"usage":[]}`:                                          "metadata.usage",
		`{"seq":7,"usage":{"inputTokens":"x"}}`:                         "metadata.usage.inputTokens",
		`{"seq":7,"sourceRange":{"fromId":"a","toId":"b","count":"3"}}`: "metadata.sourceRange.count",
	} {
		m, err := DecodeMetadata([]byte(raw))
		fault, ok := errors.AsType[*DecodeError](err)
		if !ok || fault.Path != want {
			t.Errorf("%s: %v, want a fault at %s", raw, err, want)
		}
		if m.Seq != 7 || len(m.Extra) != 1 {
			t.Errorf("%s: read as %+v, want the number and what is not ours", raw, m)
		}
	}
}
