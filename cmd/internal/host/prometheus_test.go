package host

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// scraper is a real Prometheus that scrapes a host every second and evaluates the example's rules.
type scraper struct{ url string }

func startPrometheus(t *testing.T, target string) *scraper {
	t.Helper()
	dir := t.TempDir()
	rules, err := filepath.Abs(filepath.Join("..", "..", "..", "docs", "examples", "prometheus", "alerts.yml"))
	stdtest.Must(t, err)
	stdtest.Write(t, filepath.Join(dir, "prometheus.yml"), fmt.Sprintf(`
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [%q]
scrape_configs: [{job_name: shipmyagent, static_configs: [{targets: [%q]}]}]
`, rules, target))
	cmd := exec.CommandContext(t.Context(), needProm(t, "prometheus"), "--config.file="+filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address=127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	stdtest.Must(t, err)
	stdtest.Must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Wait() }) // the test's context killed it
	var said, address string
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said += lines.Text() + "\n"
		if m := regexp.MustCompile(`msg="Listening on".* address=(\S+)`).FindStringSubmatch(lines.Text()); m != nil {
			address = m[1]
		}
		if strings.Contains(lines.Text(), "ready to receive web requests") {
			go func() {
				for lines.Scan() { // so that it never waits for a reader
				}
			}()
			return &scraper{"http://" + address}
		}
	}
	t.Fatalf("Prometheus ended:\n%s", said)
	return nil
}

// results returns how many series an expression has now.
func (p *scraper) results(t *testing.T, expr string) int {
	t.Helper()
	code, body := get(t, p.url+"/api/v1/query?query="+url.QueryEscape(expr))
	var answer struct {
		Data struct{ Result []json.RawMessage }
	}
	if err := json.Unmarshal([]byte(body), &answer); code != http.StatusOK || err != nil {
		t.Fatalf("%s: %d %s", expr, code, body)
	}
	return len(answer.Data.Result)
}

// restingMetrics begin with their first count, and nothing of what they count happens in the scenario.
var restingMetrics = []string{
	"sma_actor_panics_total", "sma_model_fallbacks_total", "sma_prompt_prefix_broken_total", "sma_store_failed_writes_total", "sma_stray_messages_total",
}

func metricsOf(expr string) []string {
	return regexp.MustCompile(`\b(?:sma|gen_ai|go|process)_\w+`).FindAllString(expr, -1)
}

// TestPrometheusScrapesAHost: a real Prometheus scrapes a real host, whose model and Telegram are scripted. Every expression
// of the dashboard has data and every metric of the alerts is there, except for what has not happened; all rules are
// evaluated without an error, and none fires.
func TestPrometheusScrapesAHost(t *testing.T) {
	if os.Getenv("SOAK") == "" {
		t.Skip("for make soak")
	}
	p := newProject(t)
	script := modeltest.NewScript(
		modeltest.FailWith(model.ReasonOverloaded, true), modeltest.Say("Good morning."), modeltest.Say("And to you."),
		modeltest.CallTools(modeltest.Call{ID: "w", Name: "write_file", Input: `{"path":"note.txt","content":"a note"}`}), modeltest.Say("Written."))
	server := modeltest.NewServer(script, modeltest.ServerOptions{})
	t.Cleanup(server.Close)
	h := p.start(t, Options{}, merged(telegramFlags(p), map[string]string{
		"adapters.telegram.egress": "direct", "adapters.web.enabled": "true", "llm.baseUrl": server.URL, "permissions.exec.approvers": `["1"]`,
		"context.memory.autoExtractEnabled": "false",
	}))
	prom := startPrometheus(t, h.metricsAddr)
	faketest.Poll(t, "the first scrape", func() bool { return prom.results(t, "sma_build_info") == 1 })
	for n, text := range []string{"Hello", "Hello again", "Write a note"} {
		p.api.Say(1, 1, text, nil)
		p.api.Await(t, "an answer", func() bool { return len(p.api.Sent(1)) > n })
	}
	p.api.Say(1, 1, "/approve 1", nil)
	p.api.Await(t, "the last answer", func() bool {
		return slices.ContainsFunc(p.api.Sent(1), func(m telegramtest.Sent) bool { return strings.Contains(m.Text, "Written.") })
	})
	getPage(t, h, "/")
	empty := map[string]bool{}
	defer func() {
		for _, expr := range slices.Sorted(maps.Keys(empty)) {
			t.Errorf("no data: %s", expr)
		}
	}()
	faketest.Poll(t, "data", func() bool {
		clear(empty)
		for _, g := range dashboardTargets(t) {
			if prom.results(t, g.query()) == 0 && !slices.ContainsFunc(metricsOf(g.Expr), func(m string) bool { return slices.Contains(restingMetrics, m) }) {
				empty[g.panel+": "+g.Expr] = true
			}
		}
		return len(empty) == 0
	})
	prom.checkRules(t)
	for _, name := range restingMetrics {
		if prom.results(t, name) > 0 {
			t.Errorf("%s has data: it need not be excused", name)
		}
	}
	t.Logf("soak: test=prometheus expressions=%d excused=%s", len(dashboardTargets(t)), strings.Join(restingMetrics, ","))
}

// checkRules requires that every rule is evaluated, is not firing, and uses existing metrics.
func (p *scraper) checkRules(t *testing.T) {
	t.Helper()
	type state struct{ Name, Query, Health, State, LastError string }
	var answer struct {
		Data struct {
			Groups []struct{ Rules []state }
		}
	}
	rules := func() (out []state) {
		_, body := get(t, p.url+"/api/v1/rules")
		stdtest.Must(t, json.Unmarshal([]byte(body), &answer))
		for _, g := range answer.Data.Groups {
			out = append(out, g.Rules...)
		}
		return out
	}
	faketest.Poll(t, "an evaluation", func() bool {
		return !slices.ContainsFunc(rules(), func(r state) bool { return r.Health == "unknown" })
	})
	all := rules()
	for _, r := range all {
		if r.Health != "ok" || r.State != "inactive" {
			t.Errorf("%s: %s, %s, %s", r.Name, r.Health, r.State, r.LastError)
		}
		for _, m := range metricsOf(r.Query) {
			if p.results(t, m) == 0 && !slices.Contains(restingMetrics, m) {
				t.Errorf("%s asks for %s, which is not there", r.Name, m)
			}
		}
	}
	if want := len(alertRules(t)); len(all) != want {
		t.Errorf("%d rules, want %d", len(all), want)
	}
}
