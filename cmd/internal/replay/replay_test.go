package replay

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

// feedFor is how long the hours of whole rooms take here.
const feedFor = 8 * time.Second

type running struct {
	*host.Host
	log     *platformtest.Log
	url     string // of its metrics
	secrets map[string]string
}

func start(t *testing.T, w *town, dir string) *running {
	t.Helper()
	return startWith(t, w.env(), dir)
}

func startWith(t *testing.T, env map[string]string, dir string) *running {
	t.Helper()
	loaded, err := config.Load(config.Options{Dir: dir, Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
	stdtest.Must(t, err)
	r := &running{log: &platformtest.Log{}, secrets: env}
	r.Host = host.New(host.Options{
		Dir: dir, State: stateOf(dir), Settings: loaded, Version: "test",
		Logger: slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelInfo})),
	})
	stdtest.Must(t, r.Start(t.Context()))
	r.url = "http://" + r.Status(t.Context()).Metrics + "/metrics"
	return r
}

// stop ends the host and looks at its log.
func (r *running) stop(t *testing.T) {
	t.Helper()
	if err := r.Stop(t.Context()); err != nil {
		t.Errorf("stop: %v", err)
	}
	noSecrets(t, r.secrets, r.log.String())
	for l := range strings.SplitSeq(r.log.String(), "\n") {
		if strings.Contains(l, "level=ERROR") || strings.Contains(l, "level=WARN") {
			t.Errorf("the log has %s", l)
		}
	}
}

func stateOf(dir string) string { return filepath.Join(dir, ".ship") }

func (r *running) figures(t *testing.T) figures {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, http.NoBody)
	stdtest.Must(t, err)
	resp, err := http.DefaultClient.Do(req)
	stdtest.Must(t, err)
	defer func() { _ = resp.Body.Close() }() // only read from
	text, err := io.ReadAll(resp.Body)
	stdtest.Must(t, err)
	f, err := parseFigures(string(text))
	stdtest.Must(t, err)
	return f
}

// awaitRest waits until nothing is open and nothing is to be sent. Figures that do not add up are not
// all of one moment.
func (r *running) awaitRest(t *testing.T, accepted int) (f figures) {
	t.Helper()
	faketest.Poll(t, "the host to be at rest", func() bool {
		f = r.figures(t)
		return f.sum("sma_ingress_accepted_total") >= accepted && !f.unbalanced() && f.sum("sma_ingress_open") == 0 && f.sum("sma_runs_in_flight") == 0
	})
	return f
}

// TestReplay plays all rooms at once through a host, and starts it anew: whole
// with egress by tool, their first halves at the same pace with direct egress.
func TestReplay(t *testing.T) {
	for _, tt := range []struct {
		egress string
		part   int // 1 is all of it, 2 is half
	}{{config.EgressTool, 1}, {config.EgressDirect, 2}} {
		t.Run(tt.egress, func(t *testing.T) {
			t.Parallel()
			rooms := someRooms(t)
			for i, r := range rooms {
				rooms[i].lines = r.lines[:len(r.lines)/tt.part]
			}
			w := newTown(t, rooms, clerk{})
			dir := w.project(t, tt.egress, config.GroupsMention)
			w.checkFirstStart(t, dir, tt.egress, feedFor/time.Duration(tt.part))
			w.checkStore(t, dir)
			w.checkSecondStart(t, dir)
		})
	}
}

func (w *town) said() (all, asked int) {
	for _, p := range w.places {
		all += len(p.said)
		asked += len(p.asked()) + len(p.joined())
	}
	return all, asked
}

func (w *town) checkFirstStart(t *testing.T, dir, egress string, within time.Duration) {
	t.Helper()
	h := start(t, w, dir)
	stdtest.Must(t, w.feed(t.Context(), w.script(), within))
	w.awaitAnswers(t)
	all, asked := w.said()
	f := h.awaitRest(t, all)
	t.Logf("settled: %v", f["sma_ingress_fates_total"])
	h.stop(t)

	answered, merged := f.sum("sma_ingress_fates_total", `"answered"`), f.sum("sma_ingress_fates_total", `"merged"`)
	switch {
	case f.unbalanced() || f.sum("sma_ingress_accepted_total") != all || f.sum("sma_ingress_recovered") != 0:
		t.Errorf("%d were said; the metrics have accepted %d, settled %v, open %d", all, f.sum("sma_ingress_accepted_total"), f["sma_ingress_fates_total"], f.sum("sma_ingress_open"))
	case answered+merged != asked || f.sum("sma_ingress_fates_total", `"ignored"`) != all-asked:
		t.Errorf("%d of %d address the bot; the metrics have settled %v", asked, all, f["sma_ingress_fates_total"])
	case egress == config.EgressTool && merged == 0:
		t.Error("nothing was merged")
	}
	w.checkLabels(t, f)
	if several := w.checkRequests(t); several == 0 {
		t.Error("no request brought several turns at once")
	}
	w.checkSent(t, func(*place, int) bool { return false })
}

// checkStore reads the chats as sma chats show does while no host runs.
func (w *town) checkStore(t *testing.T, dir string) {
	t.Helper()
	store, err := filestore.Open(filestore.Options{Dir: stateOf(dir)})
	stdtest.Must(t, err)
	for _, p := range w.places {
		doc, err := query.ReadChat(t.Context(), store, p.key())
		stdtest.Must(t, err)
		ledger, err := query.Ledger(stateOf(dir), p.key(), 1<<20)
		stdtest.Must(t, err)
		b := book{counts: doc.Counts, ledger: ledger}
		for _, m := range doc.Messages {
			b.history = append(b.history, turn{m.ID, m.Role})
		}
		w.checkBook(t, p, b, nil)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// checkSecondStart starts the host on the same folder and delivers old updates again. Nobody is answered twice, and the
// next person is answered on the basis of the earlier history.
func (w *town) checkSecondStart(t *testing.T, dir string) {
	t.Helper()
	h := start(t, w, dir)
	var old []int64
	for i, d := range w.script() {
		if d.line.addressed || i%100 == 0 {
			old = append(old, w.update+int64(i))
		}
	}
	again, known := min(200, len(old)), 0
	for some := range slices.Chunk(old[len(old)-again:], 50) { // of a batch that is full only its beginning is taken
		for _, update := range some {
			w.api.Redeliver(update)
		}
		known += len(some)
		faketest.Poll(t, "the old messages to be known", func() bool { return h.figures(t).sum("sma_ingress_total", `"duplicate"`) >= known })
	}
	p := w.places[0]
	w.say(p, line{nick: p.lines[0].nick, words: ": are you still there?", addressed: true})
	w.awaitAnswers(t)
	f := h.awaitRest(t, 1)
	h.stop(t)
	if got := f.sum("sma_ingress_total", `"duplicate"`); got != again {
		t.Errorf("%d ingresses were known, want %d", got, again)
	}
	if f.sum("sma_ingress_accepted_total") != 1 || f.unbalanced() {
		t.Errorf("the metrics have accepted %d, settled %v", f.sum("sma_ingress_accepted_total"), f["sma_ingress_fates_total"])
	}
	w.checkRequests(t)
	w.checkSent(t, func(*place, int) bool { return false })
	w.checkStore(t, dir)
}
