package host

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
)

// expireRequests makes all that was asked half an hour older in the files of a stopped host.
func (s *scene) expireRequests() {
	s.t.Helper()
	expires := regexp.MustCompile(`"expires":(\d+)`)
	changed := 0
	err := filepath.WalkDir(filepath.Join(s.p.dir, ".ship", "chat"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".jsonl" {
			return err
		}
		raw, err := os.ReadFile(name)
		if err != nil || !expires.Match(raw) {
			return err
		}
		lines := bytes.Split(raw, []byte("\n"))
		for i, line := range lines {
			if !expires.Match(line) {
				continue
			}
			lines[i] = resealed(expires.ReplaceAllFunc(line, func(m []byte) []byte {
				at, err := strconv.ParseInt(string(m[len(`"expires":`):]), 10, 64)
				if err != nil {
					return m
				}
				return fmt.Appendf(nil, `"expires":%d`, at-(31*time.Minute).Milliseconds())
			}))
			changed++
		}
		return os.WriteFile(name, bytes.Join(lines, []byte("\n")), 0o600)
	})
	if err != nil || changed == 0 {
		s.t.Fatalf("%d requests made older, %v", changed, err)
	}
}

// resealed is a line whose checksum fits what it says now.
func resealed(line []byte) []byte {
	const key, zeros = `"sum":"`, "00000000"
	at := bytes.LastIndex(line, []byte(key))
	if at < 0 {
		return line
	}
	at += len(key)
	copy(line[at:], zeros)
	record := bytes.TrimLeft(line, " ")
	copy(line[at:], fmt.Appendf(nil, "%08x", crc32.Checksum(record, crc32.MakeTable(crc32.Castagnoli))))
	return line
}

func (s *scene) admins(rest string) error {
	fields := strings.Fields(rest)
	chat, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return err
	}
	var all []telegramtest.Admin
	for i, who := range fields[1:] {
		p, ok := s.people[who]
		if !ok {
			return fmt.Errorf("nobody is called %s", who)
		}
		all = append(all, telegramtest.Admin{ID: p.id, Owner: i == 0})
	}
	s.p.api.SetAdmins(chat, all...)
	s.minute()
	return nil
}

// minute lets what is known about administrators grow too old.
func (s *scene) minute() {
	if s.h != nil && s.h.deciders.Admins() != nil {
		s.h.forgetAdmins()
	}
}
