// Package shardboard_test holds what is true of the repository as a whole.
package shardboard_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// rooms says which of our packages a room may import in non-test files; docs/architecture.md
// says what each is for. A room's own subfolders are part of it.
var rooms = map[string][]string{
	"cmd/shardboard": {"internal/app", "internal/configfile", "internal/api", "internal/answer", "internal/actions", "internal/sheet",
		"internal/simcluster", "internal/localityid",
		"internal/demodata", "internal/bench"},
	"internal/bench":    {"internal/cluster", "internal/topology", "internal/simcluster"}, // shardboard bench
	"cmd/storybook":     {"web/storybook"},                                                // a development tool
	"internal/app":      {"*"},
	"internal/fault":    {},
	"internal/sanitize": {"-"},                                    // safe text for logs and terminals; everybody's
	"internal/natural":  {"-"},                                    // the order of names; everybody's
	"internal/notify":   {"-"},                                    // wakes subscribers; everybody's
	"internal/clock":    {"-"},                                    // waiting, and clocks that are set back; everybody's
	"internal/memory":   {},                                       // the limit of memory; everybody's
	"internal/format":   {"-"},                                    // numbers, sizes and times for people; everybody's
	"internal/message":  {"internal/format", "internal/sanitize"}, // sentences with typed facts; everybody's
	"internal/fileperm": {"internal/fault", "internal/sanitize"},  // who may use a file; everybody's
	"internal/shardkey": {},
	"internal/lab":      {"internal/shardkey", "internal/localityid"}, // games and predictions over what they are given
	"internal/topology": {"internal/shardkey"},
	"internal/cluster": {"internal/topology", "internal/shardkey", "internal/profile", "internal/placement", "internal/heat",
		"internal/actions/operation", "internal/balance", "internal/mongoclient"}, // it knows no kinds of changes
	"internal/balance":    {"internal/topology", "internal/shardkey"},
	"internal/chunksize":  {"internal/topology", "internal/balance", "internal/shardkey"},
	"internal/profile":    {"internal/topology", "internal/shardkey"},
	"internal/placement":  {"internal/topology", "internal/profile", "internal/balance", "internal/shardkey", "internal/localityid"},
	"internal/localityid": {"-"}, // a format of ids
	// What is sent to a cluster, what proves it, and what is read for it: below the kinds of changes.
	"internal/actions/operation": {"internal/topology", "internal/balance", "internal/shardkey"},
	"internal/actions": {"internal/topology", "internal/placement", "internal/profile", "internal/balance", "internal/shardkey",
		"internal/store", "internal/auth"},
	"internal/connlimit":   {"-"}, // under the HTTP server: knows nothing of what is served
	"internal/doctor":      {"internal/topology", "internal/profile", "internal/actions/operation", "internal/balance"},
	"internal/conformance": {"-"}, // tests only
	"internal/fixture":     {"*"}, // for tests only
	"internal/realcluster": {"-"}, // tests only: processes of others
	"internal/realsuite":   {"-"}, // tests only
	"internal/mongoclient": {},    // options of the driver, and of addresses
	"internal/store":       {"internal/mongoclient"},
	// for tests only
	"internal/store/storetest": {"internal/store", "internal/fixture"},
	"internal/heat": {"internal/placement", "internal/topology", "internal/profile", "internal/balance", "internal/shardkey",
		"internal/store"},
	"internal/rules": {"internal/heat", "internal/placement", "internal/topology", "internal/profile", "internal/balance",
		"internal/shardkey", "internal/store", "internal/history"},
	"internal/outcome": {"internal/actions", "internal/heat", "internal/topology", "internal/profile", "internal/shardkey",
		"internal/store"},
	"internal/alert":      {"internal/store"},
	"internal/history":    {"internal/topology", "internal/shardkey", "internal/store"},
	"internal/auth":       {"internal/store"},
	"internal/configfile": {"internal/auth"},
	"internal/api":        {},
	"internal/simcluster": {"-"}, // not even fault: it is the other side of the wire
	"internal/demodata":   {"internal/simcluster", "internal/mongoclient"},
	"internal/sheet":      {"internal/api"},
	"internal/answer": {"internal/api", "internal/auth", "internal/store", "internal/actions", "internal/heat", "internal/rules",
		"internal/alert", "internal/history", "internal/outcome", "internal/balance", "internal/chunksize", "internal/placement",
		"internal/profile", "internal/shardkey", "internal/topology", "internal/localityid", "internal/lab"},
	"internal/relay": {"internal/store", "internal/auth", "internal/actions", "internal/heat"}, // what only the leader does
	"internal/metrics": {"internal/answer", "internal/actions", "internal/heat", "internal/history", "internal/placement",
		"internal/profile", "internal/rules", "internal/topology"},
	"web":           {"*"}, // wires the rooms below; only tests and package app are above it
	"web/guard":     {"internal/auth", "internal/connlimit", "internal/store", "internal/api"},
	"web/templates": {"static", "internal/api", "internal/answer", "internal/topology"},
	"web/site":      siteMay,
	"web/live":      append([]string{"web/site"}, siteMay...),
	"web/webtest":   {"*"}, // for tests only
	"web/storybook": {"*"}, // for tests and cmd/storybook only
	"test/mongosh":  {"-"}, // tests only
	"static":        {"-"},

	"docs/playbooks": {"-"}, // texts for web/help
	"docs/runbooks":  {"-"}, // likewise
}

