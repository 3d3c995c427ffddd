package browsertest

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Page is one page of a [Browser]. Its methods fail the test for which it was opened.
type Page struct {
	tb      testing.TB
	browser *Browser
	session string
}

// New starts a browser for one page.
func New(tb testing.TB) *Page {
	tb.Helper()
	return Start(tb).Page(tb)
}

// Page opens an empty page, which shares no cookies and no storage with others. It is closed with the test.
func (b *Browser) Page(tb testing.TB) *Page {
	tb.Helper()
	var world struct{ BrowserContextID string }
	b.call(tb, "", "Target.createBrowserContext", nil, &world)
	var target struct{ TargetID string }
	b.call(tb, "", "Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": world.BrowserContextID, "width": 1100, "height": 800}, &target)
	var attached struct{ SessionID string }
	b.call(tb, "", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	p := &Page{tb: tb, browser: b, session: attached.SessionID}
	tb.Cleanup(func() {
		// A browser that ended with the test does not answer.
		_, _ = b.send("", "Target.disposeBrowserContext", map[string]any{"browserContextId": world.BrowserContextID})
	})
	for _, domain := range []string{"Runtime", "Log", "Page", "Network"} {
		p.Call(domain+".enable", nil, nil)
	}
	return p
}

// Call calls a method of Chromium's debugging protocol. The answer is decoded into out, unless it is nil.
func (p *Page) Call(method string, params map[string]any, out any) {
	p.tb.Helper()
	p.browser.call(p.tb, p.session, method, params, out)
}

// Eval evaluates an expression in the page and awaits its promise.
func (p *Page) Eval(format string, args ...any) string {
	p.tb.Helper()
	return p.Run(fmt.Sprintf(format, args...))
}

// Run runs a script in the page, outside of its content security policy, and awaits the promise that is its value.
func (p *Page) Run(script string) string {
	p.tb.Helper()
	var out struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	p.Call("Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true, "returnByValue": true}, &out)
	if out.ExceptionDetails != nil {
		p.tb.Fatalf("eval: %s", out.ExceptionDetails.Exception.Description)
	}
	return fmt.Sprint(out.Result.Value)
}

// Until waits until an expression is true in the page.
func (p *Page) Until(expression string) {
	p.tb.Helper()
	got := "<nil>"
	for tries := 0; got == "<nil>" && tries < 5; tries++ { // a navigation drops the promise: ask the new page
		got = p.Eval(`new Promise((done) => {
		const end = Date.now() + 15000;
		const look = () => { let is; try { is = %s; } catch {} if (is) done('true'); else if (Date.now() > end) done(document.body.innerText); else setTimeout(look, 20); };
		look();
	})`, expression)
	}
	if got != "true" {
		p.tb.Fatalf("never true: %s\nthe page shows: %s\nit reported: %q", expression, got, p.Faults())
	}
}

// Go navigates to an address without waiting for the page.
func (p *Page) Go(url string) {
	p.tb.Helper()
	p.Call("Page.navigate", map[string]any{"url": url}, nil)
}

// Before has each document that the page loads from now on run a script first.
func (p *Page) Before(script string) {
	p.tb.Helper()
	p.Call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": script}, nil)
}

// Press presses keys, one after the other: Enter, Tab, Shift+Tab, Escape, Space, or the name of one without a text.
func (p *Page) Press(keys ...string) {
	p.tb.Helper()
	for _, name := range keys {
		name, shift := strings.CutPrefix(name, "Shift+")
		key := map[string]any{"key": name, "code": name}
		if shift {
			key["modifiers"] = 8
		}
		switch name {
		case "Enter":
			key["windowsVirtualKeyCode"], key["text"] = 13, "\r"
		case "Space":
			key["windowsVirtualKeyCode"], key["key"], key["text"] = 32, " ", " "
		case "Tab":
			key["windowsVirtualKeyCode"] = 9
		}
		for _, kind := range []string{"keyDown", "keyUp"} {
			key["type"] = kind
			p.Call("Input.dispatchKeyEvent", key, nil)
		}
	}
}

// Faults returns the errors that the page reported so far.
func (p *Page) Faults() []string {
	p.tb.Helper()
	p.Eval(`1`) // earlier reports have now arrived
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return append([]string{}, p.browser.console[p.session]...)
}

// Phone makes the page as narrow as a phone, with touch as the pointer.
func (p *Page) Phone() {
	p.tb.Helper()
	p.Call("Emulation.setTouchEmulationEnabled", map[string]any{"enabled": true, "maxTouchPoints": 1}, nil)
	p.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 390, "height": 780, "deviceScaleFactor": 1, "mobile": true}, nil)
}

// Window sets the size of the page.
func (p *Page) Window(width, height int) {
	p.tb.Helper()
	p.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// Prefers sets a preference of the person for pages, for example prefers-color-scheme.
func (p *Page) Prefers(name, value string) {
	p.tb.Helper()
	p.Call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": name, "value": value}}}, nil)
}

// Worked returns the processor time of the page's main thread since the first call, in milliseconds. It does not count
// when other programs have the processor.
func (p *Page) Worked() float64 {
	p.tb.Helper()
	p.Call("Performance.enable", map[string]any{"timeDomain": "threadTicks"}, nil)
	var got struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	p.Call("Performance.getMetrics", nil, &got)
	for _, m := range got.Metrics {
		if m.Name == "TaskDuration" {
			return m.Value * 1000
		}
	}
	p.tb.Fatal("the browser does not measure its tasks")
	return 0
}

// Picture returns a screenshot as PNG.
func (p *Page) Picture() []byte {
	p.tb.Helper()
	var shot struct{ Data string }
	p.Call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	stdtest.Must(p.tb, err)
	return data
}

// Shoot saves a screenshot for people to look at, if SHOTS names a folder.
func (p *Page) Shoot(name string) {
	p.tb.Helper()
	dir := os.Getenv("SHOTS")
	if dir == "" {
		return
	}
	stdtest.Must(p.tb, os.WriteFile(filepath.Join(dir, name+".png"), p.Picture(), 0o600))
}
