package survey_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/madeup"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/simulated"
	"shardboard/internal/heat/survey"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
)

// A tenant with an id of any type is counted, with all its rows: their ids may be of several types, and more than a
// batch.
func TestTenantsWithIDsOfOtherTypesAreCounted(t *testing.T) {
	prof := must.Get(profile.Parse("shop.yaml", []byte(`name: shop
tenants: {collection: tenants, name: name}
documents: {collection: orders, tenant: tenant, called: {one: Order, many: Orders}}
collections:
  - {name: lines, tenant: tenant, document: order, shardKey: {order: hashed}}
`)))
	uuid := bson.Binary{Subtype: 4, Data: []byte{15: 7}}
	mixed := func(of string) []any {
		return []any{len(of), of, madeup.Row("a", of), bson.Binary{Data: []byte(of)}, bson.NewObjectID(), bson.DateTime(len(of))}
	}
	const many = 2300 // more than two batches
	shop := madeup.Schema{DB: "shop", Keys: map[string]bson.D{"orders": madeup.Row("tenant", 1), "lines": madeup.Row("order", "hashed")},
		Rows: func(insert func(string, bson.D)) {
			for name, tenant := range map[string]any{"text": "t-1", "number": 5, "id": uuid} {
				insert("tenants", madeup.Row("_id", tenant, "name", name))
				for i, id := range mixed(name) {
					insert("orders", madeup.Row("_id", id, "tenant", tenant))
					if name == "number" {
						insert("lines", madeup.Row("tenant", tenant, "order", id, "at", i))
					}
				}
			}
			insert("tenants", madeup.Row("_id", "large", "name", "large"))
			for i := range many {
				insert("orders", madeup.Row("_id", fmt.Sprintf("o-%05d", i), "tenant", "large"))
			}
			insert("orders", madeup.Row("_id", true, "tenant", "large"))
			insert("orders", madeup.Row("_id", 99, "tenant", "large"))
		}}
	simulated.Run(t, simcluster.Options{Empty: true, Still: true}, func(t *testing.T, c *simulated.Cluster) {
		shop.Fill(func(db string, cmd bson.D) { must.Get(c.Command(t.Context(), db, cmd)) })
		table := must.Get(c.Watcher.Load(t.Context()))
		keeper := placement.NewKeeper(c.Client, c.Watcher, prof, slog.New(slog.DiscardHandler))
		keeper.Poll(t.Context(), prof.Match(table))
		r := &fixture{Cluster: c}
		r.engine = survey.New(c.Client, c.Watcher, keeper, prof, survey.Options{})
		r.end = simulated.Start(t, r.engine.Run)
		defer func() { r.end() }()
		for name, want := range map[string]int64{"text": 6, "number": 6, "id": 6, "large": many + 2} {
			p := keeper.Directory().Exactly(name)[0]
			s, result := r.runSurvey(t, survey.Request{Kind: survey.Project, Project: p.ID})
			must.That(t, s.State == survey.Done && len(result.Collections) != 0, "%s: %+v %+v", name, s, result)
			for _, one := range result.Collections {
				want := want
				if one.NS == "shop.lines" && name != "number" {
					want = 0
				}
				if got := one.Projects[0]; got.Rows.Value != want || !one.Complete {
					t.Errorf("%s: %d rows of %s, want %d: %+v", name, got.Rows.Value, one.NS, want, one)
				}
			}
			if len(result.Collections) != map[bool]int{true: 1, false: 2}[name == "large"] {
				t.Errorf("%s: %+v", name, result.Collections)
			}
		}
		s, result := r.runSurvey(t, survey.Request{Kind: survey.Projects})
		if s.State != survey.Done || len(result.Collections[0].Projects) != 4 {
			t.Errorf("all tenants: %+v %+v", s, result.Collections)
		}
		time.Sleep(time.Minute)
	})
}

func TestPositionsAreKept(t *testing.T) {
	id := placement.ObjectIDValue(bson.ObjectID{1, 11: 7})
	text := bson.RawValue{Type: bson.TypeString, Value: []byte("\x02\x00\x00\x00a\x00")}
	for _, tc := range []struct {
		p    survey.Position
		text string
	}{
		{survey.Position{}, "000000000000000000000000"},
		{survey.Position{ID: id}, "010000000000000000000007"}, // as earlier releases stored it
		{survey.Position{ID: id, NextTypes: true}, ">BwEAAAAAAAAAAAAABw"},
		{survey.Position{ID: text}, "=AgIAAABhAA"},
	} {
		got := string(must.Get(tc.p.MarshalText()))
		var back survey.Position
		must.Do(t, back.UnmarshalText([]byte(tc.text)))
		if got != tc.text || !back.ID.Equal(tc.p.ID) || back.NextTypes != tc.p.NextTypes {
			t.Errorf("%+v: %q, read back as %+v", tc.p, got, back)
		}
	}
}

