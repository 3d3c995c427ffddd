// Package tokenfile stores the token that a host made for its web page, in one small file of the
// state folder.
//
// A token is 32 random bytes in base64url. The file is never read or written through a symbolic
// link. A file that others may have read, or without a valid token, is an error and is not changed:
// after a person has removed it, the next [File.Open] makes a new token. Only one process makes the
// token; any number may read it.
package tokenfile

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/shipmyagent/shipmyagent/persistence/document"
)

const (
	fileName = "web.token"
	// tokenBytes is the least number of random bytes in a token.
	tokenBytes = 32
	// maxBytes is the longest file that is read.
	maxBytes = 1 << 10
)

// The reasons why a file cannot be used.
var (
	ErrLink   = errors.New("it is a symbolic link or no plain file")
	ErrShared = errors.New("other users of this machine may read or change it")
	ErrDamage = errors.New("it holds no token, or one that is too short")
)

// File is the token file of one state folder.
type File struct{ doc document.File[string] }

// In returns the file of a state folder. Nothing is read or written yet.
func In(state string) *File {
	return &File{document.File[string]{
		Path: filepath.Join(state, fileName), Max: maxBytes, Trust: ownersOnly, Decode: decode,
		Encode: func(token string) ([]byte, error) { return []byte(token + "\n"), nil },
	}}
}

// Path is the path of the file.
func (f *File) Path() string { return f.doc.Path }

// Open returns the token, and makes one if there is no file.
func (f *File) Open() (string, error) {
	token, err := f.Read()
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	var random [tokenBytes]byte
	_, _ = rand.Read(random[:]) // It never fails.
	if err := f.doc.Write(base64.RawURLEncoding.EncodeToString(random[:])); err != nil {
		return "", err
	}
	// On a file system without modes everybody may read the new file. Reading it back refuses it.
	return f.Read()
}

// Read returns the token. Errors name the file, wrap [fs.ErrNotExist] if it is missing, and never
// contain a part of its content.
func (f *File) Read() (string, error) {
	token, err := f.doc.Read()
	switch {
	case err == nil:
		return token, nil
	case errors.Is(err, syscall.ELOOP):
		err = ErrLink
	case errors.Is(err, document.ErrTooLong):
		err = ErrDamage
	}
	if _, named := errors.AsType[*fs.PathError](err); named {
		return "", err
	}
	return "", &fs.PathError{Op: "read", Path: f.doc.Path, Err: err}
}

func ownersOnly(info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return ErrLink
	case info.Mode().Perm()&0o077 != 0:
		return ErrShared
	}
	return nil
}

func decode(raw []byte) (string, error) {
	if raw == nil {
		return "", fs.ErrNotExist
	}
	token := strings.TrimSuffix(string(raw), "\n")
	if random, err := base64.RawURLEncoding.DecodeString(token); err != nil || len(random) < tokenBytes || strings.ContainsAny(token, "\r\n") {
		return "", ErrDamage
	}
	return token, nil
}
