package locate_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// placeDrawn is one place of a thing, and what counting it gives.
type placeDrawn struct {
	shards []string
	exists string
	rows   topology.Figure
	proof  placement.Proof
}

// drawnProver answers for each place what was drawn.
type drawnProver map[topology.Namespace]placeDrawn

func (d drawnProver) Prove(_ context.Context, p placement.Place) placement.Proof {
	return d[p.NS].proof
}

func (d drawnProver) Count(_ context.Context, p placement.Place) topology.Figure { return d[p.NS].rows }

func (d drawnProver) Primaries(context.Context) map[string]string { return nil }

// The first sentence of an answer never says other than the counts below it: on
// the page, in the API, for one row or many, whatever was known before.
func TestHeadlineAgreesWithTheCountsBelow(t *testing.T) {
	whole := t
	v := webtest.NewStory().View()
	shards := []string{"shard-rs-1", "shard-rs-2", "shard-rs-3"}
	names := []topology.Namespace{"yorkie-meta.documents", "yorkie-meta.changes", "yorkie-meta.snapshots", "yorkie-meta.nowhere"}
	prover := drawnProver{}
	var items []placement.Item
	s := webtest.New(t, func(d *site.Deps) { d.Locate.Prover = prover })
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	s.Locator.Answer = func(placement.Query) ([]placement.Item, error) { return items, nil }
	rapid.Check(t, func(t *rapid.T) {
		clear(prover)
		it := placement.Item{
			Kind: rapid.SampledFrom([]string{"document", "project", "key"}).Draw(t, "kind"),
			ID:   "65e000000000000000000001",
			DB:   "yorkie-meta",
		}
		if rapid.Bool().Draw(t, "gone") {
			it.Notes = []message.Message{placement.RowGone("yorkie-meta.documents")}
		}
		for _, ns := range names[:rapid.IntRange(1, len(names)).Draw(t, "places")] {
			d := placeDrawn{exists: rapid.SampledFrom([]string{"yes", "would-be", "unknown", "absent"}).Draw(t, "exists")}
			if d.exists != "absent" {
				d.shards = rapid.SampledFrom([][]string{{}, shards[:1], shards[1:2], shards[:2], shards}).Draw(t, "shards")
			}
			switch n := rapid.IntRange(-4, 3).Draw(t, "rows"); {
			case n >= 0:
				d.rows = topology.Figure{Known: true, Value: int64(n) * 700, Exact: true, Method: "count", At: webtest.Epoch}
				if n == 1 {
					d.rows.Value = 1
				}
			default:
				d.rows.Reason = []string{"notTargeted", "tooSlow", "unreachable", "notPermitted"}[n+4]
			}
			if d.exists == "absent" {
				d.rows = topology.Figure{Reason: "notCountable"}
			}
			d.proof = placement.Proof{
				State: rapid.SampledFrom([]placement.ProofState{placement.ProofAgrees, placement.ProofDiffers,
					placement.ProofFailed}).Draw(t, "proof"),
				Ours:   d.shards,
				Theirs: shards[2:],
				Newer:  placement.SideTable,
			}
			prover[ns] = d
			it.Places = append(it.Places,
				placement.Place{NS: ns, Sharded: true, Shards: d.shards, Exact: len(d.shards) == 1, Exists: d.exists, Chunks: len(d.shards)})
		}
		items = []placement.Item{it}
		address := "locate?q=x&why=1&counts=1"
		if rapid.Bool().Draw(t, "prove") {
			address += "&prove=1"
		}
		told := webtest.Decode[api.LocateAnswer](whole, s.Do("GET", "/api/v1/"+address)).Items[0]
		agree(t, told)
		doc := s.Page(whole, "/"+address)
		doc.Find(".located .answer b.sh").Remove() // the shards' badges
		got := oneSpace(doc.Find(".located .answer"))
		must.That(t, got == oneSpace(told.Answer.String()), "the page says %q, the API %q", got, told.Answer.String())
		for i, p := range told.Places {
			cell := strings.TrimSpace(doc.Find(".located .places tbody tr").Eq(i).Find("td[data-label=Rows]").Text())
			if p.Rows != nil && p.Rows.Value != nil &&
				(*p.Rows.Value > 0) != (strings.HasSuffix(cell, "row") && cell != "no row" || strings.HasSuffix(cell, "rows")) {
				t.Fatalf("%d rows, the cell says %q", *p.Rows.Value, cell)
			}
		}
	})
}

func oneSpace(of any) string {
	text, ok := of.(string)
	if s, is := of.(*goquery.Selection); is {
		text, ok = s.Text(), true
	}
	if !ok {
		panic(of)
	}
	return strings.Join(strings.Fields(strings.NewReplacer("—", " ", ",", " ", " and ", " ", ".", "", ";", " ", "(", " (").Replace(text)), " ")
}

