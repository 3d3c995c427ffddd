package web

import (
	"flag"
	"testing"

	"github.com/shipmyagent/shipmyagent/config/packed/packedtest"
)

var update = flag.Bool("update", false, "pack the page's files anew")

func TestPacked(t *testing.T) { packedtest.CheckFolder(t, "static.json.gz", "static", *update) }
