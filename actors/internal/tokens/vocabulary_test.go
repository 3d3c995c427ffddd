package tokens

import (
	"bufio"
	"bytes"
	"compress/flate"
	"flag"
	"maps"
	"os"
	"strings"
	"testing"

	loader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

var update = flag.Bool("update", false, "write the vocabulary anew")

// The embedded vocabulary has the tokens of the original, with the same ranks.
func TestVocabularyIsComplete(t *testing.T) {
	want, err := loader.NewOfflineLoader().LoadTiktokenBpe(name + ".tiktoken")
	stdtest.Must(t, err)
	if *update {
		stdtest.Must(t, os.WriteFile("vocabulary/"+name, packed(t, want), 0o600))
		return // the new file is embedded in the next build
	}
	got, err := ranks(bufio.NewReader(flate.NewReader(strings.NewReader(vocabulary))))
	stdtest.Must(t, err)
	if !maps.Equal(got, want) {
		t.Errorf("the embedded vocabulary has %d tokens and differs from the original of %d", len(got), len(want))
	}
}

// packed is a vocabulary as it is embedded.
func packed(t *testing.T, ranks map[string]int) []byte {
	t.Helper()
	tokens := make([]string, len(ranks))
	for token, rank := range ranks {
		tokens[rank] = token
	}
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	stdtest.Must(t, err)
	for _, token := range tokens {
		if _, err := w.Write(append([]byte(strings.TrimSuffix(token, string([]byte{end}))), end)); err != nil {
			t.Fatal(err)
		}
	}
	stdtest.Must(t, w.Close())
	return out.Bytes()
}
