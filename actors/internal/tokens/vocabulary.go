package tokens

import (
	"bufio"
	"compress/flate"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The vocabularies: all tokens in the order of their ranks, each after its length, compressed. Their test makes these
// files from those of the tokenizer's authors, which are four times as large.
//
//go:embed vocabulary
var vocabularies embed.FS

// maxToken is more bytes than any token has.
const maxToken = 1 << 10

// vocabulary returns the rank of each token of an encoding.
func vocabulary(e Encoding) (map[string]int, error) {
	f, err := vocabularies.Open("vocabulary/" + string(e))
	if err != nil {
		return nil, err
	}
	return ranks(bufio.NewReader(flate.NewReader(f)))
}

// ranks reads a vocabulary.
func ranks(in *bufio.Reader) (map[string]int, error) {
	out := map[string]int{}
	token := make([]byte, maxToken)
	for {
		n, err := binary.ReadUvarint(in)
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		case n > maxToken:
			return nil, fmt.Errorf("a token of %d bytes", n)
		}
		if _, err := io.ReadFull(in, token[:n]); err != nil {
			return nil, err
		}
		out[string(token[:n])] = len(out)
	}
}
