package cli

import (
	"context"

	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/platforms"
	"github.com/shipmyagent/shipmyagent/config"
)

// askServices queries the services that the settings name: the model's API and the platforms. The requests cost
// and change nothing.
func askServices(ctx context.Context, s config.Settings) []checkup.Finding {
	out := checkup.AskModel(ctx, s.LLM)
	for _, d := range platforms.All() {
		out = append(out, d.Ask(ctx, s)...)
	}
	return out
}
