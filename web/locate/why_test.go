package locate_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/locating"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// stubProver agrees with every place and counts 3 rows.
type stubProver struct {
	proof placement.Proof
	asked chan placement.Place
}

func (p *stubProver) Prove(_ context.Context, place placement.Place) placement.Proof {
	p.asked <- place
	out := p.proof
	out.Ours = place.Shards
	if out.State == placement.ProofAgrees {
		out.Theirs = place.Shards
	}
	return out
}

func (p *stubProver) Count(context.Context, placement.Place) topology.Figure {
	return topology.Figure{Known: true, Value: 3, Exact: true, Method: "count", At: webtest.Epoch}
}

func (p *stubProver) Primaries(context.Context) map[string]string {
	return map[string]string{"shard-rs-1": "shard-rs-1-0.mongo:27018"}
}

// asking is a site that finds one document and can prove it.
func asking(t *testing.T, v answer.View, proof placement.Proof, places int) (*webtest.Server, *stubProver) {
	t.Helper()
	prover := &stubProver{proof: proof, asked: make(chan placement.Place, 1000)}
	s := webtest.New(t, func(d *site.Deps) { d.Locate.Prover = prover })
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	items := webtest.FoundDocument(v)
	for len(items[0].Places) < places {
		items[0].Places = append(items[0].Places, items[0].Places[0])
	}
	s.Locator.Answer = func(placement.Query) ([]placement.Item, error) { return items, nil }
	return s, prover
}

func TestLocateSaysWhyProvesAndCountsOnlyWhenAsked(t *testing.T) {
	s, prover := asking(t, webtest.NewStory().View(), placement.Proof{State: placement.ProofAgrees, At: webtest.Epoch}, 0)
	for _, p := range webtest.Decode[api.LocateAnswer](t, s.Do("GET", "/api/v1/locate?q=wiki/handbook")).Items[0].Places {
		expect.That(t, p.Why == nil && p.Proof == nil && p.Rows == nil && p.Sentence == "", "unasked: %+v", p)
	}
	must.That(t, len(prover.asked) == 0, "asked the cluster unasked")
	got := webtest.Decode[api.LocateAnswer](t, s.Do("GET", "/api/v1/locate?q=wiki/handbook&why=1&prove=1&counts=true")).Items[0].Places
	for _, p := range got {
		if p.Why == nil || len(p.Why.Steps) < 2 || p.Proof == nil || p.Proof.State != "agrees" || p.Rows == nil || *p.Rows.Value != 3 {
			t.Fatalf("%+v", p)
		}
		if !strings.HasPrefix(p.Sentence, p.NS+": ") || !strings.HasSuffix(p.Sentence, ".") || strings.ContainsAny(p.Sentence, "\n[]") {
			t.Errorf("sentence %q", p.Sentence)
		}
		for _, sh := range p.Why.Shards {
			expect.Equal(t, (sh.Primary != nil), (sh.Shard == "shard-rs-1"),
				"whether %s is the primary: %v", sh.Shard, sh.Primary)
		}
	}
	again := webtest.Decode[api.LocateAnswer](t, s.Do("GET", "/api/v1/locate?q=wiki/handbook&why=1&prove=1")).Items[0].Places
	if got[0].Sentence != strings.TrimSuffix(again[0].Sentence, ".")+", 3 rows counted there." {
		t.Errorf("%q, then %q", got[0].Sentence, again[0].Sentence)
	}
	expect.Equal(t, s.Do("GET", "/api/v1/locate?q=x&prove=maybe").Code, http.StatusBadRequest, "prove=maybe")
}

func TestOneAnswerProvesABoundedNumberOfPlaces(t *testing.T) {
	s, prover := asking(t, webtest.NewStory().View(), placement.Proof{State: placement.ProofAgrees}, 60)
	places := webtest.Decode[api.LocateAnswer](t, s.Do("GET", "/api/v1/locate?q=x&prove=1")).Items[0].Places
	expect.Equal(t, len(prover.asked), locating.MaxAsked, "explains")
	last := places[len(places)-1].Proof
	expect.That(t, last != nil && last.State == "skipped" && strings.Contains(last.Text, "24"), "%+v", last)
}

func TestProofThatDiffersNamesTheNewerSide(t *testing.T) {
	for want, proof := range map[string]placement.Proof{
		"the mongos routes to":   {State: placement.ProofDiffers, Newer: placement.SideTable, Theirs: []string{"shard-rs-9"}},
		"the mongos was newer":   {State: placement.ProofCaughtUp, Newer: placement.SideRouter},
		"the table was newer":    {State: placement.ProofCaughtUp, Newer: placement.SideTable},
		"Which is newer is not":  {State: placement.ProofDiffers},
		"Proven: the mongos":     {State: placement.ProofAgrees},
		"no query can be sent":   {State: placement.ProofSkipped},
		"Not proven: Unexpected": {State: placement.ProofFailed, Err: context.DeadlineExceeded},
	} {
		s, _ := asking(t, webtest.NewStory().View(), proof, 0)
		doc := s.Page(t, "/locate?q=wiki/handbook&prove=1")
		text := doc.Find(".why .proof").First().Text()
		if want == "Not proven: Unexpected" {
			want = "Not proven: "
		}
		expect.That(t, strings.Contains(text, want) && !strings.Contains(text, "["), "%+v: %q", proof, text)
	}
}

