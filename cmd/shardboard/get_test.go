package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shardboard/internal/api"
	"shardboard/internal/app"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/sheet"
)

// shownByCluster are command lines that need no server.
var shownByCluster = []string{"shards", "shards/shard-rs-1", "collections", "collection yorkie-meta.documents",
	"chunks yorkie-meta.documents", "chunks", "chunks --shard shard-rs-1 --internal",
	"chunks yorkie-meta.changes --sort bytes --shard shard-rs-2", "projects", "project atlas-board", "projects --q atlas", "zones",
	"activity --kind move",
	"map", "matrix", "matrix --by projects", "layout", "moves", "failures", "shard-why shard-rs-1", "locate atlas-board"}

// TestServerAndClusterGiveTheSameAnswer asks both, and compares all but the times at which they read.
func TestServerAndClusterGiveTheSameAnswer(t *testing.T) {
	only.Long(t, "starts a server")
	uri := startCluster(t)
	server := startServerOver(t, uri)
	wait := time.Now().Add(20 * time.Second)
	for !everySizeKnown(t, server) {
		must.That(t, !time.Now().After(wait), "the server has no sizes")
		time.Sleep(50 * time.Millisecond)
	}
	for _, words := range shownByCluster {
		for _, output := range []string{"json", "csv", "table"} {
			args := append(strings.Fields(words), "--output", output)
			if args[0] != "locate" {
				args = append([]string{"get"}, args...)
			}
			code, ofServer, errs := shardboard(t, append(args, "--server", server)...)
			if output == "csv" && code == 2 && strings.Contains(errs, "no CSV") {
				continue
			}
			codeToo, ofCluster, errsToo := shardboard(t, append(args, "--uri", uri)...)
			if code != 0 || codeToo != 0 {
				t.Errorf("%s: exit %d and %d: %s%s", words, code, codeToo, errs, errsToo)
				continue
			}
			if output == "json" {
				expect.Equal(t, cmp.Diff(timeless(t, ofServer), timeless(t, ofCluster)), "", "%s as JSON, -server +cluster:\n", words)
			} else if a, b := linesOf(ofServer), linesOf(ofCluster); a != b ||
				a < 2 && words != "zones" && words != "failures" {
				t.Errorf("%s as %s: %d and %d lines", words, output, a, b)
			}
		}
	}
}

// linesOf counts lines without who answers, which only a server knows.
func linesOf(text string) int {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		member := strings.HasPrefix(line, "ADDRESS ") || strings.HasPrefix(line, "127.0.0.1:") || line == "none"
		return member || strings.HasPrefix(line, "answering.")
	})
	return len(lines)
}

func everySizeKnown(t *testing.T, server string) bool {
	for _, c := range getJSON[api.List[api.Collection]](t, server, "get", "collections").Items {
		if c.Bytes.Value == nil {
			return false
		}
	}
	return true
}

// getJSON runs a command with JSON as its output.
func getJSON[T any](t *testing.T, server string, args ...string) (v T) {
	t.Helper()
	code, out, errs := shardboard(t, append(args, "--output", "json", "--server", server)...)
	err := json.Unmarshal([]byte(out), &v)
	must.That(t, code == 0 && err == nil, "%v: exit %d, %v: %s", args, code, err, errs)
	return v
}

// timeless is JSON without when it was read, what numbers the tables of a process, and what only a server
// knows: writes and reads, moves under way, who answers, forms.
func timeless(t *testing.T, text string) any {
	t.Helper()
	var v any
	must.Do(t, json.Unmarshal([]byte(text), &v))
	var strip func(any)
	strip = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if _, shard := v["operations"]; shard {
				delete(v, "writes")
			}
			for _, name := range []string{"asOf", "at", "jumboAsOf", "ageSeconds", "seq", "since", "readAt", "writesPerSecond", "heat", "movingMore",
				"age", "url", "answering", "configServers", "ticket", "operations", "writeShare", "readsPerSecond", "readMillis"} {
				delete(v, name)
			}
			if v["publicKey"] != nil { // estimated from samples, and counted
				delete(v, "bytes")
				delete(v, "writes")
			}
			if _, band := v["unsharded"]; band || v["total"] != nil {
				delete(v, "version")
			}
			for _, inner := range v {
				strip(inner)
			}
		case []any:
			for _, inner := range v {
				strip(inner)
			}
		}
	}
	strip(v)
	return v
}

