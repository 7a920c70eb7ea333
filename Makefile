# Two commands do all their own set-up: `make demo` and `make test`.
# What each needs (a C compiler for the race detector, Chromium for the browser
# smoke test, curl) is installed by scripts/setup where that is possible, else it says how.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  = -s -w -X main.version=$(VERSION)
TEMPL    = $(GO) tool -modfile=tools/go.mod templ
STATIC   = $(GO) tool -modfile=tools/go.mod staticcheck

.PHONY: build release demo storybook test test-all fuzz long bench generate format check-format check-generated types vet race unit browser setup clean

build: ## the one binary: bin/shardboard
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/shardboard ./cmd/shardboard

release: ## archives, bills of materials, the container image, the Helm chart and checksums: dist/
	sh scripts/release

demo: build ## a live dashboard over a simulated sharded cluster full of Yorkie-shaped data
	./bin/shardboard demo

storybook: ## every page and component in every state, in both themes: http://127.0.0.1:8091/storybook
	$(GO) run ./cmd/storybook

# The race detector's builds share nothing with the others, so they go on beside them:
# where one waits or has a single processor's work left, the other goes on.
test: setup check-format check-generated types ## what every change must pass, within 8 minutes
	@$(MAKE) --no-print-directory -j2 race unit
	@$(MAKE) --no-print-directory browser

setup:
	@sh scripts/setup

check-format:
	@bad=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go' | grep -v _templ.go)); if [ -n "$$bad" ]; then echo "not gofmt'ed: $$bad"; exit 1; fi

check-generated:
	@sh scripts/check-generated

# Where the type checker is installed, as test-all does.
types:
	@if [ -x tools/node_modules/.bin/tsc ]; then tools/node_modules/.bin/tsc -p tools; else \
		echo "types of scripts are not checked: sh scripts/setup-node installs the type checker"; fi

# Most of what tests allocate is garbage at once, so collecting it seldom saves a
# fifth of their time. The limit keeps what is large from growing as far.
vet race unit browser: export GOGC = 800
vet race unit browser: export GOMEMLIMIT = 3GiB

vet:
	$(GO) vet ./...
	$(STATIC) ./...

# What runs most at once is tested under the race detector too, here without its long
# tests; the rest follows in test-all. On one processor each (-cpu 1): two threads that
# fire timers of one synctest bubble crash the detector itself (golang/go#78156), and
# it sees what is not ordered all the same. The longest begin first. SQLite, which is C
# made into Go, is compiled without the detector: it is not ours, its memory is its own,
# and it was more than half of the time of tests with a data directory.
RACE    = $(GO) test -race -vet=off -cpu 1 -gcflags=modernc.org/sqlite/lib=-race=false
CROWDED = ./internal/app ./internal/cluster ./internal/actions ./internal/actions/engine ./internal/topology
QUIETER = ./internal/actions/enginetest ./internal/alert ./internal/auth/... ./internal/connlimit ./internal/heat/... \
          ./internal/history ./internal/placement ./internal/store/...
# `vet` has looked at all of it, so go test need not again. What takes longest begins
# first: else it runs alone at the end. Some packages wait for the clock most of the
# time, so there are more of them, and more of their tests, at a time than processors.
# Of some the short form is enough here, because test-all runs them whole; of two, `race`
# runs the short form at the same time.
BRIEF  = $(addprefix shardboard/,web cmd/shardboard internal/actions/enginetest web/storybook internal/simcluster internal/history \
         internal/placement web/changes)
# test-all does not run again what has no longer form: with the same flags, its result is still there.
SAME   = -vet=off -p 3 -parallel 6 -timeout 25m
UNIT   = $(filter-out $(BRIEF) shardboard/internal/app shardboard/internal/cluster,$(shell $(GO) list ./...))

race:
	$(RACE) -short -p 3 -timeout 9m $(CROWDED)

# After vet, because both compile the same.
unit: vet
	$(GO) test -vet=off -short -p 3 -timeout 8m $(BRIEF)
	$(GO) test $(SAME) $(UNIT)

# What people do most; test-all has every browser test.
browser:
	SHARDBOARD_BROWSER=1 $(GO) test -vet=off -count=1 -timeout 4m -run 'BrowserSplits|BrowserSigns|BrowserShowsEveryPage|BrowserSees|BrowserSays|BrowserReadsEvery' ./internal/app/

test-all: setup ## longer runs; within 40 minutes
	sh scripts/setup-node
	$(MAKE) --no-print-directory types
	SHARDBOARD_BROWSER=1 $(GO) test -count=1 -timeout 30m -run 'Browser' ./internal/app/
	$(RACE) -short -timeout 15m $(QUIETER)
	$(RACE) -timeout 15m ./internal/simcluster/... ./internal/conformance
	$(RACE) -short -timeout 15m ./web/...
	SHARDBOARD_LONG=1 $(GO) test $(SAME) $$($(GO) list ./... | grep -v -e /test/ -e /enginetest)
	$(GO) test -vet=off -timeout 20m ./internal/actions/enginetest
	SHARDBOARD_LONG=1 $(GO) test -vet=off -timeout 30m -run ChangesArrive ./internal/actions/enginetest
	sh scripts/outside-clients
	sh scripts/packaging
	$(GO) test -run '^$$' -bench . -benchtime 10x -timeout 30m ./...

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

long: setup ## what takes hours; output goes to docs/long-runs.md
	sh scripts/long

bench: ## figures, as ratios within one run where two things are compared
	$(GO) test -run '^$$' -bench . -benchmem ./...

generate: ## templ components
	$(TEMPL) generate

format:
	gofmt -w $$(git ls-files -co --exclude-standard '*.go' | grep -v _templ.go)
	$(TEMPL) fmt web

clean:
	rm -rf bin dist
