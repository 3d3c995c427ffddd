package webfetch_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/tool/webfetch"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const (
	// mib is the unit for lengths of hostile pages.
	mib = 1 << 20
	// peakMiB is how much memory one page may take at its worst.
	peakMiB = 64
)

// fill repeats a piece until a page is as long as pages are read.
func fill(piece string) string { return strings.Repeat(piece, mib/len(piece)) }

// many makes a page of pieces that are all different.
func many(begin, piece string) string {
	var out strings.Builder
	out.WriteString(begin)
	for i := 0; out.Len() < mib-len(piece)-12; i++ {
		fmt.Fprintf(&out, piece, i)
	}
	return out.String()
}

// attributes makes a tag of many short attributes that are all different.
func attributes() string {
	var out strings.Builder
	out.WriteString("<p ")
	for i := int64(0); out.Len() < mib-8; i++ {
		out.WriteString(strconv.FormatInt(i, 36) + " ")
	}
	return out.String()
}

// nested begins hundreds of tags that the rules of HTML begin anew in each paragraph.
func nested(tag string) string {
	var out strings.Builder
	for i := range 450 {
		fmt.Fprintf(&out, "<%s a=%d>", tag, i)
	}
	return "<p>" + out.String() + "</p>"
}

// hostile are pages that are made to fill the memory.
func hostile() map[string]string {
	return map[string]string{
		"elements inside of each other":   fill("<div>"),
		"other elements inside":           fill("<table><tr><td>"),
		"formatting that begins anew":     nested("b") + fill("<p>x"),
		"links that begin anew":           nested("a href=x") + fill("<p>x"),
		"paragraphs":                      fill("<p>x"),
		"line breaks":                     fill("x<br>"),
		"cells":                           "<table><tr>" + fill("<td>x"),
		"rows":                            "<table>" + fill("<tr><td>x<td>y"),
		"tables in tables":                fill("<table><tr><td>a<td>b"),
		"links with a long base":          "<base href='https://example.org/" + strings.Repeat("y", 400) + "/'>" + fill("<a href=x>y</a>"),
		"links in cells with a long base": "<base href='https://example.org/" + strings.Repeat("y", 400) + "/'><table><tr>" + fill("<td><a href=x>y</a>"),
		"lists with long marks":           strings.Repeat("<ol start=999999><li>", 8) + fill("<br>x"),
		"text in front of a table":        "<table>" + fill("x<tr>"),
		"attributes":                      "<p " + fill("a "),
		"different attributes":            many("<p ", "%x "),
		"different attributes, often":     strings.Repeat(many("<p ", "%x ")[:4<<10]+">", 256),
		"short attributes":                attributes(),
		"one attribute":                   "<p title='" + fill("a") + "'>x",
		"one style":                       "<p style='" + fill("a ") + "'>x",
		"one address":                     "<a href='" + fill("/") + "'>x</a>",
		"one description":                 "<img alt='" + fill("a ") + "'>",
		"one name":                        "<" + fill("a") + ">x",
		"different names":                 many("", "<a%d>"),
		"entities":                        fill("&lt;"),
		"entities of two characters":      fill("&nGt;"),
		"entities that are none":          fill("&"),
		"numbers of characters":           fill("&#x1F600;"),
		"comments":                        fill("<!---->"),
		"a comment without an end":        "<!--" + fill("-"),
		"a script without an end":         "<script>" + fill("<!--"),
		"tags without an end":             fill("<"),
		"ends of tags":                    fill("</p>"),
		"code inside of code":             strings.Repeat("<code>", 400) + fill("`x"),
		"links inside of cells of links":  strings.Repeat("<table><tr><td><a href=x>", 120) + fill("x "),
		"drawings":                        fill("<svg><g>"),
		"what is hidden":                  "<a href=x>" + fill("<b hidden>"),
		"one word":                        fill("x"),
		"characters that cannot be seen":  fill("\u200b"),
		"bytes that are no text":          fill("\xff"),
		"a title":                         "<title>" + fill("a "),
	}
}

// pack makes a small body that unpacks to sixty-four times a text.
func pack(t *testing.T, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	for range 64 {
		if _, err := z.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	stdtest.Must(t, z.Close())
	return out.Bytes()
}

// TestHostilePagesStayInMemory: pages that are made to take memory, over a socket and packed.
func TestHostilePagesStayInMemory(t *testing.T) {
	pages := hostile()
	pages["JSON"], pages["text"], pages["Thai"] = strings.Repeat("[", 5*mib), strings.Repeat("x ", 3*mib), strings.Repeat("\xa1", 5*mib)
	kinds := map[string]string{"JSON": "application/json", "text": "text/plain", "Thai": "text/plain; charset=windows-874"}
	var body []byte // of the page that is measured; it is made before
	s, at := server(t, func(w http.ResponseWriter, r *http.Request) {
		kind, ok := kinds[r.URL.Query().Get("page")]
		if !ok {
			kind = "text/html; charset=utf-8"
		}
		w.Header().Set("Content-Type", kind)
		if r.URL.Query().Get("packed") != "" {
			w.Header().Set("Content-Encoding", "gzip")
		}
		_, _ = w.Write(body) // who has read enough closes
	})
	f := webfetch.New(options(at))
	var worst uint64
	for name := range pages {
		for _, packed := range []string{"", "&packed=1"} {
			if packed != "" && os.Getenv("SOAK") == "" && name != "paragraphs" && name != "text" {
				continue
			}
			body = []byte(pages[name])
			if packed != "" {
				body = pack(t, body)
			}
			var got answer
			var err error
			took := stdtest.Peak(func() {
				got, err = fetch(t, f, map[string]any{"url": s.URL + "/?page=" + strings.ReplaceAll(name, " ", "+") + packed, "maxChars": 200_000})
			})
			t.Logf("%-34s%-10s %4.1f MiB, %d characters, cut %v", name, packed, float64(took)/mib, got.Chars, got.Truncated)
			if worst = max(worst, took); took > peakMiB*mib || err != nil {
				t.Errorf("%s%s: %d MiB, want at most %d; %v", name, packed, took/mib, peakMiB, err)
			}
		}
	}
	t.Logf("soak: row=web_fetch pages=%d worst=%.1f MiB", len(pages), float64(worst)/mib)
}