// An address of a cluster comes first where it is on the command line, and a server where both are in the
// environment.
func TestTheCommandLineSaysWhoIsAsked(t *testing.T) {
	for _, tc := range []struct {
		flags  sourceFlags
		given  string
		direct bool
		code   int
	}{
		{sourceFlags{}, "", false, 0},
		{sourceFlags{Server: "http://x"}, "", false, 0},
		{sourceFlags{clusterFlags: clusterFlags{URI: "mongodb://x"}}, "", true, 0},
		{sourceFlags{Server: "http://x", clusterFlags: clusterFlags{URI: "mongodb://x"}}, "", false, 0},
		{sourceFlags{Server: "http://x", clusterFlags: clusterFlags{URI: "mongodb://x"}}, "uri", true, 0},
		{sourceFlags{Server: "http://x", clusterFlags: clusterFlags{URIFile: "x"}}, "uri-file", true, 0},
		{sourceFlags{Server: "http://x", clusterFlags: clusterFlags{URI: "mongodb://x"}}, "uri server", false, 2},
	} {
		e := &env{flags: map[string]bool{}}
		for flag := range strings.FieldsSeq(tc.given) {
			e.flags[flag] = true
		}
		direct, err := tc.flags.isDirect(e)
		expect.That(t, direct == tc.direct && (err != nil) == (tc.code != 0) && (err == nil || fault.Of(err).ExitCode() == tc.code),
			"%+v, given %q: %t, %v", tc.flags, tc.given, direct, err)
	}
	env := withAddress([]string{"A=b", "SHARDBOARD_SERVER=http://x", "SHARDBOARD_URI=old"}, "SHARDBOARD_URI", "mongodb://u:p@h")
	expect.That(t, slices.Equal(env, []string{"A=b", "SHARDBOARD_URI=mongodb://u:p@h"}), "%v", env)
}

func TestGetRefusesWhatDoesNotGoTogether(t *testing.T) {
	for _, tc := range []struct {
		says string
		args []string
	}{
		{"Writes are counted over time, so only a running server knows this", []string{"heat", "--uri", "mongodb://127.0.0.1:1"}},
		{"not both", []string{"shards", "--uri", "mongodb://127.0.0.1:1", "--server", "http://127.0.0.1:1"}},
		{"--limit or --all", []string{"shards", "--limit", "1", "--all"}},
		{"must not be negative", []string{"shards", "--limit=-1"}},
		{"at least 500ms", []string{"shards", "--watch", "--interval", "1ms"}},
		{"no CSV of one object", []string{"shard", "x", "--output", "csv"}},
		{"--sort goes with get chunks NS,", []string{"chunk", "a.b", "x", "--sort", "bytes"}},
		{"--sort goes with get chunks NS,", []string{"chunks", "--sort", "bytes"}},
		{"--project goes with get chunks,", []string{"chunks", "a.b", "--project", "x"}},
		{"--since or --from", []string{"activity", "--since", "1h", "--from", "2026-01-01T00:00:00Z"}},
		{"must be one of", []string{"heat", "planets"}},
		{"<name>", []string{"shard-why"}},
	} {
		says(t, 2, tc.says, append([]string{"get"}, tc.args...)...)
	}
}

func TestNamesOfObjectsCanFollowASlash(t *testing.T) {
	for text, want := range map[string]string{
		"get shards/shard-1":                  "get|shards|shard-1",
		"get -o json shard/a":                 "get|-o|json|shard|a",
		"get chunks/app.a/b/uuid.ref":         "get|chunks|app.a/b|uuid.ref",
		"get collections/app.a/b":             "get|collections|app.a/b",
		"get --uri mongodb://h/x shards":      "get|--uri|mongodb://h/x|shards",
		"get shards --uri-file shards/secret": "get|shards|--uri-file|shards/secret",
		"get --uri-file runs/x -w shards/a":   "get|--uri-file|runs/x|-w|shards|a",
		"plan split --ns shards/a":            "plan|split|--ns|shards/a",
	} {
		expect.Equal(t, strings.Join(withNames(strings.Fields(text)), "|"), want, "%s", text)
	}
}

