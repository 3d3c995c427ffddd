package access_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/access"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The store as platforms see it.
var _ interface {
	Role(bot, person string) string
	GroupAllowed(bot, chat string) bool
	Redeem(ctx context.Context, bot, code string, by platform.Person) (string, error)
	Request(ctx context.Context, bot string, w platform.AccessRequest) (string, bool, error)
	Approve(ctx context.Context, bot, code string) (platform.Person, bool, error)
	AllowGroup(ctx context.Context, bot, chat, title, by string) error
} = (*access.Store)(nil)

const bot = "telegram"

// clock is a time controlled by tests.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func open(t *testing.T) (*access.Store, *clock, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), ".ship", "access.json")
	c := &clock{t: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	return reopen(t, path, c), c, path
}

func reopen(t *testing.T, path string, c *clock) *access.Store {
	t.Helper()
	s, err := access.Open(path, access.Options{Now: c.now})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return s
}

func person(id string) platform.Person { return platform.Person{ID: id, Name: "P" + id} }

func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		stdtest.Must(t, err)
		return v
	}
}

func TestOwnerPairs(t *testing.T) {
	s, c, path := open(t)
	ctx := t.Context()
	code := must[string](t)(s.OwnerCode(ctx, bot))
	if !regexp.MustCompile(`^[34679ACDEFGHJKMNPQRTWXY]{8}$`).MatchString(code) {
		t.Fatalf("code %q", code)
	}
	if got := must[string](t)(s.Redeem(ctx, bot, "WRONGONE", person("1"))); got != platform.RoleStranger {
		t.Errorf("a wrong code gave %q", got)
	}
	if got := must[string](t)(s.Redeem(ctx, "telegram@other", code, person("1"))); got != platform.RoleStranger {
		t.Errorf("another bot's code gave %q", got)
	}
	typed := " " + strings.ToLower(code[:4]) + "-" + code[4:]
	if got := must[string](t)(s.Redeem(ctx, bot, typed, person("1"))); got != platform.RoleOwner {
		t.Errorf("the code gave %q", got)
	}
	if got := must[string](t)(s.Redeem(ctx, bot, code, person("2"))); got != platform.RoleStranger {
		t.Errorf("a spent code gave %q", got)
	}
	if got := must[string](t)(s.Redeem(ctx, bot, code, person("1"))); got != platform.RoleOwner {
		t.Errorf("the owner again got %q", got)
	}
	if code := must[string](t)(s.OwnerCode(ctx, bot)); code != "" {
		t.Errorf("a bot with an owner gave the code %q", code)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if got := reopen(t, path, c).Role(bot, "1"); got != platform.RoleOwner {
		t.Errorf("after a restart: %q", got)
	}
}

// Whoever loses access is not asked in private any more.
func TestRemoveForgetsThePrivateChat(t *testing.T) {
	s, _, _ := open(t)
	ctx := t.Context()
	must[string](t)(s.Redeem(ctx, bot, must[string](t)(s.OwnerCode(ctx, bot)), person("1")))
	for _, id := range []string{"1", "2"} {
		stdtest.Must(t, s.NotePrivate(ctx, bot, person(id), "chat "+id))
	}
	must[bool](t)(s.Remove(ctx, bot, "1"))
	if _, ok := s.Private(bot, "1"); ok {
		t.Error("the private chat of a removed person is known")
	}
	if got, ok := s.Private(bot, "2"); !ok || got.Chat != "chat 2" {
		t.Errorf("got %+v, %v for another person", got, ok)
	}
}

func TestCodesExpireAndAreReplaced(t *testing.T) {
	s, c, _ := open(t)
	ctx := t.Context()
	first := must[string](t)(s.OwnerCode(ctx, bot))
	second := must[string](t)(s.OwnerCode(ctx, bot))
	if got := must[string](t)(s.Redeem(ctx, bot, first, person("1"))); got != platform.RoleStranger {
		t.Errorf("a replaced code gave %q", got)
	}
	c.pass(time.Hour)
	if got := must[string](t)(s.Redeem(ctx, bot, second, person("1"))); got != platform.RoleStranger {
		t.Errorf("an expired code gave %q", got)
	}
}

func TestWrongCodesAreLimited(t *testing.T) {
	s, c, _ := open(t)
	ctx := t.Context()
	code := must[string](t)(s.OwnerCode(ctx, bot))
	for range 5 {
		must[string](t)(s.Redeem(ctx, bot, "XXXXXXXX", person("9")))
	}
	if _, err := s.Redeem(ctx, bot, code, person("9")); !errors.Is(err, access.ErrTooMany) {
		t.Errorf("the sixth try: %v", err)
	}
	if got := must[string](t)(s.Redeem(ctx, bot, code, person("1"))); got != platform.RoleOwner {
		t.Errorf("somebody else got %q", got)
	}
	c.pass(time.Hour)
	if _, err := s.Redeem(ctx, bot, code, person("9")); err != nil {
		t.Errorf("after an hour: %v", err)
	}
}

func TestStrangersAskOnceAnHour(t *testing.T) {
	s, c, _ := open(t)
	ctx := t.Context()
	request := func() (string, bool) {
		t.Helper()
		code, fresh, err := s.Request(ctx, bot, platform.AccessRequest{Who: person("7")})
		stdtest.Must(t, err)
		return code, fresh
	}
	code, fresh := request()
	again, freshAgain := request()
	if !fresh || freshAgain || code != again {
		t.Errorf("got %q %t, then %q %t", code, fresh, again, freshAgain)
	}
	if got := must[string](t)(s.Redeem(ctx, bot, code, person("7"))); got != platform.RoleStranger {
		t.Errorf("a stranger let themselves in as %q", got)
	}
	c.pass(24 * time.Hour)
	if code, fresh = request(); !fresh {
		t.Error("no new code after a day")
	}
	who, ok, err := s.Approve(ctx, bot, code)
	if diff := cmp.Diff(person("7"), who); diff != "" || !ok || err != nil {
		t.Errorf("approved %v %t %v", who, ok, err)
	}
	if got := s.Role(bot, "7"); got != platform.RoleApproved {
		t.Errorf("role %q", got)
	}
	if _, ok, _ := s.Approve(ctx, bot, code); ok {
		t.Error("a spent code was approved")
	}
	if ok := must[bool](t)(s.Remove(ctx, bot, "7")); !ok || s.Role(bot, "7") != platform.RoleStranger {
		t.Error("not removed")
	}
}

func TestRequestsAreBounded(t *testing.T) {
	s, _, _ := open(t)
	var err error
	for i := 0; i < 1000 && err == nil; i++ {
		_, _, err = s.Request(t.Context(), bot, platform.AccessRequest{Who: person(strings.Repeat("1", i+1))})
	}
	if !errors.Is(err, access.ErrCrowded) {
		t.Errorf("got %v", err)
	}
}

func TestGroups(t *testing.T) {
	s, _, _ := open(t)
	ctx := t.Context()
	for range 2 {
		stdtest.Must(t, s.AllowGroup(ctx, bot, "-100", "Team", "1"))
	}
	if got := s.Account(bot).Groups; len(got) != 1 || !s.GroupAllowed(bot, "-100") || s.GroupAllowed(bot, "-1") {
		t.Errorf("groups %v", got)
	}
	for _, how := range []string{"all", "all", "", "reply"} {
		if err := s.Listen(ctx, bot, "-100", "Team", "1", how); err != nil || s.Listens(bot, "-100") != how {
			t.Errorf("listens to %q, want %q (%v)", s.Listens(bot, "-100"), how, err)
		}
	}
	if err := s.Listen(ctx, bot, "-7", "New", "1", "all"); err != nil || !s.GroupAllowed(bot, "-7") || s.Listens(bot, "-8") != "" {
		t.Errorf("a group that the bot is to listen to is not let in: %v", err)
	}
	if ok := must[bool](t)(s.ForbidGroup(ctx, bot, "-100")); !ok || s.GroupAllowed(bot, "-100") {
		t.Error("not forbidden")
	}
}

func TestDamagedFileIsLeftAlone(t *testing.T) {
	cases := map[string]string{
		"cut":            `{"v":1,"accounts":{"telegram":{"owner":{"id":"1"}`,
		"empty":          "",
		"newer":          `{"v":2,"accounts":{}}`,
		"unknown member": `{"v":1,"accounts":{},"more":1}`,
		"null account":   `{"v":1,"accounts":{"telegram":null}}`,
		"two values":     `{"v":1,"accounts":{}} {}`,
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			s, c, path := open(t)
			code := must[string](t)(s.OwnerCode(t.Context(), bot))
			must[string](t)(s.Redeem(t.Context(), bot, code, person("1")))
			stdtest.Must(t, os.WriteFile(path, []byte(text), 0o600))
			if _, err := access.Open(path, access.Options{Now: c.now}); !errors.Is(err, access.ErrDamaged) || !strings.Contains(err.Error(), path) {
				t.Errorf("Open: %v", err)
			}
			if err := s.AllowGroup(t.Context(), bot, "-1", "", "1"); !errors.Is(err, access.ErrDamaged) {
				t.Errorf("AllowGroup: %v", err)
			}
			if got := s.Role(bot, "1"); got != platform.RoleOwner {
				t.Errorf("the running host forgot its owner: %q", got)
			}
			if got, _ := os.ReadFile(path); string(got) != text {
				t.Errorf("the file was overwritten: %q", got)
			}
		})
	}
}