// forEveryRoom are the rooms that every room may import that imports anything of ours.
var forEveryRoom = []string{"internal/fault", "internal/sanitize", "internal/natural", "internal/notify", "internal/clock",
	"internal/memory",
	"internal/fileperm",
	"internal/format", "internal/message"}

// siteMay is what the rooms that all subjects share may import.
var siteMay = []string{"web/templates", "web/guard", "static", "internal/answer", "internal/api", "internal/sheet", "internal/auth",
	"internal/store", "internal/actions", "internal/heat", "internal/rules", "internal/alert", "internal/history",
	"internal/connlimit", "internal/placement", "internal/profile", "internal/topology", "internal/lab"}

// everySubject is what each subject of the site may import; not another subject: what two of them draw is in
// templates, what two of them say in answer.
var everySubject = []string{"web/site", "web/templates", "web/guard", "internal/answer", "internal/api", "internal/auth",
	"internal/topology"}

// subjectsMay is what single subjects may import besides.
var subjectsMay = map[string][]string{
	"account":     nil,
	"activity":    {"internal/history"},
	"advice":      {"internal/alert", "internal/rules", "internal/store"},
	"audit":       {"internal/store"},
	"changes":     {"internal/actions", "internal/balance", "internal/rules", "internal/shardkey", "internal/store", "docs/playbooks"},
	"clustermap":  nil,
	"collections": {"internal/shardkey"},
	"find":        {"internal/actions"},
	"fleet":       {"internal/alert", "internal/placement", "internal/rules"},
	"heat":        {"internal/heat", "internal/shardkey"},
	"help":        {"internal/rules", "docs/playbooks", "docs/runbooks"},
	"lab":         {"internal/lab", "internal/placement"},
	"locate":      {"internal/balance", "internal/chunksize", "internal/history", "internal/placement", "internal/shardkey"},
	"matrix":      nil,
	"overview":    {"internal/profile"},
	"projects":    {"internal/heat", "internal/placement", "internal/profile"},
	"shards":      {"internal/history", "internal/sheet"},
	"surveys":     {"internal/heat"},
	"tour":        {"internal/rules"},
	"zones":       {"internal/actions"},
}

// subjects are the rooms of the site that people see: each folder that is not one of those
// above.
func subjects() (out []string) {
	folders, err := os.ReadDir("web")
	if err != nil {
		panic("the architecture test runs in the module's root: " + err.Error())
	}
	for _, f := range folders {
		if _, shared := rooms["web/"+f.Name()]; f.IsDir() && !shared {
			out = append(out, f.Name())
		}
	}
	return out
}

func init() {
	const bson = "go.mongodb.org/mongo-driver/v2/bson" // ids and keys in addresses and answers
	for _, s := range subjects() {
		external[bson] = append(external[bson], "web/"+s)
		rooms["web/"+s] = slices.Concat(everySubject, subjectsMay[s])
	}
}

// external says who may import what of others.
var external = map[string][]string{
	// The store has a client of its own, to a database of its own (decision 012). demodata writes only to empty
	// databases. mongoclient has the options that all of them share, and no client.
	"go.mongodb.org/mongo-driver/v2/mongo": {"internal/cluster", "internal/demodata", "internal/mongoclient", "internal/store",
		"internal/realcluster"}, // only tests import realcluster: it adds the shards of its clusters
	"go.mongodb.org/mongo-driver/v2/event": {"internal/cluster", "internal/fixture"},
	"go.mongodb.org/mongo-driver/v2/bson": {"internal/shardkey", "internal/topology", "internal/cluster", "internal/profile",
		"internal/placement", "internal/balance", "internal/api", "internal/simcluster", "internal/bench",
		"internal/actions", "internal/actions/operation", "internal/heat", "internal/rules", "internal/history", "internal/outcome",
		"internal/answer", "internal/store", "internal/lab", "web", "web/site", "web/live",
		"web/templates", "web/webtest", "web/storybook", "internal/demodata", "internal/realcluster", "internal/fixture"},
	"github.com/gorilla/websocket":            {"web/live", "web/webtest"},
	"modernc.org/sqlite":                      {"internal/store"},
	"github.com/coreos/go-oidc":               {"internal/auth"},
	"github.com/alexedwards/argon2id":         {"internal/auth"},
	"golang.org/x/oauth2":                     {"internal/auth"},
	"go.yaml.in/yaml":                         {"internal/profile", "internal/alert", "internal/configfile"},
	"github.com/tdewolff/minify":              {"static"},
	"github.com/yuin/goldmark":                {"web/help"},
	"go.mongodb.org/mongo-driver/v2/x":        {},
	"go.mongodb.org/mongo-driver/v2/internal": {},
}

