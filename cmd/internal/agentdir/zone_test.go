package agentdir

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestZone(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "localtime")
	target := filepath.Join(dir, "zoneinfo", "Europe", "Berlin")
	stdtest.Write(t, target, "")
	stdtest.Must(t, os.Symlink(target, link))
	none := filepath.Join(dir, "none")
	for _, tt := range []struct {
		name, tz, link, want string
	}{
		{"from the link", "", link, "Europe/Berlin"},
		{"the variable wins", "Asia/Shanghai", link, "Asia/Shanghai"},
		{"with a colon", ":Asia/Shanghai", none, "Asia/Shanghai"},
		{"UTC by another name", "Etc/UTC", none, "UTC"},
		{"nothing is known", "", none, sameUTC(time.Local).String()},
		{"nonsense", "nowhere", none, sameUTC(time.Local).String()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := namedLocal(tt.tz, tt.link).String(); got != tt.want {
				t.Errorf("zone = %s, want %s", got, tt.want)
			}
		})
	}
	if got := Zone("Asia/Tokyo").String(); got != "Asia/Tokyo" {
		t.Errorf("a zone of the settings = %s", got)
	}
}
