# Two commands do all their own set-up: `make demo` and `make test`.
# What each needs (a C compiler for the race detector, Chromium for the browser
# smoke test, curl) is installed by scripts/setup where that is possible, else it says how.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  = -s -w -X main.version=$(VERSION)
TEMPL    = $(GO) tool -modfile=tools/go.mod templ
STATIC   = $(GO) tool -modfile=tools/go.mod staticcheck

.PHONY: build demo storybook test test-all fuzz long bench generate format check-format check-generated vet race unit browser setup clean

build: ## the one binary: bin/shardboard
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/shardboard ./cmd/shardboard

demo: build ## a live dashboard over a simulated sharded cluster full of Yorkie-shaped data
	./bin/shardboard demo

# The race detector's builds share nothing with the others, so they go on beside them:
# where one waits or has a single processor's work left, the other goes on.
storybook: ## every page and component in every state, in both themes: http://127.0.0.1:8091/storybook
	$(GO) run ./cmd/storybook

test: setup check-format check-generated ## what every change must pass, within 8 minutes
	@$(MAKE) --no-print-directory -j2 race unit
	@$(MAKE) --no-print-directory browser

setup:
	@sh scripts/setup

check-format:
	@bad=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go' | grep -v _templ.go)); if [ -n "$$bad" ]; then echo "not gofmt'ed: $$bad"; exit 1; fi

check-generated:
	@sh scripts/check-generated

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
# it sees what is not ordered all the same. The longest begin first.
RACE    = $(GO) test -race -cpu 1
CROWDED = ./internal/actions/enginetest ./internal/app ./internal/cluster ./internal/actions/... ./internal/topology
QUIETER = ./internal/alert ./internal/auth/... ./internal/connlimit ./internal/heat/... \
          ./internal/history ./internal/placement ./internal/store/...
# Of the site: what happens to open pages. Only the folders that have such tests are built: the
# detector's builds take longest.
LIVE    = Live|Socket|Hub|Heat|Storm
LIVE_IN = $(addprefix ./,$(sort $(dir $(shell grep -lE '^func Test\w*($(LIVE))' web/*_test.go web/*/*_test.go))))

# `vet` has looked at all of it, so go test need not again. What takes longest begins
# first: else it runs alone at the end. Some packages wait for the clock most of the
# time, so there are more of them, and more of their tests, at a time than processors.
LONGEST = ./web/... ./internal/actions/enginetest ./internal/app

race:
	$(RACE) -vet=off -short -p 3 -timeout 6m $(CROWDED)
	$(RACE) -vet=off -short -timeout 3m -run '$(LIVE)' $(LIVE_IN)

# After vet, because both compile the same.
unit: vet
	$(GO) test -vet=off -p 3 -parallel 6 -timeout 7m $(LONGEST) ./...

# What people do most; test-all has every browser test.
browser:
	SHARDBOARD_BROWSER=1 $(GO) test -vet=off -count=1 -timeout 4m -run 'BrowserSplits|BrowserSigns|BrowserShowsEveryPage|BrowserSees|BrowserSays|BrowserReadsEvery' ./internal/app/

test-all: setup ## longer runs; within 40 minutes
	sh scripts/setup-node
	cd tools && npx --no-install tsc -p .
	SHARDBOARD_BROWSER=1 $(GO) test -count=1 -timeout 12m -run 'Browser' ./internal/app/
	$(RACE) -short -timeout 6m $(QUIETER)
	$(RACE) -timeout 15m ./internal/simcluster/... ./internal/cluster ./internal/conformance ./web/...
	SHARDBOARD_LONG=1 $(GO) test -timeout 25m $$($(GO) list ./... | grep -v -e /test/ -e /enginetest)
	SHARDBOARD_LONG=1 $(GO) test -timeout 20m -run ChangesArrive ./internal/actions/enginetest
	sh scripts/outside-clients
	$(GO) test -run '^$$' -bench . -benchtime 10x ./...

# Not part of test-all: what a fuzzer finds by chance must not fail a change that
# has nothing to do with it. What it found before is replayed by every test run.
fuzz: ## every fuzz target for a while: make fuzz TIME=5m
	sh scripts/fuzz $(or $(TIME),20s)

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
	rm -rf bin
