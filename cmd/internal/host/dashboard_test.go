package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/machinetest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// target is one expression of docs/examples/prometheus/dashboard.json.
type target struct {
	panel  string
	Expr   string `json:"expr"`
	Legend string `json:"legendFormat"`
}

func dashboardTargets(t *testing.T) (out []target) {
	t.Helper()
	var board struct {
		Panels []struct {
			Title   string   `json:"title"`
			Type    string   `json:"type"`
			Targets []target `json:"targets"`
		} `json:"panels"`
	}
	stdtest.Must(t, json.Unmarshal([]byte(read(t, "docs", "examples", "prometheus", "dashboard.json")), &board))
	for _, p := range board.Panels {
		if len(p.Targets) == 0 != (p.Type == "row") {
			t.Errorf("the panel %s of the type %s has %d expressions", p.Title, p.Type, len(p.Targets))
		}
		for _, each := range p.Targets {
			each.panel = p.Title
			out = append(out, each)
		}
	}
	return out
}

// query is the expression without Grafana's variables.
func (g target) query() string {
	return strings.NewReplacer("$__rate_interval", "1m", "$instance", ".*").Replace(g.Expr)
}

// TestDashboard: every expression asks for metrics and labels that a real host has and that the reference explains.
func TestDashboard(t *testing.T) {
	h := newProject(t).start(t, Options{}, map[string]string{"llm.model": "fake"})
	known := describedMetrics(h.registry)
	page := read(t, "docs", "reference", "metrics.md")
	for name := range known {
		if strings.HasPrefix(name, "sma_") || strings.HasPrefix(name, "gen_ai_") {
			if !strings.Contains(page, "| `"+name+"` |") {
				delete(known, name)
			}
		}
	}
	targets := dashboardTargets(t)
	for _, g := range targets {
		for _, fault := range exprFaults(g.Expr, g.Legend, known) {
			t.Errorf("%s: %s", g.panel, fault)
		}
		if !strings.Contains(g.Expr, `instance=~"$instance"`) || strings.Count(g.Expr, "{instance") != strings.Count(g.Expr, "{") {
			t.Errorf("%s shows more than the chosen hosts: %s", g.panel, g.Expr)
		}
	}
	if len(targets) < 40 {
		t.Errorf("%d expressions, want at least 40", len(targets))
	}
}

// TestPromtool: Prometheus' own tool reads the rules, runs their tests, and reads the expressions of the dashboard and
// the settings of the how-to.
func TestPromtool(t *testing.T) {
	tool := needProm(t, "promtool")
	examples := filepath.Join("..", "..", "..", "docs", "examples", "prometheus")
	type record struct {
		Record string `json:"record"`
		Expr   string `json:"expr"`
	}
	var rules []record
	for n, g := range dashboardTargets(t) {
		rules = append(rules, record{fmt.Sprintf("panel:%d", n), g.query()})
	}
	text, err := json.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}}) // JSON is YAML
	stdtest.Must(t, err)
	file := filepath.Join(t.TempDir(), "dashboard.yml")
	stdtest.Write(t, file, string(text))
	scrape := filepath.Join(t.TempDir(), "prometheus.yml")
	_, page, _ := strings.Cut(read(t, "docs", "how-to", "prometheus.md"), "```yaml\n")
	page, _, _ = strings.Cut(page, "```")
	stdtest.Write(t, scrape, page)
	for _, args := range [][]string{
		{"check", "rules", "--lint-fatal", filepath.Join(examples, "alerts.yml"), file},
		{"test", "rules", filepath.Join(examples, "alerts.test.yml")},
		{"check", "config", "--syntax-only", scrape},
	} {
		if out, err := exec.CommandContext(t.Context(), tool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	tests := read(t, "docs", "examples", "prometheus", "alerts.test.yml")
	for _, r := range alertRules(t) {
		fires := strings.Count(tests, "        alertname: "+r.Alert+"\n")
		rests := strings.Count(tests, "alertname: "+r.Alert+"}\n")
		if fires == 0 || rests == 0 {
			t.Errorf("%s: %d tests in which it fires and %d in which it does not, want both", r.Alert, fires, rests)
		}
	}
}

// needProm finds a program of Prometheus, which make installs into bin. Without it the test is skipped, or fails
// with REQUIRE_ALL=1.
func needProm(t *testing.T, name string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("..", "..", "..", "bin", name))
	stdtest.Must(t, err)
	if _, err := os.Stat(file); err == nil {
		return file
	}
	file, err = exec.LookPath(name)
	switch {
	case err == nil:
	case !errors.Is(err, exec.ErrNotFound):
		t.Fatal(err)
	default:
		machinetest.Missing(t, name+" is missing: make bin/"+name)
	}
	return file
}
