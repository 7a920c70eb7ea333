package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/sanitize"
	"shardboard/internal/simcluster"
	"shardboard/web"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// outage is a way in which a cluster stops answering, and how it ends.
type outage struct {
	begin, end func(f *webtest.BreakableServer)
	partial    bool // some questions are answered all the same
}

func outages() map[string]outage {
	frozen := func(member string, partial bool) outage {
		return outage{
			func(f *webtest.BreakableServer) { f.Sim.Faults().Freeze(member) },
			func(f *webtest.BreakableServer) { f.Sim.Faults().Heal() },
			partial,
		}
	}
	struck := func(r simcluster.Rule) outage {
		r.At, r.Times = simcluster.Received, -1
		return outage{
			func(f *webtest.BreakableServer) { f.Sim.Faults().Add(r) },
			func(f *webtest.BreakableServer) { f.Sim.Faults().Heal() },
			r.Match != nil,
		}
	}
	of := func(names ...string) func(bson.Raw) bool {
		return func(command bson.Raw) bool {
			return slices.ContainsFunc(names, func(n string) bool { return strings.Contains(command.String(), n) })
		}
	}
	out := map[string]outage{
		"config servers frozen": frozen("config", false),
		"a shard frozen":        frozen("shard-rs-2", true),
		"mongos gone": {
			func(f *webtest.BreakableServer) { f.Line.End(true) },
			func(f *webtest.BreakableServer) { f.Line.End(false) },
			false,
		},
		"mongos silent": {
			func(f *webtest.BreakableServer) { f.Line.Silence(true) },
			func(f *webtest.BreakableServer) { f.Line.Silence(false); f.Line.End(false) },
			false,
		},
		"mongos paused":     struck(simcluster.Rule{Hold: true}),
		"connections break": struck(simcluster.Rule{Cut: true}),
		// What a plan reads after the table, one after the other.
		"only the small reads hang": struck(simcluster.Rule{Hold: true,
			Match: of("$currentOp", "changelog", "migrations", "shards", "settings")}),
	}
	for _, code := range []int32{6, 46, 50, 63, 133, 189, 202, 11600, 11601, 13388} {
		out[fmt.Sprint("every command answers ", code)] = struck(simcluster.Rule{Err: simcluster.Fail(code)})
	}
	return out
}

// question is one request of a site, and whether it cannot be answered without
// the cluster.
type question struct {
	method, path, body string
	page               bool
	needs              bool
	says               string // what it means, in its answer
}

func (q question) String() string { return q.method + " " + sanitize.Truncate(q.path+" "+q.body, 120) }

// questionsTo are all that can be asked of a site while its cluster fails: each
// route of the table, and those that read the cluster in several ways.
func questionsTo(f *webtest.BreakableServer, p api.Plan, undo string) []question {
	project := f.Deps.Cluster.Keeper.Directory().All()[0]
	docs := f.Watcher.Table().Collection("yorkie-meta.documents")
	ref := answer.ChunkRef(docs, docs.Chunks.At(0).Min)
	fill := strings.NewReplacer("/plans/{id}", "/plans/"+p.ID, "/runs/{id}", "/runs/"+undo, "{id}",
		project.ID.Hex(), "{ns}", "yorkie-meta.documents", "{ref}", ref, "{name}", "shard-rs-1", "{survey}", "none",
		"{file}", "none.css")
	var out []question
	for _, rt := range web.Served(f.Deps) {
		path := withSmallModel(fill.Replace(rt.Pattern))
		q := question{method: rt.Method, path: path, page: rt.Tag == site.TagPages}
		switch {
		case rt.Pattern == "/live" || strings.HasPrefix(rt.Pattern, "/login") || rt.Pattern == "/readyz":
			continue
		case rt.Method == http.MethodGet:
			out = append(out, q)
			if strings.HasSuffix(path, "/locate") {
				for text, needs := range map[string]bool{project.Name: false, project.Name + "/doc-1": true, bson.NewObjectID().Hex(): true,
					docID(f): true} {
					for _, more := range []string{"", "&prove=1", "&counts=1", "&why=1&prove=1&counts=1"} {
						out = append(out, question{method: "GET", path: path + "?q=" + url.QueryEscape(text) + more, page: q.page, needs: needs})
					}
				}
				q.path += "?ns=yorkie-meta.changes&counts=1&prove=1&key=" + url.QueryEscape(`{"$oid":"`+docID(f)+`"}`)
				out = append(out, q)
			}
		case strings.HasSuffix(rt.Pattern, "/plans"):
			for kind, args := range plansOf(f, project.ID.Hex(), ref) {
				q.needs, q.says = true, "Nothing was planned"
				q.body = fmt.Sprintf(`{"kind":%q,"args":%s,"reason":"a test"}`, kind, args)
				if q.page {
					q.body = formFor(kind, args)
				}
				out = append(out, q)
			}
		case strings.HasSuffix(rt.Pattern, "/plans/{id}/run"):
			q.needs, q.says, q.body = true, "Nothing was started", fmt.Sprintf(`{"hash":%q}`, p.Hash)
			if q.page {
				q.body = url.Values{"hash": {p.Hash}}.Encode()
			}
			out = append(out, q)
		case strings.HasSuffix(rt.Pattern, "/runs/{id}/undo"):
			q.needs, q.says = true, "Nothing was planned"
			if !q.page {
				q.body = `{}`
			}
			out = append(out, q)
		case strings.HasSuffix(rt.Pattern, "/locate"):
			q.body = `{"lines":["` + project.Name + `/doc-1","` + docID(f) + `"]}`
			out = append(out, q)
		case rt.Pattern == "/locate/bulk":
			q.body = url.Values{"lines": {project.Name + "/doc-1\n" + docID(f)}}.Encode()
			out = append(out, q)
		case strings.HasSuffix(rt.Pattern, "/surveys"):
			q.body = `{"kind":"projects"}`
			if q.page {
				q.body = "kind=projects"
			}
			out = append(out, q)
		case strings.HasSuffix(rt.Pattern, "/checks/duplicates"):
			q.body = `{}`
			if q.page {
				q.body = "do=stop"
			}
			out = append(out, q)
		}
	}
	return out
}

