// Package packedtest compares packed files with their originals.
package packedtest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/shipmyagent/shipmyagent/config/packed"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Check fails the test if the packed file is not the JSON value, whitespace aside. With update it writes the file.
func Check(t *testing.T, file string, value json.RawMessage, update bool) {
	t.Helper()
	var want bytes.Buffer
	stdtest.Must(t, json.Compact(&want, value))
	if update {
		write(t, file, want.Bytes())
	}
	data, err := os.ReadFile(file) //nolint:gosec // a file of the test's own package
	var got json.RawMessage
	if err = errors.Join(err, packed.Read(data, &got)); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s differs from its original; run this test with -update: %v", file, err)
	}
}

// CheckFolder is [Check] for the texts of all files in a folder, by their names below it.
func CheckFolder(t *testing.T, file, folder string, update bool) {
	t.Helper()
	texts := map[string]string{}
	root := os.DirFS(folder)
	err := fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, name)
		texts[name] = string(text)
		return err
	})
	value, fault := json.Marshal(texts)
	if err = errors.Join(err, fault); err != nil {
		t.Fatal(err)
	}
	Check(t, file, value, update)
}

func write(t *testing.T, file string, text []byte) {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	stdtest.Must(t, err)
	_, err = w.Write(text)
	stdtest.Must(t, errors.Join(err, w.Close(), os.WriteFile(file, out.Bytes(), 0o600)))
}