// What the API writes comes out as it is, whatever fields a newer server has: only white space differs, and characters
// that could control a terminal are escaped.
func TestJSONIsExactlyThatOfTheAPI(t *testing.T) {
	list := `{"items":[{"name":"a","n":1.50,"big":9007199254740993,"x":{"b":1,"a":[]}},{"name":"\u001b[2J<>&"}],` +
		`"next":null,"asOf":"2026-03-01T12:00:00Z","stale":false,"newer":{"z":null}}`
	object := `{"clusterId":"c","n":1e3,"newer":[{"a":"é"}]}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/cluster") {
			_, _ = io.WriteString(w, object)
			return
		}
		_, _ = io.WriteString(w, list)
	}))
	defer s.Close()
	for what, want := range map[string]string{"shards": list, "cluster": object, "activity": list, "chunks a.b": list} {
		args := append(append([]string{"get"}, strings.Fields(what)...), "--output", "json", "--server", s.URL)
		code, out, errs := shardboard(t, args...)
		var got bytes.Buffer
		if err := json.Compact(&got, []byte(out)); code != 0 || err != nil || got.String() != want {
			t.Errorf("get %s: exit %d, %s\n%s, want\n%s", what, code, errs, got.String(), want)
		}
	}
}

func TestALongListIsReadToItsEnd(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		var items []string
		next := "null"
		for i := from; i < min(from+limit, 2500); i++ {
			items = append(items, fmt.Sprintf(`{"ns":"a.b","ref":"%d","shard":"s"}`, i))
		}
		if from+limit < 2500 {
			next = fmt.Sprintf(`"%d"`, from+limit)
		}
		if strings.HasSuffix(r.URL.Path, "/chunks") {
			asked++
		}
		_, _ = fmt.Fprintf(w, `{"items":[%s],"next":%s,"asOf":"2026-03-01T12:00:00Z","stale":false,"hidden":7}`,
			strings.Join(items, ","), next)
	}))
	defer s.Close()
	for output, want := range map[string]int{"csv": 2501, "table": 2501} {
		code, out, _ := shardboard(t, "get", "chunks", "--output", output, "--server", s.URL)
		if lines := strings.Count(out, "\n"); code != 0 || lines != want || asked != 3 {
			t.Errorf("%s: exit %d, %d lines of %d requests, want %d", output, code, lines, asked, want)
		}
		asked = 0
	}
	code, out, _ := shardboard(t, "get", "chunks", "--output", "json", "--limit", "1200", "--server", s.URL)
	var list api.ClusterChunks
	err := json.Unmarshal([]byte(out), &list)
	expect.That(t, err == nil && code == 0 && len(list.Items) == 1200 && list.Next == "1200" && list.Hidden == 7,
		"exit %d, %v: %d items, next %q", code, err, len(list.Items), list.Next)
}

func TestLocateSaysThatItsAnswerIsOld(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"items":[],"input":[],"anatomy":[],"asOf":"2026-03-01T12:00:00Z","stale":true}`)
	}))
	defer s.Close()
	_, _, errs := shardboard(t, "locate", "x", "--server", s.URL)
	expect.That(t, strings.Contains(errs, "Stale: last read ") && strings.Contains(errs, "2026-03-01T12:00:00Z"), "said %q", errs)
}

