package provider

import (
	"flag"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	flag.Bool("update", false, "rewrite what the streams are expected to say")
	flag.Parse()
	os.Exit(m.Run())
}