type pkg struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	must.That(t, err == nil, "go list: %v", err)
	var all []pkg
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for dec.More() {
		var p pkg
		must.Do(t, dec.Decode(&p))
		all = append(all, p)
	}
	must.That(t, len(all) >= len(rooms), "%d packages in %d rooms", len(all), len(rooms))
	return all
}

// roomOf is the longest room that the path is in; "" if none.
func roomOf(path string) string {
	best := ""
	for room := range rooms {
		if (path == room || strings.HasPrefix(path, room+"/")) && len(room) > len(best) {
			best = room
		}
	}
	return best
}

func TestPackagesImportOnlyWhatTheirRoomMay(t *testing.T) {
	for _, p := range packages(t) {
		path := strings.TrimPrefix(p.ImportPath, "shardboard/")
		if p.ImportPath == "shardboard" {
			continue // this test's own
		}
		room := roomOf(path)
		if room == "" {
			t.Errorf("%s is in no room of the table", path)
			continue
		}
		for _, imp := range p.Imports {
			if ours, ok := strings.CutPrefix(imp, "shardboard/"); ok {
				expect.That(t, allowed(room, roomOf(ours)), "%s imports %s: %s may not", path, ours, room)
				continue
			}
			for prefix, who := range external {
				if (imp == prefix || strings.HasPrefix(imp, prefix+"/")) && !slices.Contains(who, room) {
					t.Errorf("%s imports %s: only %v may", path, imp, who)
				}
			}
		}
	}
}

func allowed(room, target string) bool {
	may := rooms[room]
	switch {
	case room == target, slices.Contains(may, "*"), slices.Contains(may, target):
		return true
	case target == "internal/actions/operation": // who knows the changes knows what they are made of
		return room == "internal/actions" || slices.Contains(may, "internal/actions")
	case slices.Contains(forEveryRoom, target):
		return !slices.Contains(may, "-")
	}
	return false
}

// A room that the page does not explain is found by nobody, and one that is gone misleads.
func TestTheArchitecturePageNamesEveryRoom(t *testing.T) {
	page := must.Get(os.ReadFile("docs/architecture.md"))
	for room, may := range rooms {
		isSubject := strings.HasPrefix(room, "web/") && slices.Contains(may, "web/site") // these are one line
		if !isSubject && !strings.Contains(string(page), "`"+room+"`") {
			t.Errorf("docs/architecture.md does not name %s", room)
		}
	}
	for _, m := range regexp.MustCompile("`((?:internal|cmd|test|tools)/[\\w/]+)`").FindAllStringSubmatch(string(page), -1) {
		expect.NoError(t, must.Err(os.Stat(m[1])), "docs/architecture.md names %s, which is not there", m[1])
	}
}

// TestPackagesForTestsAreImportedByTestsOnly keeps fixtures and suites out of the program.
func TestPackagesForTestsAreImportedByTestsOnly(t *testing.T) {
	forTests := []string{"web/webtest", "web/storybook", "cmd/storybook", "internal/conformance", "internal/store/storetest",
		"internal/actions/enginetest", "internal/fixture/change", "internal/fixture/expect", "internal/fixture/must", "internal/fixture/only",
		"internal/fixture/proxyenv", "internal/fixture/refused", "internal/fixture/routing", "internal/fixture/simulated",
		"internal/simcluster/replay", "internal/realcluster", "internal/realsuite"}
	for _, p := range packages(t) {
		path := strings.TrimPrefix(p.ImportPath, "shardboard/")
		for _, imp := range p.Imports {
			if slices.Contains(forTests, strings.TrimPrefix(imp, "shardboard/")) && !slices.Contains(forTests, path) {
				t.Errorf("%s imports %s, which is for tests only", path, imp)
			}
		}
	}
}

