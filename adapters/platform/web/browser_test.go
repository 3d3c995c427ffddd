package web

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web/browsertest"
)

// browser is a headless Chromium that shows the page.
type browser struct {
	*browsertest.Page
	t *testing.T
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	return &browser{browsertest.New(t), t}
}

func (b *browser) open(url string) {
	b.t.Helper()
	b.Go(url)
	b.Until(`document.readyState === 'complete' && document.getElementById('project')?.textContent !== 'ShipMyAgent'`)
}

// say types and sends a message like a person.
func (b *browser) say(text string) {
	b.t.Helper()
	b.Eval(`(() => { const i = document.getElementById('input'); i.focus(); i.value = %q; i.dispatchEvent(new Event('input')); return 1; })()`, text)
	b.Press("Enter")
}