func docID(*webtest.BreakableServer) string { return "65e1c0ffee0000000000abcd" }

// plansOf are arguments of every kind, made of what there is.
func plansOf(f *webtest.BreakableServer, project, ref string) map[actions.Kind]string {
	const ns = `"ns":"yorkie-meta.documents"`
	bounds := `{"project_id":{"$minKey":1},"_id":{"$minKey":1}}`
	return map[actions.Kind]string{
		actions.Split:           `{"ns":"yorkie-meta.changes","at":{"doc_id":{"$numberLong":"7"}}}`,
		actions.SplitProject:    `{"project":"` + project + `"}`,
		actions.Merge:           `{` + ns + `,"bounds":[` + bounds + `,{"project_id":{"$maxKey":1},"_id":{"$maxKey":1}}]}`,
		actions.MoveChunk:       `{` + ns + `,"chunk":"` + ref + `","to":"shard-rs-3"}`,
		actions.Pin:             `{"project":"` + project + `","shard":"shard-rs-2"}`,
		actions.Isolate:         `{"project":"` + project + `","shard":"shard-rs-2"}`,
		actions.Unpin:           `{"project":"` + project + `"}`,
		actions.Spread:          `{"project":"` + project + `"}`,
		actions.ZoneAddShard:    `{"shard":"shard-rs-2","zone":"eu"}`,
		actions.ZoneRemoveShard: `{"shard":"shard-rs-2","zone":"eu"}`,
		actions.ZoneSetRange: `{` + ns + `,"zone":"eu","min":` + bounds + `,"max":{"project_id":{"$oid":"` + project +
			`"},"_id":{"$minKey":1}}}`,
		actions.ZoneRemoveRange:   `{` + ns + `,"min":` + bounds + `,"max":{"project_id":{"$oid":"` + project + `"},"_id":{"$minKey":1}}}`,
		actions.BalancerOn:        `{}`,
		actions.BalancerOff:       `{}`,
		actions.BalancerWindow:    `{"start":"01:00","stop":"05:00"}`,
		actions.BalanceCollection: `{` + ns + `,"on":false}`,
		actions.RefineKey:         `{"ns":"yorkie-meta.documents","key":{"project_id":1,"key":1}}`,
		actions.ClearJumbo:        `{` + ns + `,"chunk":"` + ref + `"}`,
	}
}

// formFor is a page's form with the arguments of a plan.
func formFor(kind actions.Kind, args string) string {
	in := url.Values{"kind": {string(kind)}, "reason": {"a test"}}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(args), &fields); err != nil {
		panic(err)
	}
	for name, value := range fields {
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		in.Set(name, text)
	}
	return in.Encode()
}