// Where tests in a package's own name stand beside others that import packages above it, all of those are compiled once
// more for them. A few small tests made a third of all compiling so.
func TestTestsCompileFewPackagesOnceMore(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-test", "-f", "{{.ForTest}}", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	compiled := map[string]int{}
	for tested := range strings.FieldsSeq(string(out)) {
		if compiled[tested]++; compiled[tested] == 10 {
			t.Errorf("ten packages are compiled for the tests of %s, and not two: move those in its own name out of it, "+
				"or those that import packages above it up", tested)
		}
	}
	if len(compiled) == 0 {
		t.Error("go list names no tests")
	}
}

func TestGorillaIsImportedByOneFile(t *testing.T) {
	var who []string
	for _, file := range handWritten(t, ".go") {
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "web/webtest/") {
			continue
		}
		b := must.Get(os.ReadFile(file))
		if strings.Contains(string(b), `"github.com/gorilla/websocket"`) {
			who = append(who, file)
		}
	}
	if !slices.Equal(who, []string{"web/live/websocket.go"}) {
		t.Errorf("gorilla/websocket is imported by %v, want web/live/websocket.go alone", who)
	}
}

func TestDockerfileBuildStepsWorkInAFolder(t *testing.T) {
	if testing.Short() || os.Getenv("SHARDBOARD_LONG") == "" {
		t.Skip("builds the binary from a copy: with SHARDBOARD_LONG=1")
	}
	steps := dockerRuns(t)
	must.That(t, len(steps) >= 2, "the Dockerfile has %d RUN steps", len(steps))
	dir := t.TempDir()
	files, err := exec.Command("git", "ls-files", "-co", "--exclude-standard").Output()
	must.That(t, err == nil, "list the files of the git checkout: %v", err)
	for _, f := range strings.Fields(string(files)) {
		copyFile(t, f, dir+"/src/"+f)
	}
	for _, step := range steps {
		cmd := exec.Command("sh", "-ec", strings.ReplaceAll(step, "/out/", dir+"/out/"))
		cmd.Dir = dir + "/src"
		cmd.Env = append(os.Environ(), "VERSION=docker-test")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("RUN %s: %v\n%s", step, err, out)
		}
	}
	out, err := exec.Command(dir+"/out/shardboard", "version").Output()
	expect.That(t, err == nil && strings.Contains(string(out), "docker-test"), "the built binary says %q, %v", out, err)
}

// dockerRuns are the commands of the Dockerfile's RUN lines, in order.
func dockerRuns(t *testing.T) []string {
	b := must.Get(os.ReadFile("Dockerfile"))
	var runs []string
	for _, line := range strings.Split(strings.ReplaceAll(string(b), "\\\n", ""), "\n") {
		if cmd, ok := strings.CutPrefix(line, "RUN "); ok {
			runs = append(runs, cmd)
		}
	}
	return runs
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		return // deleted in the work tree
	}
	must.Do(t, os.MkdirAll(to[:strings.LastIndex(to, "/")], 0o755))
	must.Do(t, os.WriteFile(to, b, 0o644))
}

// TestOperationsAreDecidedByTheirRows keeps what an operation means in its row, in internal/actions/operation.
func TestOperationsAreDecidedByTheirRows(t *testing.T) {
	may := []string{
		"internal/actions/operation/operation.go",     // what sends nothing
		"internal/actions/undo.go",                    // the two switches of the balancer
		"internal/actions/whole_move_abort.go",        // two kinds that are planned as one
		"internal/actions/engine/plan_differences.go", // plans of an earlier release
		"internal/actions/engine/read_facts.go",       // a command that hangs on one release
		"internal/answer/changing/run_steps.go",       // what sends nothing
		"web/changes/resharding.go",                   // which kind aborts what is shown
		"web/webtest/actions.go",                      // for tests
	}
	decides := regexp.MustCompile(`(case [^:\n]*|[=!]= )(operation\.)?Op[A-Z][A-Za-z]*\b`)
	var found []string
	for _, file := range handWritten(t, ".go") {
		code := must.Get(os.ReadFile(file))
		if !strings.HasSuffix(file, "_test.go") && !strings.HasPrefix(file, "internal/simcluster/") && decides.Match(code) {
			found = append(found, file)
		}
	}
	slices.Sort(may)
	slices.Sort(found)
	expect.That(t, slices.Equal(found, may), "%v decide by an operation, and only %v may: ask its row", found, may)
}

// TestNoTemplateReadsARoutingTable keeps what is computed of a table in Go files, which tests can call.
func TestNoTemplateReadsARoutingTable(t *testing.T) {
	for _, file := range handWritten(t, ".templ") {
		text := must.Get(os.ReadFile(file))
		if regexp.MustCompile(`\.Table\b`).Match(text) {
			t.Errorf("%s reads a routing table: ask a method of the page for what it shows", file)
		}
	}
}
