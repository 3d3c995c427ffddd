package provider

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// timed records when it was called, and answers with its failures, then with text.
type timed struct {
	failing
	at []time.Time
}

func (f *timed) RoundTrip(r *http.Request) (*http.Response, error) {
	f.at = append(f.at, time.Now())
	return f.failing.RoundTrip(r)
}

// TestRL3NeverEarlyNeverMore checks the promises for any series of failures: no request is sent
// before its provider allows it, and the attempts, the sum of the delays and the duration stay
// within their budgets.
func TestRL3NeverEarlyNeverMore(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		codes := rapid.SampledFrom([]int{408, 429, 500, 502, 503, 529})
		var asked []time.Duration
		transport := &timed{}
		for range rapid.IntRange(1, 8).Draw(rt, "failures") {
			after := time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 5, 20, 30, 31}).Draw(rt, "after")) * time.Second
			f := status(codes.Draw(rt, "status"))
			switch {
			case after > 0 && rapid.Bool().Draw(rt, "as a date"):
				f.headers = []string{"Retry-After", "date:" + after.String()}
			case after > 0:
				f.headers = []string{"Retry-After", strconv.Itoa(int(after / time.Second))}
			}
			asked = append(asked, after)
			transport.failures = append(transport.failures, f)
		}
		synctest.Test(t, func(t *testing.T) {
			m := newModel(t, Options{Transport: dated{transport}})
			start := time.Now()
			_, _, _ = said(t.Context(), m, hello()) // either result is fine
			var waits time.Duration
			for i := 1; i < len(transport.at); i++ {
				wait := transport.at[i].Sub(transport.at[i-1])
				if waits += wait; wait < asked[i-1] || wait > defaultMaxWait {
					rt.Errorf("waited %s, the provider asked for %s", wait, asked[i-1])
				}
			}
			if len(transport.at) > defaultAttempts || waits > waitBudget || time.Since(start) > waitBudget {
				rt.Errorf("%d attempts, waits of %s in %s", len(transport.at), waits, time.Since(start))
			}
		})
	})
}

// dated writes the dates of Retry-After when an answer is sent. They have whole seconds, so a delay
// would be up to a second shorter than requested; the date is therefore one second later.
type dated struct{ next http.RoundTripper }

func (d dated) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := d.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	var text string
	if n, _ := fmt.Sscanf(resp.Header.Get("Retry-After"), "date:%s", &text); n == 1 {
		after, err := time.ParseDuration(text)
		if err != nil {
			return nil, err
		}
		resp.Header.Set("Retry-After", time.Now().Add(after+time.Second).UTC().Format(http.TimeFormat))
	}
	return resp, nil
}

// TestRL3FullJitter draws many delays: they use all of a range that doubles.
func TestRL3FullJitter(t *testing.T) {
	const draws = 2000
	for attempt, span := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second} {
		low, high, sum := span, time.Duration(0), time.Duration(0)
		for range draws {
			r := newRetrier(&Options{MaxAttempts: 10, MaxWait: defaultMaxWait}, false)
			r.attempts = attempt
			wait, ok := r.next(&model.Error{Reason: model.ReasonOverloaded, Retryable: true})
			if !ok {
				t.Fatal("no further attempt")
			}
			low, high, sum = min(low, wait), max(high, wait), sum+wait
		}
		// The probability that two thousand uniform draws miss a tenth of the range is 1e-91.
		if mean := sum / draws; low > span/10 || high < span*9/10 || high > span+time.Millisecond || mean < span*4/10 || mean > span*6/10 {
			t.Errorf("attempt %d: waits from %s to %s, %s on average; the span is %s", attempt+1, low, high, mean, span)
		}
	}
}

// TestRL4OneRequest checks that permanent failures are not retried.
func TestRL4OneRequest(t *testing.T) {
	for _, tt := range []struct {
		status int
		reason model.Reason
	}{
		{400, model.ReasonBadRequest},
		{401, model.ReasonAuth},
		{402, model.ReasonQuota},
		{403, model.ReasonAuth},
		{404, model.ReasonAddress},
		{405, model.ReasonAddress},
		{410, model.ReasonBadRequest},
		{413, model.ReasonTooLong},
		{415, model.ReasonBadRequest},
		{422, model.ReasonBadRequest},
		{451, model.ReasonBadRequest},
	} {
		t.Run(strconv.Itoa(tt.status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				transport := &failing{failures: []failure{status(tt.status, "Retry-After", "1")}}
				_, _, err := said(t.Context(), newModel(t, Options{Transport: transport}), hello())
				if transport.asked != 1 || model.ReasonOf(err) != tt.reason {
					t.Errorf("asked %d times, failed with %v; want once, %s", transport.asked, err, tt.reason)
				}
			})
		})
	}
}

// unreachable fails to connect to the host "down"; all other requests go to next.
type unreachable struct {
	next     http.RoundTripper
	attempts map[string]int // by host
}

func (u *unreachable) RoundTrip(r *http.Request) (*http.Response, error) {
	u.attempts[r.URL.Host]++
	if strings.HasPrefix(r.URL.Host, "down") {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	return u.next.RoundTrip(r)
}

// TestRL4UnreachableGivesWay checks that a model that cannot be reached is given up early if another is left, that the
// last one is tried as often as any, and that the second call does not try the failed ones first.
func TestRL4UnreachableGivesWay(t *testing.T) {
	for name, tt := range map[string]struct {
		hosts         []string
		first, second map[string]int // attempts of the calls
		failed        bool
	}{
		"alone":              {[]string{"down"}, map[string]int{"down": 6}, map[string]int{"down": 6}, true},
		"with a fallback":    {[]string{"down", "up"}, map[string]int{"down": 2, "up": 1}, map[string]int{"up": 1}, false},
		"the fallback too":   {[]string{"down", "down2"}, map[string]int{"down": 2, "down2": 6}, nil, true},
		"with two fallbacks": {[]string{"down", "down2", "up"}, map[string]int{"down": 2, "down2": 2, "up": 1}, map[string]int{"up": 1}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := &unreachable{next: &failing{}, attempts: map[string]int{}}
				o := Options{Transport: u, Endpoint: Endpoint{BaseURL: "http://" + tt.hosts[0] + "/v1"}}
				for _, host := range tt.hosts[1:] {
					o.Fallbacks = append(o.Fallbacks, Endpoint{BaseURL: "http://" + host + "/v1", Model: host})
				}
				m := newModel(t, o)
				for i, want := range []map[string]int{tt.first, tt.second} {
					if want == nil {
						continue // how long each has been skipped by then is random
					}
					clear(u.attempts)
					if _, _, err := said(t.Context(), m, hello()); (err != nil) != tt.failed || !maps.Equal(u.attempts, want) {
						t.Errorf("call %d: %v, attempts %v; want %v", i+1, err, u.attempts, want)
					}
				}
			})
		})
	}
}
