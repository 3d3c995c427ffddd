package actors_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
)

// recordedFile has a line for every recorded conversation: its name, and a checksum of everything that its chats wrote,
// as [inOrder] shows it.
const recordedFile = "testdata/recorded.txt"

// recordedStories is how many random conversations are recorded.
const recordedStories = 150

// TestRecorded plays every scenario and a corpus of random conversations with fixed
// clocks and ids, and compares what the chats wrote with what they wrote before. Work
// that is to change no behaviour leaves the sums as they are.
//
//	RECORD_DIR=/tmp/new go test ./actors -run 'TestRecorded$'   writes what was written, a file each
//	go test ./actors -run 'TestRecorded$' -update               keeps the new sums
//
// `make recorded BASE=main` shows what differs from another commit, line by line.
func TestRecorded(t *testing.T) {
	var got strings.Builder
	for _, r := range recordings(t) {
		written, broken := record(t, r)
		if broken != "" {
			t.Errorf("%s: %s", r.name, broken)
		}
		fmt.Fprintf(&got, "%s %s\n", r.name, sum(written))
		if dir := os.Getenv("RECORD_DIR"); dir != "" {
			stdtest.Must(t, os.WriteFile(filepath.Join(dir, r.name+".txt"), []byte(written), 0o600))
		}
	}
	if *update {
		stdtest.Must(t, os.WriteFile(recordedFile, []byte(got.String()), 0o600))
		return
	}
	want := stdtest.Read(t, recordedFile)
	if diff := cmp.Diff(lines(string(want)), lines(got.String())); diff != "" {
		t.Errorf("chats wrote something else; `make recorded BASE=<commit>` shows what (-want +got):\n%s", diff)
	}
}

// recording is a conversation that is played to be recorded.
type recording struct {
	name string
	play func(t *testing.T, s *scenario)
}

func recordings(t *testing.T) []recording {
	t.Helper()
	files, err := filepath.Glob("testdata/scenarios/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scenarios, %v", len(files), err)
	}
	var out []recording
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		stdtest.Must(t, err)
		i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "script" })
		script := string(archive.Files[i].Data)
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		out = append(out, recording{name, func(_ *testing.T, s *scenario) { s.play(script) }})
	}
	for seed := range uint64(recordedStories) {
		out = append(out, recording{fmt.Sprintf("story_%03d", seed), func(t *testing.T, s *scenario) {
			t.Helper()
			tellStory(t, s, seed)
		}})
	}
	return out
}

// storyWords are the possible events in two chats of a random conversation. They are actions of people, the model and
// the service. None depends on the number of store operations, so that a story remains the same when chats write in
// another way.
var storyWords = []string{
	"say alice hi", "say bob look here", "say alice look", "say carol and me", "say alice long", "say alice rm a", "say bob rm b",
	"say alice yes", "say alice no", "say bob /approvals", "say alice /approve 1", "say bob /deny 1 not now",
	"bot robo beep", "ignored bob blah", "overheard bob by the way", "refused eve go away",
	"say alice /stop", "say alice /stop all", "say alice /help", "say alice /new", "say alice fresh", "say alice back hi",
	"stop", "stop all", "again 1", "again 2", "edit alice 1 changed", "edit alice 3 changed too",
	"advance 400ms", "advance 3s", "advance 20m", "advance 31m", "kill", "kill 15m", "rewind 0", "rewind 2",
	"chat telegram-chat-1", "chat telegram-chat-2", "fail send 0 forbidden 1", "fail send 0 network 3", "retry all", "drop all", "drain",
}