func TestTwoStoresOfOneFile(t *testing.T) {
	a, c, path := open(t)
	b := reopen(t, path, c)
	var wg sync.WaitGroup
	for i, s := range []*access.Store{a, b} {
		for n := range 20 {
			wg.Go(func() {
				if err := s.AllowGroup(t.Context(), bot, strings.Repeat("-", i+1)+strings.Repeat("1", n+1), "", ""); err != nil {
					t.Error(err)
				}
				s.Role(bot, "1")
			})
		}
	}
	wg.Wait()
	if n, m := len(a.Account(bot).Groups), len(b.Account(bot).Groups); n != 40 || m != 40 {
		t.Errorf("%d and %d groups, want 40", n, m)
	}
}

func TestCanceled(t *testing.T) {
	s, _, path := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.OwnerCode(ctx, bot); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was written: %v", err)
	}
}

// An operator lets in and blocks by id. Nothing changes for an owner, a stranger, or when it was done already.
func TestSettle(t *testing.T) {
	s, _, path := open(t)
	code, err := s.OwnerCode(t.Context(), bot)
	stdtest.Must(t, err)
	if _, err := s.Redeem(t.Context(), bot, code, platform.Person{ID: "1", Name: "Ann"}); err != nil {
		t.Fatal(err)
	}
	for _, w := range []platform.AccessRequest{{Who: platform.Person{ID: "2", Name: "Ben"}}, {Who: platform.Person{ID: "-3", Name: "Garden"}, Group: true}, {Who: platform.Person{ID: "4", Name: "Cleo"}}} {
		if _, _, err := s.Request(t.Context(), bot, w); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, id string
		choice   platform.Choice
		ok       bool
		role     string
	}{
		{"blocks one who asks", "2", platform.Block, true, platform.RoleBlocked},
		{"blocks again", "2", platform.Block, false, platform.RoleBlocked},
		{"lets in who is blocked", "2", platform.LetIn, true, platform.RoleApproved},
		{"lets in again", "2", platform.LetIn, false, platform.RoleApproved},
		{"blocks who has access", "2", platform.Block, true, platform.RoleBlocked},
		{"lets in one who asks", "4", platform.LetIn, true, platform.RoleApproved},
		{"blocks the owner", "1", platform.Block, false, platform.RoleOwner},
		{"lets in a stranger", "9", platform.LetIn, false, platform.RoleStranger},
		{"nobody", "", platform.Block, false, platform.RoleStranger},
		{"blocks a group that asks", "-3", platform.Block, true, platform.RoleBlocked},
		{"lets in a group that is blocked", "-3", platform.LetIn, true, platform.RoleStranger},
	} {
		who, ok, err := s.Settle(t.Context(), bot, tt.id, tt.choice)
		if err != nil || ok != tt.ok || ok && who.ID != tt.id || s.Role(bot, tt.id) != tt.role {
			t.Errorf("%s: %+v, %v, %v, role %s", tt.name, who, ok, err, s.Role(bot, tt.id))
		}
	}
	if !s.GroupAllowed(bot, "-3") {
		t.Error("the group was not let in")
	}
	if again := reopen(t, path, &clock{t: time.Now()}); again.Role(bot, "2") != platform.RoleBlocked || !again.GroupAllowed(bot, "-3") {
		t.Error("it is not durable")
	}
}

