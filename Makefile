# Two commands do all their own set-up: `make demo` and `make test`.
# What each needs (a C compiler for the race detector, Chromium for the browser
# smoke test, curl) is installed by scripts/setup where that is possible, else it says how.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  = -s -w -X main.version=$(VERSION)
TEMPL    = $(GO) tool -modfile=tools/go.mod templ
STATIC   = $(GO) tool -modfile=tools/go.mod staticcheck

# Compiled packages are the same in every clone, so the build cache serves them all, and have no tables for debuggers, which
# are a sixth of the time of compiling. Most of what compilers and tests allocate is garbage at once: collecting it seldom
# saves a fifth of their time, and the limit keeps what is large small.
export GOFLAGS    := $(strip $(shell $(GO) env GOFLAGS) -trimpath -gcflags=all=-dwarf=false)
export GOGC       ?= 800
export GOMEMLIMIT ?= 3GiB

# Nothing of ours is C. What is tested is compiled as it is shipped, so both come from the build cache.
export CGO_ENABLED = 0

# Properties are tried with the same cases in every run, so that no run fails by chance: `make fuzz` tries others.
export RAPID_SEED ?= 1

.PHONY: build release demo storybook test setup check-format check-generated vet unit browser test-all types staticcheck whole race \
	browser-all outside packaging fuzz long bench generate tables format clean

build: ## the one binary: bin/shardboard
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/shardboard ./cmd/shardboard

release: ## archives, bills of materials, the container image, the Helm chart and checksums: dist/
	sh scripts/release

demo: build ## a live dashboard over a simulated sharded cluster full of Yorkie-shaped data
	./bin/shardboard demo

storybook: ## every page and component in every state, in both themes: http://127.0.0.1:8091/storybook
	$(GO) run ./cmd/storybook

test: setup check-format check-generated ## what every change must pass, within 4 minutes
	@if $(GO) mod download >/dev/null 2>&1; then $(MAKE) --no-print-directory vet && $(MAKE) --no-print-directory -j2 unit browser; fi

# What is missing is said, and left out; with SHARDBOARD_REQUIRE_ALL=1, as in CI, it is an error.
setup:
	@sh scripts/setup

check-format:
	@bad=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go' | grep -v _templ.go)); if [ -n "$$bad" ]; then echo "not gofmt'ed: $$bad"; exit 1; fi

check-generated:
	@sh scripts/check-generated

vet:
	$(GO) vet ./...

# `vet` has looked at all of it, so go test need not again. What takes longest begins first: else it runs alone at the end.
# Some packages wait for the clock, so there are more of them, and more of their tests, at a time than processors.
# Nobody debugs these binaries, and without tables for debuggers they are linked in half the time.
TEST = $(GO) test -vet=off -ldflags='-s -w' -p 3 -parallel 6
LONGEST = $(addprefix shardboard/,web internal/app cmd/shardboard internal/actions/enginetest internal/realsuite)

unit:
	$(TEST) -short -timeout 8m $(LONGEST) $(filter-out $(LONGEST),$(shell $(GO) list ./...))

# A handful of what people do most; test-all has every journey.
browser:
	SHARDBOARD_BROWSER=1 $(TEST) -short -count=1 -timeout 4m -run '^TestBrowserJourney' ./internal/app/

# Each package once with its long tests; where many goroutines meet, in short form under the race detector too, which takes
# fifteen times as long.
test-all: setup ## longer runs, within 22 minutes
	sh scripts/setup-node
	$(MAKE) --no-print-directory types staticcheck
	$(MAKE) --no-print-directory -j2 --output-sync=target browser-all whole outside race packaging

types:
	tools/node_modules/.bin/tsc -p tools

staticcheck:
	$(STATIC) ./...

RACED = $(addprefix shardboard/,internal/actions/engine internal/cluster internal/topology web/live) \
        $(shell $(GO) list ./internal/store/...)

whole:
	SHARDBOARD_LONG=1 $(TEST) -timeout 40m $(LONGEST) \
		$(filter-out $(LONGEST) shardboard/test/%,$(shell $(GO) list ./...))

# On one processor each (-cpu 1): two threads that fire timers of one synctest bubble crash the detector itself
# (golang/go#78156), and it sees what is not ordered all the same. SQLite, which is C made into Go, is compiled without the
# detector: it is not ours, its memory is its own, and it was more than half of the time of tests with a data directory.
race:
	CGO_ENABLED=1 $(TEST) -short -race -cpu 1 -gcflags=modernc.org/sqlite/lib=-race=false -timeout 15m $(RACED)

# Those that wait for a browser or another program run beside those that compute.
outside:
	sh scripts/outside-clients

packaging:
	sh scripts/packaging

browser-all:
	SHARDBOARD_BROWSER=1 $(TEST) -count=1 -timeout 30m -run '^TestBrowser' ./internal/app/

# Not part of test-all: what a fuzzer finds by chance must not fail a change that
# has nothing to do with it. What it found before is replayed by every test run.
fuzz: ## every fuzz target for a while: make fuzz TIME=5m
	sh scripts/fuzz $(or $(TIME),20s)

# Real clusters of every release in MONGODB_BIN, or of MONGODB_IMAGE; without either it says what is missing.
.PHONY: test-real record
test-real: ## the suite on real MongoDB servers: make test-real MONGODB_BIN=dir FORM=whole
	@MONGODB_BIN='$(MONGODB_BIN)' MONGODB_IMAGE='$(MONGODB_IMAGE)' FORM='$(FORM)' RUN='$(RUN)' sh scripts/test-real

record: ## a seeded walk on a real cluster as a recording: make record MONGODB_BIN=dir SEED=9 TO=walk-9.jsonl
	@MONGODB_BIN='$(MONGODB_BIN)' SEED='$(SEED)' TO='$(TO)' sh scripts/record

long: setup ## what takes hours; output goes to dist/long-runs.md
	sh scripts/long

bench: ## figures, as ratios within one run where two things are compared
	$(GO) test -run '^$$' -bench . -benchmem ./...

generate: ## templ components
	$(TEMPL) generate

tables: ## the tables in docs/ of commands, settings, changes, problems and metrics; make test says when they are out of date
	$(GO) test -vet=off -run 'ThePageOfTheCommandLine|TheTableOfSettings' ./cmd/shardboard -update
	$(GO) test -vet=off -run DocumentTables ./internal/actions -update
	$(GO) test -vet=off -run EachRuleHasAFile ./internal/rules -update
	$(GO) test -vet=off -run TheDocumentListsEveryMetric ./internal/metrics -update
	SHARDBOARD_UPDATE=1 $(GO) test -vet=off -run MetricsOfARunningServer ./internal/app

format:
	gofmt -w $$(git ls-files -co --exclude-standard '*.go' | grep -v _templ.go)
	$(TEMPL) fmt web

clean:
	rm -rf bin dist
