# One command for each thing that a person wants to do with this repository.
#
#   make demo    build and open the demo chat on http://127.0.0.1:3000
#   make build   bin/sma, static
#   make test    vet, architecture rules and all tests with the race detector
#   make check   test, and formatting, lint, tidy modules
#   make lint    the linters alone, and vet for macOS
#   make dist    what a release consists of, in bin/dist: archives, Debian packages, images
#   make dist-check  builds it twice, with nothing in common, and compares; looks into the packages
#                and, as root, installs and removes one in a copy of this system
#   make site    the documentation as a static site, in bin/site
#   make bench   every figure beside its target, measured in one run with the minimal bots of
#                the harness in BENCH_DIR; the median of BENCH_RUNS (default 3) rounds of
#                about ten minutes, as text and in BENCH_JSON (default bin/bench.json)
#   make vuln    code that is called and known to be vulnerable; needs vuln.go.dev
#   make longchat  one chat of LONGCHAT_TURNS (default 100000) turns; what a turn costs, by
#                window (LONGCHAT_COMPACTION=off: nothing is compacted)
#   make recorded BASE=<commit>   what chats write in the recorded conversations, compared with
#                another commit line by line
#   make fuzz    every parser that strangers reach, for FUZZTIME (default 30s) each
#   make soak    kills, faults, crash states, fuzzing, and load by the harness if BENCH_DIR
#                is set, for at most SOAK_TIME (default 60m), with one table at the end
#   make soak-short   the same in five minutes, with lower floors

GO            ?= go
BIN           := bin
PKGS          ?= ./...
GOLANGCI_LINT ?= $(BIN)/golangci-lint
LINT_VERSION  := v2.15.0
VULN_VERSION  := v1.1.4
PROM_VERSION  := v0.316.0
OTEL_VERSION  := v0.165.0
BENCH_DIR     ?=
BENCH_RUNS    ?= 3
BENCH_JSON    ?= $(BIN)/bench.json
BASE          ?= main
DEMO_DIR      ?= $(BIN)/demo
SOAK_TIME     ?= 60m
FUZZTIME      ?= 30s
FUZZ           = $(shell grep -roE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sed -E 's,^\./(.*)/[^/]*:func ,\1:,' | sort)

# The race detector needs a C compiler. Without one the tests run without it,
# unless everything is required.
RACE := $(shell command -v gcc >/dev/null 2>&1 || command -v clang >/dev/null 2>&1 && echo -race)
ifeq ($(REQUIRE_ALL),1)
RACE := -race
endif

.PHONY: dist dist-check site demo build test check lint vuln bench longchat recorded fuzz soak soak-short go-present npm
.DEFAULT_GOAL := build

go-present:
	@command -v $(GO) >/dev/null 2>&1 || { echo "Go is missing: install Go 1.26 or newer from https://go.dev/dl/ and try again." >&2; exit 1; }

# Functions that begin at any byte, instead of a multiple of 32, make the program 0.55 MB smaller and no slower.
# .ci/build and cmd/internal/dist have the same flags.
build: go-present
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -funcalign=1' -o $(BIN)/sma ./cmd/sma

demo: go-present
	@echo "Building. The first build takes a minute or two." >&2
	@GO='$(GO)' .ci/build $(BIN)/sma
	@exec $(BIN)/sma demo $(DEMO_DIR) $(DEMO_FLAGS)

# The tests of the AI SDK's clients need its npm packages, and that of the console axe-core; without npm they are skipped.
npm:
	@if command -v npm >/dev/null 2>&1; then cmd/sma/testdata/e2e/install.sh || echo "the npm packages could not be installed" >&2; fi

test: go-present npm
	$(GO) vet $(PKGS)
	$(GO) test ./cmd/internal/archtest
	$(GO) test -run '^Test(Turn|RestingChat)[A-Z].*(Little|FewFiles)$$' ./cmd/internal/host ./cmd/internal/longchat
	$(if $(RACE),,@echo "no C compiler: the tests run without the race detector" >&2)
	$(GO) test $(RACE) -shuffle=on -timeout 20m $(PKGS)

check: test lint
	$(GOLANGCI_LINT) fmt --diff
	$(GO) mod tidy -diff
	$(GO) mod verify

lint: $(GOLANGCI_LINT)
	$(GOLANGCI_LINT) run $(PKGS)
	GOOS=darwin $(GO) vet $(PKGS)

$(BIN)/golangci-lint:
	GOBIN=$(CURDIR)/$(BIN) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

# Prometheus and its promtool, without service discovery and without the pages, which are built by npm.
$(BIN)/promtool $(BIN)/prometheus: go-present
	GOBIN=$(CURDIR)/$(BIN) $(GO) install -tags remove_all_sd github.com/prometheus/prometheus/cmd/$(@F)@$(PROM_VERSION)

# An OpenTelemetry collector; its builder fetches and compiles it in some minutes.
$(BIN)/otelcol: go-present
	$(GO) run go.opentelemetry.io/collector/cmd/builder@$(OTEL_VERSION) --config .ci/otelcol.yml
	mv $(BIN)/otelcol.build/otelcol $@ && rm -r $(BIN)/otelcol.build

vuln: go-present
	$(GO) run golang.org/x/vuln/cmd/govulncheck@$(VULN_VERSION) $(PKGS)

dist: go-present
	$(GO) run ./cmd/internal/dist -out $(BIN)/dist

dist-check: dist
	@GO='$(GO)' .ci/dist $(BIN)/dist

site: go-present
	$(GO) run ./cmd/internal/site -out $(BIN)/site

bench: build
	@$(GO) run ./cmd/internal/bench -sma $(BIN)/sma -harness '$(abspath $(BENCH_DIR))' -runs '$(BENCH_RUNS)' -json '$(BENCH_JSON)'

longchat: go-present
	LONGCHAT_TURNS=$(or $(LONGCHAT_TURNS),100000) LONGCHAT_COMPACTION='$(LONGCHAT_COMPACTION)' $(GO) test -v -timeout 60m -run TestLongChat ./cmd/internal/longchat

recorded: go-present
	@GO='$(GO)' .ci/recorded '$(BASE)'

fuzz: go-present
	@GO='$(GO)' .ci/fuzz $(FUZZTIME) $(FUZZ)

soak: build
	@GO='$(GO)' BENCH_DIR='$(abspath $(BENCH_DIR))' SOAK_TIME='$(SOAK_TIME)' .ci/soak $(FUZZ)

soak-short:
	@$(MAKE) --no-print-directory soak SOAK_TIME=5m
