package agentdir

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Zone is the time zone of a name, or the machine's own without a name.
func Zone(name string) *time.Location {
	if name != "" {
		if zone, err := time.LoadLocation(name); err == nil {
			return zone // the settings were checked: other names do not come here
		}
	}
	return namedLocal(os.Getenv("TZ"), "/etc/localtime")
}

// namedLocal is the machine's zone under its real name, which people and models
// understand, if that can be found out; otherwise it is [time.Local].
func namedLocal(tz, link string) *time.Location {
	name := strings.TrimPrefix(tz, ":")
	if name == "" {
		path, err := filepath.EvalSymlinks(link)
		if err == nil {
			_, name, _ = strings.Cut(filepath.ToSlash(path), "/zoneinfo/")
		}
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, "posix/"), "right/")
	if name != "" {
		if zone, err := time.LoadLocation(name); err == nil {
			return sameUTC(zone)
		}
	}
	return sameUTC(time.Local)
}

// sameUTC calls the zones that are UTC all year by that name.
func sameUTC(zone *time.Location) *time.Location {
	for _, month := range []time.Month{time.January, time.July} {
		if name, offset := time.Date(2026, month, 1, 0, 0, 0, 0, zone).Zone(); name != "UTC" || offset != 0 {
			return zone
		}
	}
	return time.UTC
}
