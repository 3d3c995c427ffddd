package cli

import (
	"context"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/models"
	"github.com/shipmyagent/shipmyagent/config/catalog"
)

// modelList is what sma models shows: the models of the settings, or entries of the catalog.
type modelList struct {
	configured []models.Row
	entries    []catalog.Model
}

func (a *app) modelsCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "models [--all [PATTERN]]", Short: "Show the models of the settings and what is known of them",
		Long: "Shows the models that the settings name, with protocol, address, limits, abilities and prices, and where each value comes\n" +
			"from. With --all it lists the catalog, or the part of it whose names or provider fit a pattern. It asks no service.",
		Example: "  sma models\n  sma models --all claude\n  sma models check",
	}
	all := cmd.Flags().Bool("all", false, "list the catalog")
	cmd.Args = func(c *cobra.Command, args []string) error {
		if *all {
			return cobra.MaximumNArgs(1)(c, args)
		}
		return cobra.NoArgs(c, args)
	}
	console.Command[modelList]{
		Run: func(ctx context.Context, args []string) (modelList, error) {
			if *all {
				entries, err := matching(args)
				return modelList{entries: entries}, err
			}
			rows, err := a.configuredModels(ctx)
			return modelList{configured: rows}, err
		},
		Text: func(l modelList) string {
			if *all {
				return models.CatalogText(a.Console, l.entries)
			}
			return models.Text(a.Console, l.configured)
		},
		JSON: func(l modelList) any {
			if *all {
				return map[string]any{"models": l.entries}
			}
			return map[string]any{"models": l.configured}
		},
	}.On(a.Console, cmd)
	cmd.AddCommand(a.modelsCheckCmd())
	return cmd
}

func matching(args []string) ([]catalog.Model, error) {
	if len(args) == 0 {
		return catalog.Models(), nil
	}
	entries := models.Matching(args[0])
	if len(entries) == 0 {
		return nil, &console.Failure{Code: console.CodeUsage, What: "the catalog has no model " + checkup.OneLine(args[0], 100), Help: "sma models --all"}
	}
	return entries, nil
}

func (a *app) configuredModels(ctx context.Context) ([]models.Row, error) {
	dir, state, err := a.Places(nil)
	if err != nil {
		return nil, err
	}
	return askRunning(ctx, a.Console, state, aboutModels, func(error) ([]models.Row, error) { return a.modelRows(dir) })
}

// modelRows are the models of the settings of this process.
func (a *app) modelRows(dir string) ([]models.Row, error) {
	loaded, err := a.Load(dir, false)
	if err != nil {
		return nil, err
	}
	return models.Configured(loaded), nil
}

func (a *app) modelsCheckCmd() *cobra.Command {
	return console.Command[[]models.Check]{
		Run: func(ctx context.Context, args []string) ([]models.Check, error) {
			dir, state, err := a.Places(nil)
			if err != nil {
				return nil, err
			}
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			checks, err := askRunning(ctx, a.Console, state, aboutModelsCheck+"?of="+url.QueryEscape(name), func(error) ([]models.Check, error) {
				return a.checkModels(ctx, dir, state, name)
			})
			if err == nil && name != "" && len(checks) == 0 {
				err = &console.Failure{Code: console.CodeUsage, What: "the settings name no model " + checkup.OneLine(name, 100), Help: "sma models"}
			}
			return models.Explain(checks), err
		},
		List: "models", Text: func(c []models.Check) string { return models.CheckText(a.Console, c) },
		Verdict: func(c []models.Check) error { return models.Verdict(a.Console, c) },
	}.On(a.Console, &cobra.Command{
		Use: "check [NAME]", Short: "Ask each model of the settings a question", Args: cobra.MaximumNArgs(1),
		Long: "Asks the main model, its fallbacks and the embedding model one short question each, or only the model with a name. It says\n" +
			"how long the answer took and how many tokens it was, or what is wrong and what to do. Services charge for the tokens.",
		Example: "  sma models check\n  sma models check gpt-5-mini --json",
	})
}

// checkModels asks the models with the environment and flags of this process.
func (a *app) checkModels(ctx context.Context, dir, state, name string) ([]models.Check, error) {
	loaded, err := a.Load(dir, false)
	if err != nil {
		return nil, err
	}
	if err := a.mustTrust(dir, state, loaded); err != nil {
		return nil, err
	}
	return models.Ask(ctx, loaded.Settings, name), nil
}