func TestThePageOffersTheProofAndDoesNotAskByItself(t *testing.T) {
	s, prover := asking(t, webtest.NewStory().View(), placement.Proof{State: placement.ProofAgrees}, 0)
	doc := s.Page(t, "/locate?q=wiki%2Fhandbook")
	expect.Equal(t, len(prover.asked), 0, "questions to the cluster")
	href, _ := doc.Find(".why .bits a").First().Attr("href")
	expect.Equal(t, href, "/locate?prove=1&q=wiki%2Fhandbook", "the link")
	n := doc.Find(".why details .chain dt").Length()
	expect.That(t, n >= 20, "%d links of chains", n)
}

func TestChunkListsEveryRuleAndProjectTheDecision(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.New(t)
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	c := v.Table.Collection("yorkie-meta.changes")
	ref := answer.ChunkRef(c, c.Chunks.At(1).Min)
	got := webtest.Decode[api.ChunkWhy](t, s.Do("GET", "/api/v1/collections/yorkie-meta.changes/chunks/"+ref+"/why"))
	expect.That(t, got.Chunk.Number == 2 && got.Chunk.Ref == ref && len(got.Balance.Rules) >= 9 && got.Balance.Release == "5.0.7" &&
		got.Balance.Decision != "" && got.Sentence != "", "%+v", got)
	for _, r := range got.Balance.Rules {
		expect.That(t, r.Text.String() != "" && !strings.Contains(r.Text.String(), "{") && !strings.Contains(r.Text.String(), "["),
			"%s: %q", r.Code, r.Text.String())
	}
	_, bound, _ := strings.Cut(ref, ".")
	doc := s.Page(t, "/collections/yorkie-meta.changes/chunks/"+bound)
	expect.Equal(t, doc.Find(".rules tbody tr").Length(), len(got.Balance.Rules), "rules on the page")
	list := s.Page(t, "/collections/yorkie-meta.changes")
	href, _ := list.Find(".chunks tbody a").Eq(2).Attr("href")
	expect.That(t, strings.HasPrefix(href, "yorkie-meta.changes/chunks/") || strings.HasPrefix(href, "/shards"), "href %q", href)
	id := v.Dir.All()[3].ID.Hex()
	project := webtest.Decode[api.ProjectWhy](t, s.Do("GET", "/api/v1/projects/"+id+"/why"))
	i := slices.IndexFunc(project.Collections, func(c api.CollectionWhy) bool { return c.NS == "yorkie-meta.documents" })
	must.That(t, i >= 0 && len(project.Collections[i].Chunks) != 0 && project.Collections[i].Chunks[0].Balance.Text.String() != "",
		"%+v", project)
	page := s.Do("GET", "/projects/"+id).Body.String()
	expect.That(t, strings.Contains(webtest.ParseHTML(t, page).Find(".whyproject").Text(),
		strings.TrimSpace(project.Collections[i].Chunks[0].Balance.Text.String())), "the project's page does not say it")
}

func TestAChunkThatIsNoMoreIsNotAnotherOne(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.New(t)
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	c := v.Table.Collection("yorkie-meta.changes")
	doc := must.Get(bson.Marshal(bson.D{{Key: "doc_id", Value: int64(12345)}}))
	gone := webtest.Must(c.Key.Bound(doc))
	exact, others := webtest.Must(c.ExactRef(gone)), *c
	others.Incarnation.UUID[0]++
	for ref, want := range map[string]int{
		exact:                            http.StatusNotFound,
		c.Ref(gone):                      http.StatusNotFound,
		others.Ref(gone):                 http.StatusConflict,
		"nonsense":                       http.StatusBadRequest,
		"%00":                            http.StatusBadRequest,
		strings.Repeat("A", 5000):        http.StatusBadRequest,
		"a.b.c":                          http.StatusBadRequest,
		"%3Cscript%3Ealert(1)%3C/script": http.StatusNotFound, // a slash: no such route
	} {
		for _, path := range []string{"/api/v1/collections/yorkie-meta.changes/chunks/" + ref + "/why",
			"/collections/yorkie-meta.changes/chunks/" + ref} {
			expect.Equal(t, s.Do("GET", path).Code, want, "%.90s", path)
		}
	}
}

func TestHostileNamesStayOneLineInASentence(t *testing.T) {
	v := webtest.NewStory().With(func(t *topology.Table) {
		for i := range t.Shards {
			t.Shards[i].Hosts = []string{"a\nb\u202ec\u2028d\x1b[31m"}
		}
	}).View()
	s, _ := asking(t, v, placement.Proof{}, 0)
	for _, p := range webtest.Decode[api.LocateAnswer](t, s.Do("GET", "/api/v1/locate?q=x&why=1")).Items[0].Places {
		expect.That(t, !strings.ContainsAny(p.Sentence, "\n\u202e\u2028\x1b"), "%q", p.Sentence)
	}
}
