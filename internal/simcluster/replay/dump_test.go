package replay

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fixture/must"
)

// dump reads all documents of a config collection in the order of the recordings.
func (p *player) dump(coll string) []bson.RawValue {
	p.t.Helper()
	sort := bson.D{{Key: "_id", Value: 1}}
	switch coll {
	case "chunks":
		sort = bson.D{{Key: "uuid", Value: 1}, {Key: "min", Value: 1}}
	case "changelog":
		sort = bson.D{{Key: "time", Value: 1}}
	}
	cur, err := p.client.Database("config").Collection(coll).Find(p.t.Context(), bson.D{}, options.Find().SetSort(sort))
	must.Do(p.t, err)
	var docs []bson.Raw
	must.Do(p.t, cur.All(p.t.Context(), &docs))
	rows := make([]bson.RawValue, len(docs))
	for i, d := range docs {
		rows[i] = bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: d}
	}
	return rows
}

// compareRows compares dumps. Changelog entries from before the scenario and of other
// databases are ignored.
func (p *player) compareRows(c *comparison, coll string, want, got []bson.RawValue) {
	switch coll {
	case "changelog":
		want, got = p.ofRecordedDatabases(want), p.ofRecordedDatabases(got)
	case "chunks", "tags":
		if len(p.sampled) > 0 {
			p.checkInvariants()
			want, got = p.withoutSampledChunks(want, got)
		}
		p.pairNewUUIDs(want, got)
		c.sortItems(p.rules.pairingKey([]string{coll, coll}), want, true)
		c.sortItems(p.rules.pairingKey([]string{coll, coll}), got, false)
	}
	c.compareItems([]string{coll}, want, got)
}

// withoutSampledChunks removes the chunks of collections with sampled split points.
func (p *player) withoutSampledChunks(want, got []bson.RawValue) (w, g []bson.RawValue) {
	theirs, ours := make(map[string]bool), make(map[string]bool)
	for _, u := range p.sampled {
		theirs[u], ours[p.pairs.ours[u]] = true, true
	}
	drop := func(rows []bson.RawValue, sampled map[string]bool) []bson.RawValue {
		return slices.DeleteFunc(rows, func(r bson.RawValue) bool { return sampled[typedBytes(r.Document().Lookup("uuid"))] })
	}
	return drop(want, theirs), drop(got, ours)
}

// pairNewUUIDs pairs uuids that have not occurred before by comparing the collections'
// chunks.
func (p *player) pairNewUUIDs(want, got []bson.RawValue) {
	looks := func(rows []bson.RawValue) map[string]bson.RawValue {
		uuids, text := make(map[string]bson.RawValue), make(map[string]string)
		for _, r := range rows {
			d := r.Document()
			if u, err := d.LookupErr("uuid"); err == nil {
				k := typedBytes(u)
				uuids[k] = u
				text[k] += typedBytes(d.Lookup("min")) + typedBytes(d.Lookup("lastmod")) + d.Lookup("shard").StringValue()
			}
		}
		out := make(map[string]bson.RawValue)
		for k, u := range uuids {
			out[text[k]] = u
		}
		return out
	}
	ours := looks(got)
	for text, u := range looks(want) {
		if g, ok := ours[text]; ok {
			p.pairs.pair(u, g)
		}
	}
}

// databases that the recordings log about.
var databases = []string{"yorkie-meta", "walk1", "walk2", "walk3", "walk4", "walk5", "jumbo", "faulty", "eight"}

// isOwn reports whether a database is one of this recording; the walks of 8.0 were made
// one after another on one cluster.
func (p *player) isOwn(db string) bool {
	n, walked := strings.CutPrefix(p.file, "8.0/walk-")
	return !walked || db == "walk"+n
}

func (p *player) ofRecordedDatabases(rows []bson.RawValue) []bson.RawValue {
	var out []bson.RawValue
	for _, r := range rows {
		ns, _ := r.Document().Lookup("ns").StringValueOK()
		db, _, _ := strings.Cut(ns, ".")
		switch what, _ := r.Document().Lookup("what").StringValueOK(); {
		case ns == "" && p.file[:min(4, len(p.file))] == "8.0/":
			// Others are about how the cluster was made; a test of its own compares them.
			if strings.HasPrefix(what, "removeShard") {
				out = append(out, r)
			}
		case ns == "" || slices.Contains(databases, db) && p.isOwn(db):
			out = append(out, r)
		}
	}
	return out
}
