package agentdir

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Zone loads a time zone, or the machine's own if name is empty or unknown.
func Zone(name string) *time.Location {
	if name != "" {
		if zone, err := time.LoadLocation(name); err == nil {
			return zone // the settings accept only known names
		}
	}
	return namedLocal(os.Getenv("TZ"), "/etc/localtime")
}

// namedLocal is the machine's zone under its IANA name, which people and models understand, if it can be found;
// otherwise [time.Local].
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

// sameUTC replaces zones that equal UTC all year by [time.UTC].
func sameUTC(zone *time.Location) *time.Location {
	for _, month := range []time.Month{time.January, time.July} {
		if name, offset := time.Date(2026, month, 1, 0, 0, 0, 0, zone).Zone(); name != "UTC" || offset != 0 {
			return zone
		}
	}
	return time.UTC
}
