package idlemem

import (
	"testing"

	"github.com/prometheus/procfs"
)

func TestPagesOfTheProgramAreReleased(t *testing.T) {
	resident := func() uint64 {
		self, err := procfs.Self()
		if err != nil {
			t.Fatal(err)
		}
		status, err := self.NewStatus()
		if err != nil {
			t.Fatal(err)
		}
		return status.RssFile
	}
	before := resident()
	releaseProgram()
	if after := resident(); after >= before {
		t.Errorf("%d bytes of files are resident after the release, %d before", after, before)
	}
}
