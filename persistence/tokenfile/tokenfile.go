// Package tokenfile keeps the token that a host made for its web page, in one small
// file of the state folder.
//
// Promises: a token is 32 random bytes in base64url. The file is written as a whole,
// with mode 0600, and is never read or written through a symbolic link. A file that
// others may have read, or that holds no such token, is an error and stays as it is:
// a person removes it, and the next [File.Open] makes a new token. One process makes
// the token; any number may read it.
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
	// tokenBytes is how many random bytes a token has at least.
	tokenBytes = 32
	// maxBytes is the longest file that is read.
	maxBytes = 1 << 10
)

// What makes a file unusable.
var (
	ErrLink   = errors.New("it is a symbolic link or no plain file")
	ErrShared = errors.New("other users of this machine may read or change it")
	ErrDamage = errors.New("it holds no token, or one that is too short")
)

// File is the file of one state folder.
type File struct {
	path string
	disk document.Disk
}

// In is the file of a state folder. Nothing is read or written yet.
func In(state string) *File { return &File{path: filepath.Join(state, fileName)} }

// Path is where the file is.
func (f *File) Path() string { return f.path }

// Open returns the token, and makes one if there is no file.
func (f *File) Open() (string, error) {
	token, err := f.Read()
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	var random [tokenBytes]byte
	_, _ = rand.Read(random[:]) // it never fails
	if err := f.disk.Write(f.path, []byte(base64.RawURLEncoding.EncodeToString(random[:])+"\n")); err != nil {
		return "", err
	}
	// Some file systems know no modes: what was written there is everybody's.
	return f.Read()
}

// Read returns the token. Errors name the file; they wrap [fs.ErrNotExist] if there is
// none, and never hold a part of its content.
func (f *File) Read() (string, error) {
	fail := func(err error) (string, error) { return "", &fs.PathError{Op: "read", Path: f.path, Err: err} }
	content, err := document.ReadOwn(f.path, maxBytes, func(info fs.FileInfo) error {
		switch {
		case !info.Mode().IsRegular():
			return ErrLink
		case info.Mode().Perm()&0o077 != 0:
			return ErrShared
		}
		return nil
	})
	switch {
	case errors.Is(err, syscall.ELOOP):
		return fail(ErrLink)
	case errors.Is(err, document.ErrTooLong):
		return fail(ErrDamage)
	case err != nil:
		return "", err
	case content == nil:
		return fail(fs.ErrNotExist)
	}
	token := strings.TrimSuffix(string(content), "\n")
	if random, err := base64.RawURLEncoding.DecodeString(token); err != nil || len(random) < tokenBytes || strings.ContainsAny(token, "\r\n") {
		return fail(ErrDamage)
	}
	return token, nil
}
