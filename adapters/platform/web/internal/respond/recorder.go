package respond

import "net/http"

// Recorder records the status, and how refusals are written.
type Recorder struct {
	http.ResponseWriter
	Style  Style
	status int
}

// WriteHeader implements [http.ResponseWriter].
func (w *Recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap gives [http.ResponseController] access.
func (w *Recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Code returns the status that was sent, 200 by default.
func (w *Recorder) Code() int {
	if w.status == 0 {
		return http.StatusOK
	}
	return w.status
}