// agree holds a headline to the counts of the same answer.
func agree(t *rapid.T, it api.LocateItem) {
	var total int64
	counted, open := 0, 0
	var holders, belongs []string
	for _, p := range it.Places {
		if p.State == "absent" {
			continue
		}
		belongs = append(belongs, p.Shards...)
		switch {
		case p.Rows.Value == nil:
			open++
			must.That(t, p.Exists == nil || *p.Exists, "%s: not there, and nobody counted", p.NS)
			must.That(t, strings.Contains(p.Sentence, "not counted"), "the ticket hides that nothing was counted: %q", p.Sentence)
		default:
			counted++
			total += *p.Rows.Value
			if *p.Rows.Value > 0 {
				holders = append(holders, p.Shards...)
			}
			if p.Exists == nil || *p.Exists != (*p.Rows.Value > 0) || (p.State == "yes") != (*p.Rows.Value > 0) {
				t.Fatalf("%s: %d rows, exists %v, state %s", p.NS, *p.Rows.Value, p.Exists, p.State)
			}
			if strings.Contains(p.Sentence, "no row is stored there") != (*p.Rows.Value == 0) {
				t.Fatalf("%d rows, the ticket says %q", *p.Rows.Value, p.Sentence)
			}
		}
	}
	named := belongs
	if total > 0 {
		named = holders
	}
	for _, sh := range []string{"shard-rs-1", "shard-rs-2", "shard-rs-3"} {
		must.That(t, strings.Contains(it.Answer.String(), sh) == slices.Contains(named, sh), "%s: %q of %v", sh, it.Answer.String(), named)
	}
	says := func(part string) bool { return strings.Contains(it.Answer.String(), part) }
	switch {
	case total > 0:
		must.That(t, !strings.Contains(it.Answer.String(), "no row") && !says("elong") && !says("would be") && !says("No shard"),
			"%d rows were counted: %q", total, it.Answer.String())
	case counted > 0:
		must.That(t, !says("are on") && !says("is on") && (len(belongs) == 0 || says("no row")), "no row was counted: %q", it.Answer.String())
		must.That(t, open == 0 || len(belongs) == 0 || says("not counted"), "%d places were not counted: %q", open, it.Answer.String())
	case open > 0:
		must.That(t, says("not counted"), "nothing was counted: %q", it.Answer.String())
	}
	must.That(t, total == 0 || !says("All of it") || open == 0 && len(slices.Compact(slices.Sorted(slices.Values(holders)))) == 1,
		"all of it is more than is known: %q", it.Answer.String())
}

// The same with rows that are there, that are gone, and that were moved by
// somebody else in the moment before.
func TestLocateCountsWhatIsThereNow(t *testing.T) {
	webtest.OnBreakableCluster(t, simcluster.Options{Projects: 3, Documents: 40, Still: true}, func(f *webtest.BreakableServer) {
		ask := func(q string) api.LocateItem {
			got := webtest.Decode[api.LocateAnswer](f.T,
				f.Do("GET", "/api/v1/locate?"+q+"&why=1&prove=1&counts=1", webtest.As("anna", auth.Support)))
			must.That(f, len(got.Items) == 1, "%s: %+v", q, got)
			return got.Items[0]
		}
		key := func(id string) string {
			return "ns=yorkie-meta.changes&key=" + url.QueryEscape(fmt.Sprintf(`{"doc_id":{"$oid":%q}}`, id))
		}
		none := ask(key("65e1c0ffee0000000000abcd"))
		if said := none.Answer.String(); !strings.HasPrefix(said, "This key belongs on shard-rs-") ||
			!strings.HasSuffix(said, " — no row is stored there.") || *none.Places[0].Exists {
			f.Errorf("nothing is stored: %q", said)
		}
		ids, err := f.Client.IDs(f.Context(), "yorkie-meta.documents", nil, bson.RawValue{}, 5)
		f.Must(err)
		doc := ids[0].ID.Hex()
		there := ask(key(doc))
		n, said := *there.Places[0].Rows.Value, there.Answer.String()
		expect.That(f, n != 0 && strings.HasPrefix(said, "Rows with this key are on "+there.Places[0].Shard+" ("), "%d rows: %q", n, said)
		// Somebody moves its chunk; no poll has seen that yet.
		to := "shard-rs-1"
		if there.Places[0].Shard == to {
			to = "shard-rs-2"
		}
		f.Admin(bson.D{{Key: "moveChunk", Value: "yorkie-meta.changes"},
			{Key: "find", Value: bson.D{{Key: "doc_id", Value: ids[0].ID}}}, {Key: "to", Value: to}})
		moved := ask(key(doc))
		said = moved.Answer.String()
		expect.That(f, moved.Places[0].Shard == to && strings.Contains(said, to) && !strings.Contains(said, there.Places[0].Shard) &&
			strings.Contains(moved.Places[0].Sentence, "on "+to), "it was moved to %s: %q, %+v", to, said, moved.Places[0])
		time.Sleep(time.Minute)
	})
}