// Without the name of one, a server of several clusters asks all.
func TestLocateShowsWhatEachOfSeveralClustersAnswers(t *testing.T) {
	found := `{"name":"prod","title":"Production","url":"","state":"found","text":"","stale":true,"asOf":"2026-03-01T12:00:00Z",` +
		`"found":[{"kind":"project","id":"p1","name":"atlas","project":"atlas","shards":["a"],"answer":"All of it is on a.","url":""}]}`
	missing := `{"name":"dev","title":"dev","url":"","state":"notFound","text":"No project is called x.","found":[],"stale":false,"asOf":null}`
	silent := strings.NewReplacer("dev", "qa", "notFound", "unreachable").Replace(missing)
	for name, c := range map[string]struct {
		items string
		code  int
		says  []string
	}{
		"found": {found + "," + missing, 0, []string{"cluster prod  Production\n  project p1  atlas\n  All of it is on a.\n  Stale: ",
			"cluster dev\n  No project is called x.\n"}},
		"nowhere":   {missing, 3, []string{"cluster dev\n", "None of these clusters has it."}},
		"not known": {missing + "," + silent, 6, []string{"cluster qa\n", "not every cluster answers"}},
		"none":      {"", 3, []string{"None of these clusters has it."}},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"items":[`+c.items+`],"next":null,"asOf":"2026-03-01T12:00:00Z","stale":false}`)
		}))
		code, out, errs := shardboard(t, "locate", "x", "--server", s.URL)
		expect.Equal(t, code, c.code, "%s: %s", name, errs)
		expect.ContainsAll(t, out+errs, c.says, "%s", name)
		_, csv, _ := shardboard(t, "locate", "x", "--server", s.URL, "--output", "csv")
		expect.Equal(t, strings.Count(csv, "\n"), 1+strings.Count(c.items, `"state"`), "%s: rows of %s", name, csv)
		s.Close()
	}
}

// A server that names a page again would make the list endless.
func TestAListWhosePagesRepeatIsEnded(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		next := map[string]string{"": "a", "a": "b", "b": "a"}[r.URL.Query().Get("cursor")]
		_, _ = fmt.Fprintf(w, `{"items":[{"ns":"a.b","ref":"1","shard":"s"}],"next":%q,"asOf":"2026-03-01T12:00:00Z","stale":false}`, next)
	}))
	defer s.Close()
	code, _, errs := shardboard(t, "get", "chunks", "--output", "csv", "--server", s.URL)
	expect.That(t, code != 0 && strings.Contains(errs, "again and again"), "exit %d: %s", code, errs)
}

// What a redirect leads to may be another server, which is well.
func TestHealthcheckFollowsNoRedirect(t *testing.T) {
	well := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer well.Close()
	s := httptest.NewServer(http.RedirectHandler(well.URL, http.StatusFound))
	defer s.Close()
	code, _, errs := shardboard(t, "healthcheck", "--server", s.URL)
	expect.That(t, code != 0 && strings.Contains(errs, "302"), "exit %d: %s", code, errs)
}

// TestEveryQuestionOfTheAPICanBeAskedByGet compares the table of resources with the route table, both ways.
func TestEveryQuestionOfTheAPICanBeAskedByGet(t *testing.T) {
	shown := map[string]bool{}
	for _, r := range resources() {
		for _, path := range append(r.lists(), r.part, r.one) {
			if path != "" {
				shown[path] = true
			}
		}
	}
	for _, q := range app.Questions() {
		switch reason, out := leftOut[q.Path]; {
		case shown[q.Path] && out:
			t.Errorf("%s is shown, and left out because %s", q.Path, reason)
		case !shown[q.Path] && reason == "":
			t.Errorf("%s has no get, and leftOut gives no reason", q.Path)
		}
		delete(shown, q.Path)
	}
	for path := range shown {
		t.Errorf("the API has no %s", path)
	}
}

func TestTablesHaveColumnsThatExist(t *testing.T) {
	for _, r := range resources() {
		if r.list == "" {
			continue
		}
		q := query{resource: r, question: question(r.lists()[0])}
		names := sheet.ColumnsOf(q.item()).PeopleNames()
		for _, column := range r.columns {
			expect.That(t, slices.Contains(names, column), "get %s: no column %s in %v", r.name, column, names)
		}
		expect.That(t, len(r.columns) != 0 || len(names) <= 12, "get %s: %d columns; choose some", r.name, len(names))
	}
}

// Each number that is called a size in bytes is shown as one.
func TestSizesHaveTheirUnit(t *testing.T) {
	n := int64(3 << 20)
	figure := api.Figure{Value: &n, Exact: true}
	for _, r := range resources() {
		if r.list == "" {
			continue
		}
		for _, name := range sheet.ColumnsOf((query{resource: r, question: question(r.lists()[0])}).item()).PeopleNames() {
			last := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
			size := strings.HasSuffix(last, "bytes") || strings.Contains(name, "disk.")
			text := sheet.Text(name, reflect.ValueOf(figure))
			expect.Equal(t, strings.HasSuffix(text, "MiB"), size, "%s of %s is shown as %s", name, r.name, text)
		}
	}
}

func TestTablesHaveNoJSON(t *testing.T) {
	advice := api.Advice{Evidence: make([]api.AdviceFigure, 6), Commands: make([]api.AdviceCommand, 2)}
	for _, row := range sheet.ColumnsOf(reflect.TypeFor[api.Advice]()).People().Rows(reflect.ValueOf(advice)) {
		for _, cell := range row {
			expect.That(t, !strings.ContainsAny(cell, "{["), "a cell is %s", cell)
		}
	}
}

func TestColumnsOfEachKindOfHeatExist(t *testing.T) {
	heat := sheet.ColumnsOf(reflect.TypeFor[api.Heat]())
	for _, r := range resources() {
		for by, columns := range r.columnsBy {
			expect.That(t, slices.Contains(r.by, by) && len(heat.People(columns...).Header()) == len(columns),
				"%s by %s: %v", r.name, by, columns)
		}
	}
}

func TestUnknownIsNeverZero(t *testing.T) {
	var chunk api.Chunk
	must.Do(t, json.Unmarshal([]byte(`{"bytes":{"value":null,"reason":"notLoaded"},"documents":{"value":9,"exact":false,"plusMinus":2},"writesPerSecond":null}`), &chunk))
	people := sheet.ColumnsOf(reflect.TypeFor[api.Chunk]()).People("bytes", "documents", "writesPerSecond", "since", "zone")
	got := people.Rows(reflect.ValueOf(chunk))[0]
	want := []string{"unknown", "≈ 9 ± 2", "unknown", "–", "–"}
	expect.That(t, slices.Equal(got, want), "%q, want %q", got, want)
	rate := 3.0
	heat := sheet.ColumnsOf(reflect.TypeFor[api.Heat]()).People("writesPerSecond")
	if got := heat.Rows(reflect.ValueOf(api.Heat{WritesPerSecond: 20, PlusMinus: &rate}))[0][0]; got != "≈ 20.0 ± 3.00" {
		t.Errorf("an estimated rate is %q", got)
	}
	expect.Equal(t, heat.Rows(reflect.ValueOf(api.Heat{WritesPerSecond: 20, AtLeast: true}))[0][0], "≥ 20.0",
		"a lower bound")
}
