package protocol

import (
	"io"
	"net/http"
	"slices"
)

func (b Body) into(req *http.Request) {
	open := func() (io.ReadCloser, error) {
		left := pieces(slices.Clone(b.Pieces))
		return io.NopCloser(&left), nil
	}
	req.Body, _ = open() // it never fails
	req.GetBody = open
	req.ContentLength = 0
	for _, piece := range b.Pieces {
		req.ContentLength += int64(len(piece))
	}
	req.Header.Del("Connection")
}

// pieces reads slices one after the other, as [io.MultiReader] does, but fills each read, so that most requests are
// one write to the connection. It has no WriteTo, with which every request would allocate a copy buffer of 32 KiB.
type pieces [][]byte

func (p *pieces) Read(b []byte) (n int, err error) {
	for len(*p) > 0 && n < len(b) {
		k := copy(b[n:], (*p)[0])
		if n += k; k == len((*p)[0]) {
			*p = (*p)[1:]
		} else {
			(*p)[0] = (*p)[0][k:]
		}
	}
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}
