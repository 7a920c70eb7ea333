package placement

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// keyWorld has a collection with a dotted key, a tracked one that is not sharded, and two time series.
func keyWorld() *topology.Table {
	dotted := routing.Pattern("a.b", "n")
	at := func(hour int) bson.DateTime {
		return bson.NewDateTimeFromTime(time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC))
	}
	byMeta, byTime := routing.Pattern("meta.room"), routing.Pattern("meta", "control.min.time")
	list := []*topology.Collection{
		routing.Collection("app.dotted", dotted, []shardkey.Key{routing.Bound(dotted, "m", int64(5))}, "s1", "s2"),
		routing.Collection("app.tracked", routing.Pattern("_id"), nil, "s2"),
		routing.Collection("ts.system.buckets.rooms", byMeta, routing.Bounds(byMeta, "m"), "s1", "s2"),
		routing.Collection("ts.weather", byTime,
			[]shardkey.Key{routing.Bound(byTime, "x", at(6)), routing.Bound(byTime, "x", at(12))}, "s1", "s2", "s3"),
	}
	list[1].Unsplittable = true
	list[2].Series = topology.Series{TimeField: "time", MetaField: "sensor", Granularity: "seconds"}
	list[3].Series = topology.Series{TimeField: "time", MetaField: "sensor", MaxSpan: 3600}
	return &topology.Table{Collections: list, Loaded: true, Shards: []topology.Shard{{Name: "s1"}, {Name: "s2"}, {Name: "s3"}},
		Databases: []topology.Database{{Name: "app", Primary: "s1"}, {Name: "ts", Primary: "s1"}}}
}

func TestPastedKeysAreUnderstood(t *testing.T) {
	table := keyWorld()
	for _, tc := range []struct{ ns, key, shards, note string }{
		{"app.dotted", `{"a.b": "z", "n": 1}`, "s2", ""},
		{"app.dotted", `{a: {b: 'a'}, n: NumberLong("1")}`, "s1", ""},
		{"app.dotted", `{a: {b: "z", c: [1]}}`, "s2", ""},
		{"app.dotted", `{_id: ObjectId("65e0000000000000000000ff"), a: {b: "m"}, n: 7, tags: ["x"], at: ISODate("2026-01-01")}`, "s2",
			"ignored: _id, tags, at."},
		{"app.tracked", ``, "s2", ""},
		{"app.tracked", `{"anything": 1}`, "s2", ""},
		{"ts.rooms", `{"sensor": {"room": "z"}}`, "s2", "is in a bucket of ts.system.buckets.rooms: meta in the key is the field sensor"},
		{"ts.rooms", `{time: ISODate("2026-01-01T00:00:00Z"), sensor: {room: "a", floor: 3}, value: 21.5}`, "s1", "ignored: time, value."},
		{"ts.system.buckets.rooms", `{"meta.room": "z"}`, "s2", ""},
		{"ts.weather", `{sensor: "x", time: ISODate("2026-01-01T09:00:00Z")}`, "s2", "time series ts.weather"},
		{"ts.weather", `{sensor: "x", time: ISODate("2026-01-01T06:30:00Z")}`, "s1,s2", ""}, // its bucket began up to an hour before
		{"ts.weather", `{meta: "x", "control.min.time": ISODate("2026-01-01T06:30:00Z")}`, "s2", ""},
		{"ts.weather", `{sensor: "y"}`, "s3", ""},
	} {
		items, err := locateKey(table, Query{NS: topology.Namespace(tc.ns), Key: tc.key})
		if err != nil || len(items) != 1 || strings.Join(items[0].Places[0].Shards, ",") != tc.shards {
			t.Errorf("%s %s: %v %v, want %s", tc.ns, tc.key, items, err, tc.shards)
			continue
		}
		var notes []string
		for _, n := range items[0].Notes {
			notes = append(notes, n.String())
		}
		expect.Contains(t, strings.Join(notes, " "), tc.note, "%s %s: notes", tc.ns, tc.key)
	}
	for _, q := range []Query{{NS: "app.dotted", Key: `{n: 1}`}, {NS: "app.dotted", Key: `{a: 1}`}, {NS: "ts.weather", Key: `{sensor: "x", time: 5}`},
		{NS: "app.other", Key: `{sensor: "x"}`}, {NS: "app.dotted", Key: `{a: {b: db.x.drop()}}`}} {
		if items, err := locateKey(table, q); err == nil {
			t.Errorf("%s is placed at %v", q.Key, items)
		}
	}
}

func TestATimeSeriesIsFoundByItsOwnName(t *testing.T) {
	table := keyWorld()
	if c := table.Collection("ts.rooms"); c == nil || c.NS != "ts.system.buckets.rooms" || !table.CountsBuckets("ts.rooms") {
		t.Errorf("ts.rooms is %v", c)
	}
	table.Collections[2].Series = topology.Series{} // buckets of nothing
	if c := table.Collection("ts.rooms"); c != nil {
		t.Errorf("ts.rooms is %s", c.NS)
	}
	if !slices.IsSortedFunc(table.Collections, func(a, b *topology.Collection) int { return strings.Compare(string(a.NS), string(b.NS)) }) {
		t.Fatal("the table is not sorted")
	}
}
