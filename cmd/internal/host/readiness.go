package host

import "strings"

// NotReady says why the host does not take messages everywhere; it is empty once it does.
// The reasons are that the host starts or drains, and each platform that is on and down.
// /readyz, sma status and its --probe all ask this, so that they agree.
func (s Status) NotReady() string {
	if s.State != StateReady {
		return "the host is " + string(s.State)
	}
	var down []string
	for _, p := range s.Platforms {
		if p.On && !p.Up {
			down = append(down, p.Name+" is down")
		}
	}
	return strings.Join(down, ", ")
}