// askOne asks once, as an operator of their own: nobody meets a limit.
func askOne(f *webtest.BreakableServer, who string, q question) *httptest.ResponseRecorder {
	return askAs(f, who, auth.Operator, q)
}

const inside = "Something went wrong"

// checkOutageAnswer checks what one request got while the cluster failed.
func checkOutageAnswer(f *webtest.BreakableServer, o outage, name string, q question, w *httptest.ResponseRecorder) {
	f.Helper()
	text := w.Body.String()
	switch {
	case w.Code == http.StatusInternalServerError || w.Code == http.StatusGatewayTimeout:
		f.Errorf("%s, %s: %d %.300s", name, q, w.Code, text)
	case strings.Contains(text, inside):
		at := strings.Index(text, inside)
		f.Errorf("%s, %s: %d says …%s…", name, q, w.Code, text[max(0, at-100):min(len(text), at+100)])
	case q.needs && !o.partial && w.Code != http.StatusServiceUnavailable:
		f.Errorf("%s, %s: %d %.300s", name, q, w.Code, text)
	}
	if w.Code != http.StatusServiceUnavailable {
		return
	}
	expect.That(f, w.Header().Get("Retry-After") != "", "%s, %s: no Retry-After", name, q)
	expect.That(f, w.Header().Get("Content-Type") != api.ProblemType || strings.HasPrefix(said(f, q, w), "The cluster does not answer. "),
		"%s, %s: title of %s", name, q, text)
	says := said(f, q, w)
	for _, part := range []string{"The cluster does not answer", q.says, "ry again"} {
		expect.That(f, strings.Contains(says, part),
			"%s, %s: does not say %q: %.400s", name, q, part, strings.Join(strings.Fields(says), " "))
	}
}

func TestNoOutageOfTheClusterIsAnInternalError(t *testing.T) {
	all := outages()
	if testing.Short() {
		all = map[string]outage{"mongos gone": all["mongos gone"]}
	}
	for name, o := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			webtest.OnBreakableCluster(t, simcluster.Options{Projects: 4, Documents: 60, Still: true}, func(f *webtest.BreakableServer) {
				for i, late := range []bool{false, true} {
					p := f.Plan("anna", webtest.SplitAt(i+1))
					done := runThatCanBeUndone(f)
					questions := questionsTo(f, p, done)
					o.begin(f)
					if late {
						time.Sleep(time.Minute) // the poll has noticed
					}
					answers := make([]*httptest.ResponseRecorder, len(questions))
					var wg sync.WaitGroup
					for i, q := range questions {
						who := fmt.Sprintf("asker-%d", i)
						if strings.HasSuffix(q.path, "/run") {
							who = "anna" // the plan is hers
						}
						wg.Go(func() { answers[i] = askOne(f, who, q) })
					}
					wg.Wait()
					for i, q := range questions {
						checkOutageAnswer(f, o, fmt.Sprintf("late %v", late), q, answers[i])
					}
					o.end(f)
					time.Sleep(time.Minute)
				}
			})
		})
	}
}

// runThatCanBeUndone is a run that can be undone.
func runThatCanBeUndone(f *webtest.BreakableServer) string {
	f.Helper()
	zone := fmt.Sprintf("z%d", time.Now().Unix())
	p := f.Plan("anna", `{"kind":"zone-add-shard","args":{"shard":"shard-rs-3","zone":"`+zone+`"},"reason":"a test"}`)
	confirm := ""
	if p.Confirm != nil {
		confirm = *p.Confirm
	}
	w := f.Post("anna", "/api/v1/plans/"+p.ID+"/run", fmt.Sprintf(`{"hash":%q,"confirm":%q}`, p.Hash, confirm))
	var r api.Run
	f.Must(json.Unmarshal(w.Body.Bytes(), &r))
	got := f.Ended(r.ID)
	must.That(f, got.State == "succeeded", "%+v", got)
	return r.ID
}

// said are the words of an answer: the main part of a page, or title and sentence of a problem.
func said(f *webtest.BreakableServer, q question, w *httptest.ResponseRecorder) string {
	f.Helper()
	if q.page {
		return webtest.ParseHTML(f.T, w.Body.String()).Find("main").Text()
	}
	var p api.Problem
	err := json.Unmarshal(w.Body.Bytes(), &p)
	must.That(f, err == nil && w.Header().Get("Content-Type") == api.ProblemType && p.Status == w.Code, "%s: %v %s", q, err, w.Body)
	return p.Title + ". " + p.Detail
}
