package idlemem

import (
	"testing"

	"github.com/prometheus/procfs"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestPagesOfTheProgramAreReleased(t *testing.T) {
	resident := func() uint64 {
		self, err := procfs.Self()
		stdtest.Must(t, err)
		status, err := self.NewStatus()
		stdtest.Must(t, err)
		return status.RssFile
	}
	before := resident()
	releaseProgram()
	if after := resident(); after >= before {
		t.Errorf("%d bytes of files are resident after the release, %d before", after, before)
	}
}
