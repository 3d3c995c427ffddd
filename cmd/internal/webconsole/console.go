package webconsole

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/assets"
	"github.com/shipmyagent/shipmyagent/cmd/internal/control"
)

// The files of the folder static; "go test ./cmd/internal/webconsole -run TestPacked -update" packs them.
//
//go:embed static.json.gz
var static []byte

// sendWithin bounds the sending of an answer, also on a bad line. A stream sets its own deadlines.
const sendWithin = 2 * time.Minute

// Options describe the host. All are required.
type Options struct {
	// Control serves the routes of package control.
	Control          http.Handler
	Project, Version string
}

// console answers requests whose role the web platform has put into their context.
type console struct {
	Options

	assets *assets.Files
	table  map[string]row
}

// me is the document GET me.
type me struct {
	Role    web.Role `json:"role"`
	Orders  bool     `json:"orders"`
	Project string   `json:"project"`
	Version string   `json:"version,omitempty"`
}

// New makes the handler of /console/, for [web.Options].
func New(o Options) http.Handler {
	c := &console{Options: o, table: table(), assets: assets.New(static)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /console/{$}", func(w http.ResponseWriter, r *http.Request) { c.assets.Serve(w, r, "index.html") })
	mux.HandleFunc("GET /console/static/{file...}", func(w http.ResponseWriter, r *http.Request) { c.assets.Serve(w, r, r.PathValue("file")) })
	mux.HandleFunc("/console/api/{path...}", c.api)
	return mux
}

// sees reports whether a role gets whole documents. Any other than these two counts as a viewer.
func sees(role web.Role) bool { return role == web.RoleOwner || role == web.RoleOpen }

// mayOrder reports whether a role may change anything.
func mayOrder(role web.Role) bool { return role == web.RoleOwner }

// api finds the row of a request and checks the role.
func (c *console) api(w http.ResponseWriter, r *http.Request) {
	role, path := web.RoleOf(r.Context()), r.PathValue("path")
	if r.Method == http.MethodGet && path == "me" {
		control.JSON(w, http.StatusOK, me{Role: role, Orders: mayOrder(role), Project: c.Project, Version: c.Version})
		return
	}
	route, ok := c.table[r.Method+" "+path]
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // a faulty one is not JSON
	switch {
	case !sees(role) && route.viewer == nil:
		control.Refuse(w, http.StatusForbidden, errors.New("this is not for viewers"))
	case !ok:
		control.Refuse(w, http.StatusNotFound, errors.New("there is no such address here"))
	case r.Method == http.MethodGet:
		c.answer(w, r, route, role)
	case !mayOrder(role):
		control.Refuse(w, http.StatusForbidden, errors.New("orders need a login: set adapters.web.token"))
	case kind != "application/json":
		control.Refuse(w, http.StatusUnsupportedMediaType, errors.New("send the order as application/json"))
	default:
		c.answer(w, r, route, role)
	}
}

// answer has the route of package control answer.
func (c *console) answer(w http.ResponseWriter, r *http.Request, route row, role web.Role) {
	path := "/control/" + r.PathValue("path")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(control.Within(path) + sendWithin)) // only a test's recorder has none
	inner := r.WithContext(r.Context())
	inner.URL = &url.URL{Path: path, RawQuery: r.URL.RawQuery}
	if sees(role) && !route.etag {
		c.Control.ServeHTTP(w, inner)
		return
	}
	doc := &document{ResponseWriter: w, code: http.StatusOK}
	c.Control.ServeHTTP(doc, inner)
	if !sees(role) {
		doc.narrow(route.viewer)
	}
	doc.send(w, r, route.etag)
}

// document holds a response back.
type document struct {
	http.ResponseWriter

	code int
	body bytes.Buffer
}

func (d *document) WriteHeader(code int)        { d.code = code }
func (d *document) Write(b []byte) (int, error) { return d.body.Write(b) }

// narrow leaves what viewers may see. Reasons of refusals may have names in them.
func (d *document) narrow(to view) {
	var doc any = map[string]string{"error": strings.ToLower(http.StatusText(d.code))}
	if d.code == http.StatusOK {
		dec := json.NewDecoder(&d.body)
		dec.UseNumber() // as the document has them
		if err := dec.Decode(&doc); err != nil {
			d.code, doc = http.StatusInternalServerError, map[string]string{"error": "the answer cannot be read"}
		} else {
			doc = to.of(doc)
		}
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		d.code = http.StatusInternalServerError // Unreachable: it is made of JSON.
	}
	d.body = *bytes.NewBuffer(append(raw, '\n'))
}

// send sends the response, or says that the reader has it already.
func (d *document) send(w http.ResponseWriter, r *http.Request, etag bool) {
	if etag && d.code == http.StatusOK {
		sum := sha256.Sum256(d.body.Bytes())
		tag := `"` + hex.EncodeToString(sum[:8]) + `"`
		w.Header().Set("ETag", tag)
		w.Header().Set("Cache-Control", "private, no-cache")
		if strings.TrimPrefix(r.Header.Get("If-None-Match"), "W/") == tag {
			w.Header().Del("Content-Type")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.WriteHeader(d.code)
	_, _ = w.Write(d.body.Bytes()) // a client that disconnected needs no answer
}
