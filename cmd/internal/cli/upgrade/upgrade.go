// Package upgrade holds the command upgrade, which says whether there is a newer release. It asks only when a person
// calls it, and it never replaces the program: the install script and package managers do that.
package upgrade

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
)

// releases is where install.sh gets releases, too.
const releases = "https://github.com/shipmyagent/shipmyagent/releases"

// within is how long the check may take.
const within = 15 * time.Second

// checked is the JSON of upgrade. Members are only ever added.
type checked struct {
	Version string `json:"version"`
	Newest  string `json:"newest"`
	// Newer reports whether the newest release is newer than this program. It is left out for a development build.
	Newer *bool  `json:"newer,omitempty"`
	From  string `json:"from"`
}

// Command is the command upgrade of a program with a version.
func Command(a *console.Console, version string) *cobra.Command {
	cmd := &cobra.Command{
		Use: "upgrade --check", Short: "Say whether there is a newer release", Args: cobra.NoArgs,
		Long: "Asks the place of the releases which one is the newest, and compares it with this program. Nothing is asked at other\n" +
			"times, and nothing is replaced: run the install script again, or upgrade the package.",
		Example: "  sma upgrade --check\n  sma upgrade --check --json",
	}
	check := cmd.Flags().Bool("check", false, "ask for the newest release")
	from := cmd.Flags().String("from", releases, "the `address` of the releases, with https")
	return console.Command[checked]{
		Run: func(ctx context.Context, _ []string) (checked, error) {
			if !*check {
				return checked{}, &console.Failure{Code: console.CodeUsage, What: a.Text("sma does not replace itself", "sma 不会自行替换"), Help: "sma upgrade --check, then the install script or the package manager"}
			}
			base, err := url.Parse(strings.TrimSuffix(*from, "/"))
			if err != nil || base.Scheme != "https" || base.Host == "" || base.User != nil {
				return checked{}, &console.Failure{Code: console.CodeUsage, What: a.Text("--from wants an address with https", "--from 需要 https 地址"), Help: "sma upgrade --check"}
			}
			newest, err := newestAt(ctx, &http.Client{Timeout: within, CheckRedirect: onlyHTTPS}, base.String())
			if err != nil {
				return checked{}, &console.Failure{
					Code: console.CodeUnreachable, What: a.Text("the newest release is not known", "无法得知最新版本"), Why: err, Help: "the same again once " + base.Host + " can be reached",
				}
			}
			return compared(version, newest, base.String()), nil
		},
		Text: func(c checked) string { return c.text(a) },
	}.On(a, cmd)
}

// onlyHTTPS follows redirects that stay encrypted.
func onlyHTTPS(r *http.Request, via []*http.Request) error {
	if r.URL.Scheme != "https" || len(via) >= 5 {
		return errors.New("the answer leads away from https, or in circles")
	}
	return nil
}

// newestAt reads the version from the names in the newest release's list of checksums, as install.sh does.
func newestAt(ctx context.Context, client *http.Client, base string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/latest/download/checksums.txt", http.NoBody)
	if err != nil {
		return "", err
	}
	resp, err := client.Do(req)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // without the address, which may be a long one after redirects
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }() // read as far as needed
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the answer is %s", resp.Status)
	}
	const most = 1 << 20
	lines := bufio.NewScanner(io.LimitReader(resp.Body, most))
	named := regexp.MustCompile(`^[0-9a-f]{64}  sma_([0-9A-Za-z.+-]{1,64})_[a-z]+_[a-z0-9]+\.tar\.gz$`)
	for lines.Scan() {
		if found := named.FindStringSubmatch(lines.Text()); found != nil {
			return found[1], nil
		}
	}
	return "", cmp.Or(lines.Err(), errors.New("the list of checksums names no release"))
}

func compared(version, newest, from string) checked {
	c := checked{Version: version, Newest: newest, From: from}
	have, isRelease := parse(version)
	next, ok := parse(newest)
	if isRelease && ok {
		newer := slices.Compare(next, have) > 0
		c.Newer = &newer
	}
	return c
}

// parse reads the version of a release, as in 1.2.3 or v1.2.3-rc.1. A candidate sorts before its release. The versions
// that the toolchain gives to development builds are refused.
func parse(version string) (out []int, ok bool) {
	found := regexp.MustCompile(`^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-rc\.(\d{1,9}))?$`).FindStringSubmatch(version)
	if found == nil {
		return nil, false
	}
	const released = int(1e9)
	for i, text := range found[1:] {
		n := released
		if i < 3 || text != "" {
			n, _ = strconv.Atoi(text) // nine digits at most
		}
		out = append(out, n)
	}
	return out, true
}

func (c checked) text(a *console.Console) string {
	version, newest := checkup.OneLine(c.Version, 64), checkup.OneLine(c.Newest, 64)
	switch {
	case c.Newer == nil:
		return fmt.Sprintf(a.Text("this is sma %s, which is no release; the newest release is %s\n", "这是 sma %s，不是正式版本；最新版本是 %s\n"), version, newest)
	case *c.Newer:
		return fmt.Sprintf(a.Text("this is sma %s; there is a newer release, %s: %s\n", "这是 sma %s；有更新的版本 %s：%s\n"), version, newest, c.From)
	default:
		return fmt.Sprintf(a.Text("sma %s is up to date\n", "sma %s 已是最新版本\n"), version)
	}
}
