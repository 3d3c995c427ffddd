package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// sample is what one measurement yields: numbers by name.
type sample map[string]float64

// samples are the measurements by load and system, in the order of the rounds.
type samples map[string]map[string][]sample

func (s samples) add(load, system string, one sample) {
	if s[load] == nil {
		s[load] = map[string][]sample{}
	}
	s[load][system] = append(s[load][system], one)
}

// values are those of one key, without the measurements that lack it.
func (s samples) values(load, system, key string) []float64 {
	var out []float64
	for _, one := range s[load][system] {
		if v, ok := one[key]; ok {
			out = append(out, v)
		}
	}
	return out
}

// median of a list that is not empty.
func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

type row struct {
	Figure string               `json:"figure"`
	Unit   string               `json:"unit,omitempty"`
	Median map[string]float64   `json:"median"` // by system
	Rounds map[string][]float64 `json:"rounds"`
	Target string               `json:"target,omitempty"`
	Limit  *float64             `json:"limit,omitempty"` // of the ratio if there is a base, else of ours
	Base   *float64             `json:"base,omitempty"`
	Ratio  *float64             `json:"ratio,omitempty"`
	Met    *bool                `json:"met,omitempty"` // nil if there is no target or nothing was measured
}

func rows(figures []figure, s samples) []row {
	var out []row
	for _, f := range figures {
		r := row{Figure: f.name, Unit: f.unit, Median: map[string]float64{}, Rounds: map[string][]float64{}}
		for _, system := range []string{memory, streaming, durable, ours} {
			if list := f.values(s, f.load, system); len(list) > 0 {
				r.Rounds[system], r.Median[system] = list, median(list)
			}
		}
		r.evaluate(f, s)
		out = append(out, r)
	}
	return out
}

func (f figure) values(s samples, load, system string) []float64 {
	list := s.values(load, system, f.key)
	for i := range list {
		list[i] /= max(f.divide, 1)
	}
	return list
}

func (r *row) evaluate(f figure, s samples) {
	t := f.target
	if t.word == "" {
		return
	}
	r.Target, r.Limit = strings.TrimSpace(fmt.Sprintf("%s %v %s", t.word, t.limit, f.unit)), &t.limit
	value, ok := r.Median[ours]
	if t.base != (base{}) {
		r.Target = fmt.Sprintf("%s %v x %s", t.word, t.limit, t.base.words)
		other := f.values(s, cmp.Or(t.base.load, f.load), cmp.Or(t.base.system, ours))
		if !ok || len(other) == 0 {
			return
		}
		of := median(other)
		value /= of
		ratio := value
		r.Base, r.Ratio = &of, &ratio
		if t.base.system != durable { // which has a column of its own
			r.Target += fmt.Sprintf(" (%s %s)", number(of), f.unit)
		}
	}
	if ok {
		met := value == t.limit || (value < t.limit) == (t.word == atMostWord)
		r.Met = &met
	}
}

// table is the report as text.
func table(r report) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s, %d processors, %s, median of %d\n\n", r.When.Format("2006-01-02"), r.CPUs, r.Go, r.Rounds)
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	line := func(cells ...string) {
		_, _ = fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), "\t ")) // Flush reports the error
	}
	line("figure", "unit", memory, streaming, durable, ours, "ratio", "", "target")
	for _, row := range r.Rows {
		cells := []string{row.Figure, row.Unit}
		for _, system := range []string{memory, streaming, durable, ours} {
			v, ok := row.Median[system]
			cells = append(cells, cell(&v, ok))
		}
		line(append(cells, cell(row.Ratio, row.Ratio != nil), row.verdict(), row.Target)...)
	}
	if err := w.Flush(); err != nil { // Unreachable: a builder takes everything.
		return err.Error()
	}
	for _, f := range r.Failings {
		fmt.Fprintln(&out, "FAILED:", f)
	}
	return out.String()
}

func (r row) verdict() string {
	switch {
	case r.Target == "":
		return ""
	case r.Met == nil:
		return "not measured"
	case *r.Met:
		return "met"
	default:
		return "MISSED"
	}
}

func cell(v *float64, ok bool) string {
	if !ok {
		return "-"
	}
	return number(*v)
}

// number has three digits that count.
func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}
