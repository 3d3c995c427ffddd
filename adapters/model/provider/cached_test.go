package provider

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

func TestCacheUse(t *testing.T) {
	used := func(input, cached int64) model.Usage {
		return model.Usage{InputTokens: &input, CachedInputTokens: &cached}
	}
	var c cacheUse
	if _, _, ok := c.add(model.Usage{InputTokens: new(int64(9))}, cacheable); ok {
		t.Error("a provider that says nothing about its cache was counted")
	}
	warnings := 0
	add := func(n int, u model.Usage, shared int) (ratio float64) {
		for range n {
			r, warn, _ := c.add(u, shared)
			if ratio = r; warn {
				warnings++
			}
		}
		return ratio
	}
	add(coldCalls, used(10_000, 0), cacheable-1)
	if add(coldCalls-1, used(10_000, 0), cacheable); warnings != 0 {
		t.Error("warned early")
	}
	if add(3*coldCalls, used(10_000, 0), cacheable); warnings != 1 {
		t.Errorf("warned %d times, want once", warnings)
	}
	if ratio := add(200, used(10_000, 9_000), cacheable); ratio < 0.89 || ratio > 0.91 {
		t.Errorf("the ratio is %v after many calls of 0.9", ratio)
	}
	if add(coldCalls, used(10_000, 0), cacheable); warnings != 2 {
		t.Errorf("warned %d times after the cache had been used, want again", warnings)
	}
}
