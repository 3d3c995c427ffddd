package host

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v4"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// rule is one alert of docs/examples/prometheus/alerts.yml.
type rule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

// TestAlertRules: every rule asks for metrics and labels that a real host has, says
// what is wrong in one sentence, and leads to a section of the operations page that
// says what to do.
func TestAlertRules(t *testing.T) {
	rules := alertRules(t)
	h := newProject(t).start(t, Options{}, map[string]string{"llm.provider": "demo"})
	known := describedMetrics(h.registry)
	page := read(t, "docs", "operations.md")
	seen := map[string]bool{}
	for _, r := range rules {
		if seen[r.Alert] {
			t.Errorf("%s is there twice", r.Alert)
		}
		seen[r.Alert] = true
		for _, fault := range ruleFaults(r, known, page) {
			t.Errorf("%s: %s", r.Alert, fault)
		}
	}
	if len(rules) < 10 {
		t.Errorf("%d rules, want at least 10", len(rules))
	}
}

func alertRules(t *testing.T) (out []rule) {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string `yaml:"name"`
			Rules []rule `yaml:"rules"`
		} `yaml:"groups"`
	}
	dec := yaml.NewDecoder(strings.NewReader(read(t, "docs", "examples", "prometheus", "alerts.yml")))
	dec.KnownFields(true)
	stdtest.Must(t, dec.Decode(&file))
	for _, g := range file.Groups {
		out = append(out, g.Rules...)
	}
	return out
}

func read(t *testing.T, elements ...string) string {
	t.Helper()
	text := stdtest.Read(t, filepath.Join(append([]string{"..", "..", ".."}, elements...)...))
	return string(text)
}

// describedMetrics are the labels of all metrics of a registry, by name, whether
// they have samples already or not.
func describedMetrics(reg *prometheus.Registry) map[string][]string {
	descs := make(chan *prometheus.Desc)
	go func() {
		defer close(descs)
		reg.Describe(descs)
	}()
	out := map[string][]string{}
	for d := range descs {
		m := regexp.MustCompile(`fqName: "(\w+)".*constLabels: \{(.*)\}, variableLabels: \{([^}]*)\}`).FindStringSubmatch(d.String())
		var labels []string
		for l := range strings.SplitSeq(m[2]+","+m[3], ",") {
			name, _, _ := strings.Cut(l, "=")
			labels = append(labels, strings.TrimSpace(name))
		}
		out[m[1]] = append(out[m[1]], labels...)
	}
	return out
}

// exprFaults says which metrics and labels of an expression, and of a text about its result, no host has.
func exprFaults(expr, text string, known map[string][]string) (faults []string) {
	metrics := regexp.MustCompile(`\b(?:sma|gen_ai|go|process)_\w+(\{[^}]*\})?`).FindAllString(expr, -1)
	if len(metrics) == 0 {
		faults = append(faults, "it asks for no metric of the host")
	}
	labels := []string{"instance", "job"} // of Prometheus
	for _, m := range metrics {
		name, matchers, _ := strings.Cut(m, "{")
		have, ok := known[name]
		if base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, ""); !ok {
			have, ok = known[base]
			if strings.HasSuffix(name, "_bucket") {
				have = append(slices.Clip(have), "le")
			}
		}
		if !ok {
			faults = append(faults, "the host has no metric "+name)
		}
		labels = append(labels, have...)
		for _, l := range regexp.MustCompile(`(\w+)\s*[!=]`).FindAllStringSubmatch(matchers, -1) {
			if l[1] != "instance" && !slices.Contains(have, l[1]) {
				faults = append(faults, name+" has no label "+l[1])
			}
		}
	}
	for _, l := range regexp.MustCompile(`(?:without|by) \(([^)]*)\)|\$labels\.(\w+)|\{\{(\w+)\}\}`).FindAllStringSubmatch(expr+text, -1) {
		for name := range strings.SplitSeq(l[1]+l[2]+l[3], ", ") {
			if !slices.Contains(labels, name) {
				faults = append(faults, "no metric of it has the label "+name)
			}
		}
	}
	return faults
}

func ruleFaults(r rule, known map[string][]string, page string) (faults []string) {
	faults = exprFaults(r.Expr, r.Annotations["summary"], known)
	if _, err := time.ParseDuration(r.For); r.For != "" && err != nil {
		faults = append(faults, "for: "+r.For)
	}
	if !strings.HasSuffix(r.Annotations["summary"], ".") || !slices.Contains([]string{"critical", "warning", "info"}, r.Labels["severity"]) {
		faults = append(faults, "it has no sentence, or no severity")
	}
	want := "docs/operations.md#" + strings.ToLower(r.Alert)
	if r.Annotations["runbook"] != want || !strings.Contains(page, "\n### "+r.Alert+"\n") {
		faults = append(faults, "it leads to "+r.Annotations["runbook"]+", want "+want+" and the section there")
	}
	return faults
}

func TestAlertRulesBite(t *testing.T) {
	known := map[string][]string{"sma_x_total": {"result"}, "sma_h_seconds": nil}
	page := "\n### A\n"
	fine := rule{
		Alert: "A", Expr: `rate(sma_x_total{result!="ok"}[5m]) > sum without (result) (sma_h_seconds_count)`, For: "5m",
		Labels: map[string]string{"severity": "info"}, Annotations: map[string]string{"summary": "It is wrong.", "runbook": "docs/operations.md#a"},
	}
	tests := []struct {
		name   string
		change func(r *rule)
		want   int
	}{
		{"fine", func(*rule) {}, 0},
		{"another metric", func(r *rule) { r.Expr = "sma_y_total > 0" }, 1},
		{"another label", func(r *rule) { r.Expr = `sma_x_total{why="x"} > 0` }, 1},
		{"a bucket", func(r *rule) { r.Expr = `sum by (result, le) (rate(sma_x_total[5m])) > 0` }, 1},
		{"a label that it loses", func(r *rule) { r.Annotations["summary"] = "It is {{ $labels.why }}." }, 1},
		{"no metric", func(r *rule) { r.Expr = "vector(1)" }, 1},
		{"no runbook", func(r *rule) { r.Alert = "B" }, 1},
		{"no time", func(r *rule) { r.For = "soon" }, 1},
		{"no sentence", func(r *rule) { r.Annotations = map[string]string{"runbook": "docs/operations.md#a"} }, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := fine
			r.Annotations = maps.Clone(fine.Annotations)
			tt.change(&r)
			if got := ruleFaults(r, known, page); len(got) != tt.want {
				t.Errorf("faults = %q, want %d", got, tt.want)
			}
		})
	}
}