// tellStory plays a random conversation.
func tellStory(t *testing.T, s *scenario, seed uint64) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 0x2ec02d))
	s.o.Chat.Mode = []string{"merge", "merge", "followup", "interrupt"}[rnd.IntN(4)]
	s.o.Chat.MaxQueued, s.o.Chat.FairToSenders, s.o.Idle = 2+rnd.IntN(4), rnd.IntN(2) == 0, 2*time.Minute
	s.o.Platform.Caps.Drafts, s.o.Platform.Caps.ToolEgress = rnd.IntN(2) == 0, rnd.IntN(3) == 0
	s.o.Tools = []tool.Tool{slowTool("look")}
	settings := []string{"tool rm asks answer \"gone\"", "set quotes 3"}
	if rnd.IntN(2) == 0 {
		settings = append(settings, "set contexts on", "prefix broken by contexts")
	}
	s.model.Otherwise = &modeltest.Step{Do: storyModel}
	s.use("telegram-chat-1")
	for _, line := range settings {
		if err := s.doLine(line); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	s.world()
	for range 6 + rnd.IntN(30) {
		_ = s.doLine(storyWords[rnd.IntN(len(storyWords))]) // what cannot be asked for changes nothing
		s.settle()
	}
	_ = s.doLine("heal")
	<-time.After(2 * time.Hour)
	s.w.Wait()
}

// storyModel removes what it is told to, if a person agrees, and is [obvious] otherwise.
func storyModel(req model.Request) []model.Event {
	last := req.Messages[len(req.Messages)-1]
	if what, ok := strings.CutPrefix(said(req.Messages), "rm "); ok && last.Role == modelmessage.RoleUser {
		call := modeltest.Call{ID: fmt.Sprintf("c%d", len(req.Messages)), Name: "rm", Input: `{"path":"` + what + `"}`}
		return append(modeltest.CallEvents(call), modeltest.Finish("tool-calls"))
	}
	return obvious(req)
}

func (s *scenario) doLine(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	_, err := s.do(verb, rest)
	return err
}

// record plays a conversation and returns everything that its chats wrote.
func record(t *testing.T, r recording) (written, broken string) {
	t.Helper()
	t.Run(r.name, func(t *testing.T) {
		cryptotest.SetGlobalRandom(t, 1)
		synctest.Test(t, func(t *testing.T) {
			disk := filestoretest.NewDisk()
			disk.Keep()
			store, err := filestoretest.Open(disk, filestore.Options{Logger: slog.New(slog.DiscardHandler)})
			stdtest.Must(t, err)
			s := newScenario(t, store)
			s.paced = true
			r.play(t, s)
			broken = s.books()
			s.w.Kill()
			stdtest.Must(t, store.Close())
			written = chatFiles(disk)
		})
	})
	return written, broken
}

// chatFiles returns the files of all chats, with all contents that each ever had.
func chatFiles(disk *filestoretest.Disk) string {
	var files []string
	for name, texts := range disk.Written() {
		if !strings.Contains(name, "/chat/") {
			continue
		}
		for i, text := range texts {
			texts[i] = strings.TrimRight(text, " ") // padding
		}
		var b strings.Builder
		for i, text := range slices.Compact(texts) {
			fmt.Fprintf(&b, "== %s %d\n%s", name, i+1, text)
			if text != "" && !strings.HasSuffix(text, "\n") {
				b.WriteByte('\n')
			}
		}
		files = append(files, b.String())
	}
	slices.SortFunc(files, func(a, b string) int {
		return strings.Compare(recordedID.ReplaceAllString(a, "id"), recordedID.ReplaceAllString(b, "id"))
	})
	return inOrder(strings.Join(files, ""))
}

var (
	recordedID  = regexp.MustCompile(`\b0[0-9a-hjkmnp-tv-z]{8}[a-z2-7]{16}\b|\b[A-Z2-7]{26}\b`)
	recordedSum = regexp.MustCompile(`,"sum":"[0-9a-f]{8}"`)
)

// inOrder names the random ids in the order in which they first appear, and leaves the
// checksums of lines out, which depend on them.
func inOrder(written string) string {
	names := map[string]string{}
	out := recordedID.ReplaceAllStringFunc(written, func(id string) string {
		if names[id] == "" {
			names[id] = "id" + strconv.Itoa(len(names)+1)
		}
		return names[id]
	})
	return recordedSum.ReplaceAllString(out, "")
}

func sum(text string) string {
	digest := sha256.Sum256([]byte(text))
	return hex.EncodeToString(digest[:8])
}
