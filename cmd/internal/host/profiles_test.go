package host

import (
	"bytes"
	"maps"
	"net/http"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestWE11ProfilesAreClosed: profiles show what a process works on, so they are served only with the setting.
func TestWE11ProfilesAreClosed(t *testing.T) {
	h := newProject(t).start(t, Options{}, map[string]string{"llm.provider": "demo"})
	for _, path := range []string{"", "heap", "profile?seconds=1", "goroutine", "cmdline"} {
		if code, _ := get(t, "http://"+h.metricsAddr+"/debug/pprof/"+path); code != http.StatusNotFound {
			t.Errorf("%q answers %d, want 404", path, code)
		}
		if code, _ := getPage(t, h, "/debug/pprof/"+path); code != http.StatusNotFound {
			t.Errorf("%q answers %d on the page's listener, want 404", path, code)
		}
	}
}

func TestProfiles(t *testing.T) {
	h := newProject(t).start(t, Options{}, map[string]string{"llm.provider": "demo", "metrics.pprof": "true"})
	base := "http://" + h.metricsAddr + "/debug/pprof/"
	for path, begin := range map[string]string{"heap": "\x1f\x8b", "profile?seconds=1": "\x1f\x8b", "goroutine": "goroutine "} {
		if code, body := get(t, base+path); code != http.StatusOK || !strings.HasPrefix(body, begin) {
			t.Errorf("%s: %d and %.20q, want 200 and %q", path, code, body, begin)
		}
	}
	stdtest.Must(t, pprof.StartCPUProfile(&bytes.Buffer{}))
	defer pprof.StopCPUProfile()
	if code, body := get(t, base+"profile?seconds=1"); code != http.StatusConflict {
		t.Errorf("a second profile: %d %q, want 409", code, body)
	}
}

// TestWE11ProfilesNeedLoopback: on an address that others reach, the settings are refused and say what to do.
func TestWE11ProfilesNeedLoopback(t *testing.T) {
	p := newProject(t)
	for _, listen := range []string{"0.0.0.0:9464", ":9464", "192.0.2.1:9464", "sma:9464", "[::]:9464", "127.0.0.1:9464", "localhost:9464", "[::1]:9464", "off"} {
		flags := map[string]string{"llm.provider": "demo", "adapters.web.listen": "127.0.0.1:0", "metrics.listen": listen}
		for _, asked := range []string{"true", "false"} {
			all := maps.Clone(flags)
			all["metrics.pprof"] = asked
			_, err := config.Load(config.Options{Dir: p.dir, Env: func(string) (string, bool) { return "", false }, Flags: all})
			refused := asked == "true" && listen != config.Off && !config.IsLoopback(listen)
			if refused != (err != nil) || refused && !strings.Contains(err.Error(), "set metrics.listen to 127.0.0.1:9464") {
				t.Errorf("pprof %s on %s: %v, want refused = %t", asked, listen, err, refused)
			}
		}
	}
}