// One document is counted by an id of any type, in shard keys that are inside of other fields too, on the shards where
// the servers look for its rows. A text that several ids can be is each of them that has rows.
func TestDocumentWithAnIDOfAnyTypeIsCounted(t *testing.T) {
	prof := must.Get(profile.Parse("shop.yaml", []byte(`name: shop
tenants: {collection: tenants, name: name}
documents: {collection: orders, tenant: of.tenant}
collections:
  - {name: lines, tenant: of.tenant, document: of.order, shardKey: {of.order: hashed}}
  - {name: parts, tenant: of.tenant, document: of.order, shardKey: {of.order: 1, of.tenant: 1}}
`)))
	oid, uuid := bson.ObjectID{0x65, 11: 9}, bson.Binary{Subtype: 4, Data: []byte{15: 7}}
	ids := []any{"o-1", int32(7), "7", 2.5, uuid, oid, oid.Hex(), bson.DateTime(86_400_000), "7 & <b>"}
	shop := madeup.Schema{DB: "shop", Keys: map[string]bson.D{"orders": madeup.Row("of.tenant", 1),
		"lines": madeup.Row("of.order", "hashed"), "parts": madeup.Row("of.order", 1, "of.tenant", 1)},
		Rows: func(insert func(string, bson.D)) {
			insert("tenants", madeup.Row("_id", "t-1", "name", "one"))
			for i, id := range ids {
				insert("orders", madeup.Row("_id", id, "of", madeup.Row("tenant", "t-1")))
				for range i + 1 {
					insert("lines", madeup.Row("of", madeup.Row("tenant", "t-1", "order", id)))
					insert("parts", madeup.Row("of", madeup.Row("tenant", "t-1", "order", id)))
				}
			}
		}}
	simulated.Run(t, simcluster.Options{Empty: true, Still: true}, func(t *testing.T, c *simulated.Cluster) {
		shop.Fill(func(db string, cmd bson.D) { must.Get(c.Command(t.Context(), db, cmd)) })
		table := must.Get(c.Watcher.Load(t.Context()))
		keeper := placement.NewKeeper(c.Client, c.Watcher, prof, slog.New(slog.DiscardHandler))
		keeper.Poll(t.Context(), prof.Match(table))
		r := &fixture{Cluster: c}
		r.engine = survey.New(c.Client, c.Watcher, keeper, prof, survey.Options{})
		r.end = simulated.Start(t, r.engine.Run)
		defer func() { r.end() }()
		tenant := keeper.Directory().Exactly("one")[0].ID
		for text, want := range map[string][]int{ // positions in ids
			"o-1": {0}, "7": {1, 2}, "2.5": {3}, "00000000-0000-0000-0000-000000000007": {4}, oid.Hex(): {5, 6}, "1970-01-02": {7},
			"7 & <b>": {8}, "none": nil, "NumberLong(7)": {1}, `ObjectId("` + oid.Hex() + `")`: {5, 6},
		} {
			for _, project := range []bson.ObjectID{{}, tenant} {
				request := survey.Request{Kind: survey.Document, Project: project, Text: text}
				if id, err := bson.ObjectIDFromHex(text); err == nil {
					request.Text, request.Document = "", id
				}
				s, result := r.runSurvey(t, request)
				must.That(t, s.State == survey.Done && len(result.Collections) == 2, "%s: %+v %+v", text, s, result)
				for _, one := range result.Collections {
					if len(one.Documents) != max(len(want), 1) || len(one.Projects) > 0 || !one.Complete {
						t.Fatalf("%s: %+v", text, one)
					}
					for k, l := range one.Documents {
						if len(want) == 0 {
							expect.Equal(t, l.Rows.Value, 0, "%s: %+v, want no row", text, l)
							continue
						}
						filter := madeup.Row("of.order", ids[want[k]], "of.tenant", "t-1")
						on := must.Get(c.Client.TargetShards(t.Context(), one.NS, filter))
						if project.IsZero() && one.NS == "shop.parts" {
							on = []string{""} // the tenant decides too
						}
						if l.Rows.Value != int64(want[k]+1) || len(l.Shards) != 1 || l.Shards[0].Shard != on[0] {
							t.Errorf("%s: %+v in %s, want %d rows on %v", text, l, one.NS, want[k]+1, on)
						}
					}
				}
			}
		}
		for _, bad := range []survey.Request{{Kind: survey.Document, Document: bson.ObjectID{0xff, 0xff, 11: 1}},
			{Kind: survey.Document, Text: strings.Repeat("x", 1025)}, {Kind: survey.Projects, Text: "o-1"}} {
			expect.That(t, must.Err(r.engine.Start(t.Context(), bad, entryByAnna())) != nil, "%+v is accepted", bad)
		}
	})
}