// What is asked for every message costs the same with many people.
func TestAccessStateCopiesNoPeople(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.json")
	people := strings.Repeat(`{"id":"2","name":"Bob"},`, 10_000)
	text := `{"v":1,"accounts":{"telegram":{"owner":{"id":"1"},"people":[` + strings.TrimSuffix(people, ",") + `]}}}`
	stdtest.Must(t, os.WriteFile(path, []byte(text), 0o600))
	s, err := access.Open(path, access.Options{})
	stdtest.Must(t, err)
	cost := testing.Benchmark(func(b *testing.B) {
		b.Helper()
		for b.Loop() {
			if s.AccessState("telegram").Owner == nil {
				b.Fatal("there is no owner")
			}
		}
	})
	if n := cost.AllocedBytesPerOp(); n > 4096 {
		t.Errorf("it allocates %d bytes", n)
	}
}

// Thousands of people who write in turn are known, so their messages do not write the file.
func TestPrivateChatsOfThousandsStayKnown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.json")
	var private []string
	for i := range 5000 {
		private = append(private, fmt.Sprintf(`{"person":"%d","chat":"c%d"}`, i, i))
	}
	stdtest.Must(t, os.WriteFile(path, []byte(`{"v":1,"accounts":{"telegram":{"private":[`+strings.Join(private, ",")+`]}}}`), 0o600))
	s, err := access.Open(path, access.Options{})
	stdtest.Must(t, err)
	stdtest.Must(t, s.NotePrivate(t.Context(), bot, person("new"), "c"))
	before, err := os.Stat(path)
	stdtest.Must(t, err)
	for i := range 20 {
		stdtest.Must(t, s.NotePrivate(t.Context(), bot, platform.Person{ID: fmt.Sprint(i)}, fmt.Sprintf("c%d", i)))
	}
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("the file was written for people who were known: %v", err)
	}
}
