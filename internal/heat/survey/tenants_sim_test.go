package survey_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

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
			if s.State != survey.Done || len(result.Collections) == 0 {
				t.Fatalf("%s: %+v %+v", name, s, result)
			}
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
